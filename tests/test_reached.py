"""Every module of kubectl_dra is reached from what people start, and what it defines is used: the rest is dead wood."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from kubectl_dra.tui.screens import SCREENS
from kubectl_dra.tui.view import View

ROOT = Path(__file__).parent.parent
STARTED = ("kubectl_dra.__main__", "kubectl_dra.commands.completion.complete")
#: What is read by a name in a text: the function of a command, tables, classes of screens.
REGISTERED = re.compile(r"command|(?:[\w.]+:)?[A-Z]\w*|[a-z.]+:[a-z]+")
#: The parser of a file, kept: two tests look at all of them.
parsed = cache(lambda file: ast.parse(file.read_text(encoding="utf-8")))


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """Who collects garbage after these tests does not go through a million nodes."""
    yield
    parsed.cache_clear()
    _run.cache_clear()


def _modules() -> dict[str, Path]:
    files = (ROOT / "kubectl_dra").rglob("*.py")
    names = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in names.items()}


@cache
def _run(file: Path) -> tuple[ast.AST, ...]:
    """The imports, calls and texts of a file except what is imported only for types."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [parsed(file)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                continue
            waiting.append(node)
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Call | ast.Constant):
                found.append(node)
    return tuple(found)


@cache
def _imports(name: str, file: Path) -> frozenset[str]:
    """What a module may import. One that imports by name reaches each module that a text of it names."""
    return frozenset(_imported(name, file))


def _imported(name: str, file: Path, named: bool = True) -> Iterator[str]:
    nodes = _run(file)
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
            module = node.value.partition(":")[0]
            yield from (module, f"{package}.{module}")


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


def _used(name: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of what a module reads: its own names outside of what they stand for, and those of others.

    Registries name classes and functions in texts, and read tables of modules that they import by name.
    """
    modules: dict[str, str] = {}
    read: list[tuple[str, str]] = []
    for each in tree.body:
        own = getattr(each, "name", None)
        for node in ast.walk(each):
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load) and node.id != own:
                    yield name, node.id
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.module, alias.name) for alias in node.names)
                modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Attribute):
                read.append((node.value.id if isinstance(node.value, ast.Name) else "", node.attr))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and REGISTERED.fullmatch(node.value):
                yield "", node.value.rpartition(":")[2]
    yield from ((modules.get(of, "" if attribute.isupper() else "?"), attribute) for of, attribute in read)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for each in targets if isinstance(each, ast.Name) and not each.id.startswith("__"))


def _unused(trees: Mapping[str, ast.Module]) -> set[str]:
    own = {file.stem: parsed(file) for file in (ROOT / "tools").glob("*.py")}
    used = {each for name, tree in (*trees.items(), *own.items()) for each in _used(name, tree)}
    defined = {(name, each) for name, tree in trees.items() for each in _defined(tree)}
    return {f"{name}.{each}" for name, each in defined - used if ("", each) not in used}


def test_what_a_module_defines_is_used_by_the_program() -> None:
    assert sorted(_unused({name: parsed(file) for name, file in _modules().items()})) == []


def test_a_function_and_a_constant_that_nobody_uses_are_found() -> None:
    orphans = "_LEFT_OVER = 1\n\ndef orphan(): return orphan()\n\ndef words(): ..."
    others = "from a import words\n\n_READ = words"
    trees = {"a": ast.parse(orphans), "b": ast.parse(orphans), "c": ast.parse(others)}
    assert _unused(trees) == {"a._LEFT_OVER", "a.orphan", "b._LEFT_OVER", "b.orphan", "b.words", "c._READ"}


def test_each_screen_names_a_view_that_is_there() -> None:
    for screen in SCREENS:
        view = getattr(import_module(f"kubectl_dra.tui.{screen.module}"), screen.view, None)
        assert isinstance(view, type), screen
        assert issubclass(view, View), screen
