"""Every module of kubectl_dra is reached from what people start, and what it defines is used: the rest is dead wood."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STARTED = ("kubectl_dra.__main__", "kubectl_dra.commands.completion.complete")
#: The parser of a file, kept: two tests look at all of them.
parsed = cache(lambda file: ast.parse(file.read_text(encoding="utf-8")))


def _modules() -> dict[str, Path]:
    files = (ROOT / "kubectl_dra").rglob("*.py")
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in names.items()}


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes except what is imported only for types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _run(node)


@cache
def _imports(name: str, file: Path) -> frozenset[str]:
    """What a module may import. One that imports by name reaches each module that a text of it names."""
    return frozenset(_imported(name, file))


def _imported(name: str, file: Path, named: bool = True) -> Iterator[str]:
    nodes = list(_run(parsed(file)))
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    by_name = named and any("import_module" in (getattr(f, "attr", ""), getattr(f, "id", "")) for f in called)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif by_name and isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (node.value, f"{package}.{node.value}")


def _reached(modules: dict[str, Path]) -> set[str]:
    seen: set[str] = set()
    waiting = list(STARTED)
    while waiting:
        name = waiting.pop()
        if name in modules and name not in seen:
            seen.add(name)
            waiting += [name.rpartition(".")[0], *_imports(name, modules[name])]
    return seen


def test_every_module_is_reached_from_an_entry_point() -> None:
    modules = _modules()
    assert set(STARTED) <= modules.keys()
    unreached = modules.keys() - _reached(modules)
    assert sorted(unreached) == []


def test_a_module_that_nobody_imports_is_found() -> None:
    modules = _modules()
    assert "kubectl_dra.orphan" not in _reached({**modules, "kubectl_dra.orphan": modules["kubectl_dra.version"]})


def _ties(modules: dict[str, Path]) -> dict[str, set[str]]:
    """What each module imports, not only for types and not by name; a package only where its own names are meant."""
    found = {name: {*_imported(name, file, named=False)} & modules.keys() - {name} for name, file in modules.items()}
    return {
        name: {each for each in several if not any(other.startswith(f"{each}.") for other in several)}
        for name, several in found.items()
    }


def test_no_module_imports_itself_through_others() -> None:
    TopologicalSorter(_ties(_modules())).prepare()


def test_modules_that_import_each_other_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import x", encoding="utf-8")
    (tmp_path / "b.py").write_text("def later():\n    import a", encoding="utf-8")
    with pytest.raises(CycleError):
        TopologicalSorter(_ties({name: tmp_path / f"{name}.py" for name in "ab"})).prepare()


def _used(tree: ast.AST) -> Iterator[str]:
    """The names that a module reads, by themselves, of others, or in texts such as a registry of screens."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"[A-Za-z_]\w*", node.value) if len(node.value) < 200 else ()


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name) and not each.id.startswith("__"))


def _unused(trees: list[ast.Module]) -> set[str]:
    own = [parsed(file) for file in (ROOT / "tools").glob("*.py")]
    used = {name for tree in (*trees, *own) for name in _used(tree)}
    return {name for tree in trees for name in _defined(tree)} - used


def test_what_a_module_defines_is_used_by_the_program() -> None:
    assert sorted(_unused(list(map(parsed, _modules().values())))) == []


def test_a_function_and_a_constant_that_nobody_uses_are_found() -> None:
    orphans = ast.parse("_LEFT_OVER = 1\n\ndef left_over_function(): ...")
    assert _unused([orphans]) == {"_LEFT_OVER", "left_over_function"}
