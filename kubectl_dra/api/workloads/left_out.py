"""Parts of an object that make pods of which it says nothing: a number beside parts with templates, and no template.

Their operator makes such pods by itself (Dynamo's frontends), or takes the template from somewhere else (KServe: the
endpoint picker, pkg/controller/v1alpha1/llmisvc/scheduler.go).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at
from kubectl_dra.api.workloads.templates import MadeTemplate

_DEPTH: Final = 12
_NUMBERS: Final = ("replicas", "instances")
_SERVICE: Final = ("serving.kserve.io", "LLMInferenceService")
_PICKER: Final = "router.scheduler"


def left_out(tree: Tree, group: str, kind: str, templates: Sequence[MadeTemplate], *, known: bool) -> tuple[str, ...]:
    """What an object with ``templates`` calls such parts; of ``known`` kinds the templates are all that there is."""
    if (group, kind) == _SERVICE:
        router = at(tree, "spec.router")
        picker = "scheduler" in router and not at(router, "scheduler").keys() & {"template", "pool"}
        return (_PICKER,) if picker and templates else ()
    return () if known or not templates else tuple(_search(tree, "", [each.path for each in templates], 0))


def _search(value: Any, path: str, found: Sequence[str], depth: int) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    """Only what stands beside parts with templates is a part."""
    if depth > _DEPTH:
        return
    for here, name, child in _children(value, path):
        if any(_leads(here, each) for each in found):
            yield from _search(child, here, found, depth + 1)
        elif isinstance(child, dict) and any(_is_positive(child.get(field)) for field in _NUMBERS):
            yield name


def _children(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"{path}.{key}".lstrip("."), str(key), child
    for index, child in enumerate(value) if isinstance(value, list) else ():
        name = child.get("name") if isinstance(child, dict) else None
        yield f"{path}[{index}]", name if isinstance(name, str) else str(index), child


def _leads(path: str, to: str) -> bool:
    return to == path or (to.startswith(path) and to[len(path)] in ".[")


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
