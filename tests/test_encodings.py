"""Text is read and written in an encoding that stands beside it: what a computer prefers decides about nothing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("kubectl_dra", "tests", "tools", "bench")
# Where the mode of each call stands among its arguments, and which mode it has otherwise.
OPENING = {"open": (1, "r"), "fdopen": (1, "r"), "NamedTemporaryFile": (0, "w+b"), "TemporaryFile": (0, "w+b")}
TEXT = {"read_text", "write_text", "TextIOWrapper"}
# What these open or write has no encoding: other modules than pathlib and io, click's formatter.
FOREIGN = {"formatter", "os", "tarfile", "webbrowser", "zipfile"}
# ``text=True`` of these is a flag of our own: the field ``text`` of a JSON answer.
OURS = {"shared_options"}
#: What each such call holds; most modules need not be parsed.
NAMED = re.compile(rf"\b(?:{'|'.join((*OPENING, *TEXT))})\b|\b(?:text|universal_newlines)=")


def lacks(source: str) -> list[int]:
    """The lines of calls that read or write text, and say no encoding."""
    if not NAMED.search(source):
        return []
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [call.lineno for call in calls if _is_text(call) and not _says(call)]


def _is_text(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(call.func.value, "id", "") if isinstance(call.func, ast.Attribute) else ""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if name in TEXT:
        return owner not in FOREIGN and (isinstance(call.func, ast.Attribute) or name == "TextIOWrapper")
    if name in OPENING and (owner not in FOREIGN or name == "fdopen"):
        place, default = OPENING[name]
        # ``path.open(mode)`` has no file before it.
        place -= isinstance(call.func, ast.Attribute) and name == "open" and owner != "io"
        mode = named.get("mode", call.args[place] if len(call.args) > place else ast.Constant(default))
        return isinstance(mode, ast.Constant) and "b" not in str(mode.value)
    flags = () if name in OURS else [named.get(flag) for flag in ("text", "universal_newlines")]
    return any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def _says(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", "")
    # Path.read_text, the stream's constructor and Path.write_text take it by place, too.
    by_place = {"read_text": 1, "write_text": 2}.get(name, 2 if "TextIOWrapper" in ast.dump(call.func) else 99)
    return len(call.args) >= by_place or any(keyword.arg == "encoding" for keyword in call.keywords)


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(a)", True),
        ("path.write_text(a, encoding='utf-8')", False),
        ("write_text(a)", False),
        ("path.open()", True),
        ("path.open('rb')", False),
        ("open(x)", True),
        ("open(x, 'w')", True),
        ("open(x, 'wb')", False),
        ("open(x, encoding='utf-8')", False),
        ("os.open(x, 0)", False),
        ("os.fdopen(x, 'w')", True),
        ("subprocess.run(x, text=True)", True),
        ("subprocess.run(x, encoding='utf-8')", False),
        ("Quantity(0, text='0')", False),
        ("NamedTemporaryFile('w')", True),
        ("NamedTemporaryFile()", False),
        ("io.TextIOWrapper(raw)", True),
        ("io.TextIOWrapper(raw, stream.encoding)", False),
    ],
)
def test_what_lacks_an_encoding_is_found(source, wrong):
    assert lacks(source) == ([1] if wrong else [])


def test_every_text_has_an_encoding():
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    found = [f"{file.relative_to(ROOT)}:{line}" for file in files for line in lacks(file.read_text(encoding="utf-8"))]
    assert found == []
