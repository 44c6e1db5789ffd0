"""JSON patches: what an edit changes in a pod's spec, the pod's own or that of the template that makes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from kubectl_dra.api.encode import encode_part
from kubectl_dra.diagnosis.remedies.pod_edits import edited
from kubectl_dra.diagnosis.remedies.records import EditPod
from kubectl_dra.model.core import PodSpec

Change = tuple[str, Any]


def pod_changes(action: EditPod, spec: PodSpec) -> Sequence[Change]:
    """JSON pointers below ``spec``, with the new values (None: remove); none where there is nothing to change."""
    return tuple(_changes("", spec, edited(spec, action)))


def _changes(path: str, old: object, new: object) -> Iterator[Change]:
    """Each in the deepest place that has it."""
    if old == new:
        return
    if path == "/overhead" and not new:
        # Admission refuses even an empty one (upstream: admission/runtimeclass/admission.go, validateOverhead).
        yield path, None
    elif old in ({}, ()):
        yield path, _json(new)  # it does not stand there
    elif isinstance(old, tuple) and isinstance(new, tuple):
        yield from _of_lists(path, old, new)
    elif isinstance(old, dict | msgspec.Struct) and isinstance(new, dict | msgspec.Struct):
        yield from _of_maps(path, _members(old), _members(new))
    else:
        yield path, _json(new) or None


def _members(each: dict[str, Any] | msgspec.Struct) -> dict[str, Any]:
    if isinstance(each, dict):
        return each
    return {field.encode_name: getattr(each, field.name) for field in msgspec.structs.fields(each)}


def _of_maps(path: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """What is gone comes first."""
    for name in old.keys() - new.keys():
        yield path + pointer(name), None
    changes = (change for name in new for change in _changes(path + pointer(name), old.get(name), new[name]))
    yield from sorted(changes, key=lambda change: change[1] is not None)


def _of_lists(path: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Iterator[Change]:
    if len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _changes(f"{path}/{index}", before, after)
    elif new[: len(old)] == old:
        yield from ((f"{path}/-", _json(each)) for each in new[len(old) :])
    else:
        kept, gone = list(new), []
        for index, each in enumerate(old):
            if kept and kept[0] == each:
                kept.pop(0)
            else:
                gone.append(index)
        # From the end, as what is removed moves what comes after it.
        yield from ((path, _json(new)),) if kept else ((f"{path}/{index}", None) for index in reversed(gone))


def _json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    return json.loads(encode_part(value))


def patch_text(changes: Iterable[Change], prefix: str = "") -> str:
    """The JSON patch that makes the changes below ``prefix``."""
    return json.dumps([_operation(prefix + path, value) for path, value in changes])


def _operation(path: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    return {"op": "remove", "path": path} if value is None else {"op": "add", "path": path, "value": value}


def pointer(*keys: str) -> str:
    """A JSON pointer made of keys."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
