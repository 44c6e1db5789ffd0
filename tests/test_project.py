"""The project's own promises: examples are real output, files are where the docs say, layers hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_dra.commands.app import COMMANDS

ROOT = Path(__file__).parents[1]
#: Lines; a module that needs more has two subjects, a function two steps.
LONGEST_MODULE, LONGEST_FUNCTION = 400, 50
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md"))
)


def test_examples_in_the_docs_are_real_output() -> None:
    command = [sys.executable, "tools/doc_examples.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"stale: {done.stdout}refresh them with `make docs`"


@pytest.mark.parametrize("tool", ["figures", "dependencies", "command_reference"])
def test_counted_pages_are_fresh(tool: str) -> None:
    command = [sys.executable, f"tools/{tool}.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"stale: {done.stdout}{done.stderr}refresh them with `make docs`"


def test_the_index_of_judged_answers_names_each_round_in_order() -> None:
    folder = ROOT / "docs/development/judged"
    named = re.findall(r"^- \[.+\]\((\S+)\)", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert named == sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")


def test_the_readme_has_an_example() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "$ kubectl dra why-pending trainer-0 -n ml\nPod ml/trainer-0 is pending" in readme


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"tui"}))
def test_the_guide_shows_every_command(name: str) -> None:
    """The TUI is shown in pictures."""
    assert f"\n$ kubectl dra {name}" in (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")


def test_the_readme_explains_the_words_and_what_to_write_instead() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    words = ("ResourceSlice", "pool", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "selector", "taint")
    assert all(f"\n| {word} | " in text for word in words)
    assert "| you used to write | now write |" in text
    assert len(re.findall(r"!\[", text)) == 1


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_in_the_docs_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    folder = (ROOT / name).parent
    links = [str(folder / link) for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)]
    named = re.findall(r"`([a-z_./]+/[a-z_./-]*)`", text) if "/" not in name else []
    paths = [path for path in named if not path.startswith(("dist", "."))]
    missing = [
        path for path in (*links, *paths) if not ((ROOT / path).exists() or (ROOT / "kubectl_dra" / path).exists())
    ]
    assert missing == []


def test_every_target_of_the_makefile_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    explained = set(re.findall(r"^([a-z0-9-]+):.*## ", makefile, re.MULTILINE))
    assert set(phony[1].split()) == explained


_HEAD = re.compile(r"( *)(?:(def|async def) |class |@)")


def too_long(name: str, source: str) -> list[str]:
    """What is longer than it may be."""
    module = [name] if source.count("\n") > LONGEST_MODULE else []
    if not _may_be_long(source.splitlines()):
        return module
    functions = (
        each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    sizes = {f"{name}:{each.name}": (each.end_lineno or 0) - each.lineno + 1 for each in functions}
    return module + [each for each, lines in sizes.items() if lines > LONGEST_FUNCTION]


def _may_be_long(lines: list[str]) -> bool:
    """Whether any function has so many lines before the next one that is no part of it; most need not be parsed."""
    heads = [(number, head) for number, line in enumerate(lines) if (head := _HEAD.match(line)) is not None]
    open_: list[tuple[int, int]] = []
    for number, head in [*heads, (len(lines), None)]:
        deep = len(head[1]) if head is not None else 0
        while open_ and open_[-1][1] >= deep:
            if number - open_.pop()[0] > LONGEST_FUNCTION:
                return True
        if head is not None and head[2]:
            open_.append((number, deep))
    return False


def test_modules_and_functions_are_short() -> None:
    files = sorted((ROOT / "kubectl_dra").rglob("*.py"))
    sources = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    assert [each for name, source in sources.items() for each in too_long(name, source)] == []


def test_what_is_too_long_is_found() -> None:
    step, method = "    x = 1\n", "        x = 1\n"
    assert too_long("a", f"def f():\n{step * 49}") == []
    assert too_long("a", f"def f():\n{step * 50}class C:\n    async def g():\n{method * 50}") == ["a:f", "a:g"]
    assert too_long("a", "x = 1\n" * 400) == []
    assert too_long("a", "x = 1\n" * 401) == ["a"]
