"""Values of which the API has a few, in the case of another language: ``exactCount`` or ``all``.

The server compares them letter by letter and refuses all others (upstream: pkg/apis/resource/validation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubectl_dra.api.trees import list_at, mapping

Tree = dict[str, Any]
_MODES: Final = ("All", "ExactCount")
_OF_TOLERATIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "operator": ("Equal", "Exists"),
    "effect": ("None", "NoSchedule", "NoExecute"),
}


def respelled(request: Tree, path: str) -> Iterator[tuple[str, str, str]]:
    """Correct the values of a request; the path of each, how it was written and how it is."""
    alternatives = list_at(request, "firstAvailable")
    places = [(path, request), (f"{path}.exactly", mapping(request.get("exactly")))]
    places += [(f"{path}.firstAvailable[{index}]", mapping(each)) for index, each in enumerate(alternatives)]
    for where, each in places:
        yield from _respelled(each, where, "allocationMode", _MODES)
        for index, toleration in enumerate(list_at(each, "tolerations")):
            for name, values in _OF_TOLERATIONS.items():
                yield from _respelled(mapping(toleration), f"{where}.tolerations[{index}]", name, values)


def _respelled(tree: Tree, path: str, name: str, values: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    written = tree.get(name)
    if not isinstance(written, str) or written in values:
        return
    meant = next((value for value in values if _letters(value) == _letters(written)), None)
    if meant is not None:
        tree[name] = meant
        yield f"{path}.{name}", written, meant


def _letters(text: str) -> str:
    return "".join(each for each in text.lower() if each not in "-_ ")
