"""No text that users read holds a phrase that a plainer one has replaced: help, pages, errors, README, docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]

#: The phrase as a regular expression, in which a blank stands for any white space, and what to say instead.
INSTEAD: Final = {
    r"\bit asks \((?:claim|ResourceClaim)": "it requests (claim …)",
    r"\bwhat hangs\b": "pending pods, grouped by reason",
    r"\bwould fit if you\b": "any one of these would make it fit",
    r"\bthen runs on\b": "runs on",
    r"\bwas out before devices were tried\b": "ruled out earlier: NODE (…)",
    r"\bpass(?:es)? the selectors?\b": "match the selector",
    r"\bpods left on\b": "node-1 has no pod slots left",
    r"\binstead of saying yes or no\b": "raises an error on a device",
    r"\bmeets an incomplete pool\b": "sees an incomplete pool",
    r"\baborts every attempt\b": "scheduling fails on every node until …",
    r"\bone-sided\b": "this answer is incomplete: X could not be read",
    r"\bsomething that decides\b": "data needed for a verdict could not be read",
    r"\bagrees with the above\b": "matches this diagnosis",
    r"\bolder than the state shown\b": "outdated: the cluster has changed since",
    r"\bneeds? a look\b": "need attention",
    r"\bcan(?:'|no)t be had\b": "is not available",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bheed(?:s|ed|ing)?\b": "respected",
    r"\bwhom (?:it|this|that|they|a taint) hits?\b": "affected pods",
    r"\bwhich pods that hits\b|\bpods that they hit\b": "affected pods",
    r"(?<!there\s)\bis no (?!(?:longer|more|less|faster|slower|matter)\b)[a-z]+": "is not a (valid) …",
    r"\bexcludes? each other\b": "cannot be combined",
    r"\blogin helpers?\b": "the credential plugin",
    r"\bends? with [0-9]\b": "exit with N",
    r"\bfinding is bad\b": "a problem was found",
    r"\bpartial evidence\b": "incomplete data",
    r"\bany generation of the API\b|\bas objects of another\b|\blosses named\b": (
        "convert DRA manifests between API versions and report what is lost"
    ),
    r"\blook around\b": "browse devices, claims and pending pods",
    r"\bor end it\b": "add or remove device taints",
    r"\bwho is hit is shown\b": "shows the affected pods before anything is written",
    r"\bevery part of it\b": "show what each sub-expression evaluates to on one device",
    r"\bhave a driver publish\b": "publish one more device that matches class …",
    r"\bthat the selectors admit\b": "that matches class …",
    r"\bfor capacity or counters\b": "frees 30Gi of gpu-0",
    r"\bsomebody\b": "the precise noun",
    r"\ball that\b": "the precise noun",
    r"\bwhat is known of\b": "the precise noun",
    r"\b(?:all of|of|than|from|to|as|are) those that\b": "the precise noun",
    # The scheduler's own message of DRA-320 asks for all devices.
    r"\basks for(?! all devices, but)\b": "requests",
    r"\bwhat the (?:other )?commands read\b": "the objects that the commands read",
    r"(?:^|[.:] )Of the scheduler's\b": "begin with the subject of the sentence",
}
#: Each as it is looked for in one text, and in many that are joined by line breaks.
PATTERNS: Final = [
    (re.compile(text, re.IGNORECASE), instead, re.compile(text, re.IGNORECASE | re.MULTILINE))
    for text, instead in ((phrase.replace(" ", r"\s+"), instead) for phrase, instead in INSTEAD.items())
]

DOCUMENTS: Final = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))]
MODULES: Final = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("kubectl_dra/**/*.py"))


def findings(texts: Iterable[tuple[int, str]]) -> list[str]:
    """``line: phrase: instead`` for every replaced phrase in texts, which come with the number of their first line."""
    texts = list(texts)
    # All at once first, each after what no phrase goes across: hardly any phrase occurs.
    together = "\0\n".join(text for _, text in texts)
    occurring = [(pattern, instead) for pattern, instead, anywhere in PATTERNS if anywhere.search(together)]
    return [
        f"{first + text.count(chr(10), 0, match.start())}: {' '.join(match[0].split())!r}: say {instead!r}"
        for first, text in texts
        for pattern, instead in occurring
        for match in pattern.finditer(text)
    ]


def literals(source: str) -> Iterator[tuple[int, str]]:
    """The literals of a module that can reach a user; ``{}`` stands for the values of an f-string.

    Docstrings count where click prints them: on functions with a decorator ``….command`` or ``….group``.
    """
    tree = ast.parse(source)
    unseen: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            unseen.update(id(part) for part in node.values)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and not _printed(node):
                unseen.add(id(first.value))
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_part(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _part(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"


def _printed(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    return any(re.search(r"\b(?:command|group)\b", ast.unparse(one)) for one in node.decorator_list)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_use_plain_phrases(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert [f"{name}:{one}" for one in findings(iter([(1, text)]))] == []


def test_texts_of_the_program_use_plain_phrases() -> None:
    found = []
    for name in MODULES:
        source = (ROOT / name).read_text(encoding="utf-8")
        found += [f"{name}:{one}" for one in findings(literals(source))]
    assert found == []


def test_replaced_phrases_are_found_where_users_read_them() -> None:
    source = '''"""Somebody: a module."""

@click.command("x")
def command() -> None:
    """Look
    around in the terminal."""
    fail(f'"{text}" is no duration')


def other() -> None:
    """Nobody mends it."""
    fmt("--from and {} "
        "exclude each other", "mend it")
'''
    assert [one.partition(": say ")[0] for one in sorted(findings(literals(source)))] == [
        "12: 'exclude each other'",
        "13: 'mend'",
        "5: 'Look around'",
        "7: 'is no duration'",
    ]
    assert findings(iter([(1, "a\nb The login\nhelper")])) == ["2: 'login helper': say 'the credential plugin'"]


# --- recorded pages ---------------------------------------------------------------------------------------------------

_NOUNS: Final = (
    "nodes|devices|pods|claims|copies|replicas|taints|classes|slices|requests|selectors|rules|groups|pools|namespaces|"
    "files|objects|errors|findings|changes|pairs|CPUs|counters|templates|workloads|ways|alternatives|domains|attributes|"
    "drivers|volumes|restarts|minutes|hours|days|seconds|events|messages|shares|times|shapes|fields|reasons|causes|kinds|"
    "lists|partitions|sets|queues|gangs|members|clusters|users|consumers|results|expressions|documents|others"
)
#: Slips of the hand in sentences that are put together from parts, each with what it is.
SLIPS: Final = {
    # Names of objects may stand first, and commands, and the scheduler's own words have a tail of this form.
    "begins with a small letter": re.compile(r"(?<!\.)(?<!\be\.g)(?<!\bi\.e)\. (?!kubectl |consider using )[a-z]+[ ,]"),
    # ``1 of 1 slices`` is a share of a whole.
    "is one": re.compile(rf"(?<![\d.,/+-])(?<!of )\b1 (?:more |other |free |new )?(?:{_NOUNS})\b"),
    "are several": re.compile(rf"\b(?:[2-9]|\d+\d) (?:more |other |free |new )?(?:{_NOUNS.replace('s|', '|')})[.,;:)]"),
    "stands twice": re.compile(r"(?<![\w/.-])([a-z]{2,}) \1(?![\w/.-])"),
    "has two blanks": re.compile(r"[a-z)][.,;] {2}[A-Za-z]"),
    "is not filled": re.compile(
        r"(?<![\w$\"'])\{(?:\d|[a-z_]*)\}|\bobject at 0x|\bNone\b(?= (?!of\b)[a-z])"  # what is to be put in
        r"|(?<![\w\"'])\(\)|\( | \)|,,| [,;](?= )"  # what was put in is empty
    ),
}
_PAGES: Final = sorted(ROOT.glob("tests/golden/**/*.txt"))
_EXAMPLE: Final = re.compile(r"<!-- example: [^\n]+ -->\n+```\n(.*?)\n```", re.DOTALL)
_FENCED: Final = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)


def slips(page: str) -> list[str]:
    """What is wrong with the sentences of a page, whose lines are wrapped at one indent."""
    return [
        f"{what}: …{sentence[max(match.start() - 30, 0) : match.end() + 30]}…"
        for sentence in _unwrapped(page)
        for what, rule in SLIPS.items()
        for match in rule.finditer(sentence)
    ]


def _unwrapped(page: str) -> Iterator[str]:
    """Paragraphs; lines of tables have no neighbours, which have blanks between their cells."""
    held, indent = "", -1
    for line in page.splitlines():
        text = line.strip()
        deep = len(line) - len(line.lstrip())
        if held and text and deep == indent and "   " not in text + held:
            held += f" {text}"
            continue
        if held:
            yield held
        held, indent = text, deep
    if held:
        yield held


@pytest.mark.parametrize("path", _PAGES, ids=lambda path: path.relative_to(ROOT / "tests" / "golden").as_posix())
def test_recorded_pages_have_no_slips(path: Path) -> None:
    assert slips(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_and_their_examples_have_no_slips(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    prose = re.sub(r"`[^`\n]*`|<!--.*?-->", "X", _FENCED.sub("", text), flags=re.DOTALL)
    rows = (line for line in prose.splitlines() if not line.startswith("|"))
    assert [one for example in _EXAMPLE.findall(text) for one in slips(example)] + slips("\n".join(rows)) == []


@pytest.mark.parametrize(
    ("page", "what"),
    [
        ("It waits. then it runs.", "begins with a small letter"),
        ("It fits on\nnode-1. this is\nall.", "begins with a small letter"),
        ("There are 1 nodes left.", "is one"),
        ("It frees 1 more devices", "is one"),
        ("It frees 3 device.", "are several"),
        ("Where the\nthe pod may run.", "stands twice"),
        ("It waits,  as it must.", "has two blanks"),
        ("Pod {} is pending.", "is not filled"),
        ("Pod None is pending.", "is not filled"),
        ("It requests (), of class a", "is not filled"),
    ],
)
def test_a_slip_is_found(page: str, what: str) -> None:
    assert [one.partition(":")[0] for one in slips(page)] == [what]


def test_names_commands_and_tables_are_no_slips() -> None:
    page = """It may run there. gpu-1 is free. kubectl get nodes shows it. None of 12 fits; 1 of 1 slices, 21 nodes.
  on node-1 4
NAME  NODES   TAINTS
a     1       x    x
"""
    assert slips(page) == []
