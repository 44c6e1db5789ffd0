"""Commands that are printed: objects as TYPE/NAME, and no command for names that the API could not hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.reports.invocations import kubectl, of, of_device, of_pool, plain_word, shell_line, within

SOURCES = Path(__file__).parents[2] / "kubectl_dra"
BAD = ("--all", "-A", "", "a b", "A", "a/b", "..", "a\x1b", "ä", "$(x)", "a'b", "a\n", "a;b", "x" * 254, "a_b")


def test_objects() -> None:
    assert kubectl("delete", of("pod", "a", "ml")) == ("kubectl", "delete", "pod/a", "-n", "ml")
    assert kubectl("uncordon", of("node", "a.b-1")) == ("kubectl", "uncordon", "node/a.b-1")
    assert shell_line(kubectl("auth", "can-i", within("ml"))) == "kubectl auth can-i -n ml"
    assert shell_line(kubectl("x", plain_word("a b"))) == "kubectl x 'a b'"


@pytest.mark.parametrize("name", BAD)
def test_no_command_for_what_cannot_be_a_name(name: str) -> None:
    assert kubectl("delete", of("pod", name, "ml"), "--wait") is None
    assert kubectl("delete", of("node", name)) is None
    assert of_device(DeviceId("gpu.example.com", "pool", name)) is None
    assert of_device(DeviceId(name, "pool", "gpu-0")) is None or name == "A"
    assert name == "a/b" or of_pool(PoolId("gpu.example.com", name)) is None
    assert within(name) is None
    if name:
        assert kubectl("delete", of("pod", "a", name)) is None
    assert shell_line(kubectl("delete", of("pod", name))) == ""


def test_devices() -> None:
    assert of_device(DeviceId("GPU.example.com", "a/b.c", "gpu-0")) == ("GPU.example.com/a/b.c/gpu-0",)
    assert of_device(DeviceId("gpu.example.com", "a//b", "gpu-0")) is None
    assert of_device(DeviceId("gpu.example.com", "a", "gpu.0")) is None


@pytest.mark.parametrize("word", ["", "-x", "--all", "a\n", "ä", "\x1b"])
def test_words_that_are_no_names(word: str) -> None:
    assert plain_word(word) is None


def test_no_other_module_puts_names_into_commands() -> None:
    """A literal that begins as a command and goes on with a placeholder is a command that this module did not make."""
    begins = re.compile(
        r"kubectl (dra )?(get|delete|describe|patch|label|uncordon|logs|describe-\w+|why-pending) [^;]*$"
    )
    found = []
    for path in SOURCES.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        # Most modules need not be parsed.
        for node in ast.walk(ast.parse(source)) if re.search("[\"']kubectl ", source) else ():
            if isinstance(node, ast.JoinedStr) and isinstance(first := node.values[0], ast.Constant):
                holes = [each for each in node.values if isinstance(each, ast.FormattedValue)]
                if begins.match(str(first.value)) and any(_is_name(each) for each in holes):
                    found.append(f"{path.relative_to(SOURCES)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


def _is_name(hole: ast.FormattedValue) -> bool:
    """Whether it may be a name of an object: plurals and types stand in the program."""
    text = ast.unparse(hole.value)
    return not re.search(r"\b(plural|type|resource|singular)$", text)
