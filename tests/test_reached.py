"""Every module of kubectl_dra is reached from what people start; what only tests import is dead wood."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
STARTED = ("kubectl_dra.__main__", "kubectl_dra.commands.complete")
#: Built before diagnosis asks it; leaves this list with the first import of it.
BEFORE_ITS_USERS = "kubectl_dra.scheduler"


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


def _imports(name: str, file: Path) -> Iterator[str]:
    """What a module may import. One that imports by name reaches each module that a text of it names."""
    nodes = list(_run(ast.parse(file.read_text(encoding="utf-8"))))
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    by_name = any("import_module" in (getattr(f, "attr", ""), getattr(f, "id", "")) for f in called)
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
    assert sorted(name for name in unreached if not name.startswith(BEFORE_ITS_USERS)) == []


def test_a_module_that_nobody_imports_is_found() -> None:
    modules = _modules()
    assert "kubectl_dra.orphan" not in _reached({**modules, "kubectl_dra.orphan": modules["kubectl_dra.version"]})
