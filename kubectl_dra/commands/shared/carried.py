"""Objects that others carry, as objects or as text: they are tried as if they were applied by themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from kubectl_dra.api.kinds import find_kind
from kubectl_dra.api.trees import Tree, at, in_utf8, mapping, read_tree, text_at
from kubectl_dra.api.workloads.nested import is_template, manifests, texts
from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import Written, read_written
from kubectl_dra.source.reading import FoundObjects

_CONFIG: Final = ("v1", "ConfigMap")
#: Longer texts are not manifests that somebody has written.
_MAX_TEXT: Final = 1 << 16
_HEADS: Final = (re.compile(r"^apiVersion:", re.MULTILINE), re.compile(r"^kind:", re.MULTILINE))


def carried_out(found: FoundObjects, console: Console) -> FoundObjects:
    """With the objects that others do nothing but carry, and those in texts; a note tells of them.

    What carries them stays without them, as long as something in it is left.
    """
    objects = list[Written]()
    for each in found.objects:
        config = (each.api_version, each.kind) == _CONFIG
        known = find_kind(each.api_version, each.kind) is not None
        tree = {} if known and not config else mapping(read_tree(in_utf8(each.data)))
        inner, read = manifests(tree), list(_taken(tree))
        if not read:
            objects += [] if inner else [each]
        elif not config or any(texts(tree)):
            objects.append(each._replace(data=json.dumps(tree).encode()))
        objects += [
            Written(json.dumps(one).encode(), "", "", each.origin) for one in (*inner, *(one for one, _ in read))
        ]
        meta = at(tree, "metadata")
        name = fmt("{} {}", each.kind, text_at(meta, "name") or text_at(meta, "generateName"))
        if inner:
            one = "is read as if it were applied by itself"
            told = one if len(inner) == 1 else "are read as if they were applied by themselves"
            number = "object" if len(inner) == 1 else counted(len(inner), "object")
            console.note(fmt("note: {}: the {} in it {}", name, number, told))
        if read:
            what = listed([f"{one.get('kind')} in {path}" for one, path in read])
            console.note(Safe("note: ") + fmt("{}: {}, a text, is tried as if created in its namespace", name, what))
    found.objects = objects
    return found


def _taken(tree: Tree) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in texts that are whole, taken out of what carries them, in its namespace; others stay in it."""
    namespace = text_at(at(tree, "metadata"), "namespace")
    for path, holder, field in list(texts(tree)):
        inner = _objects(holder[field], path)
        if not inner:
            continue
        del holder[field]
        for each in inner:
            meta, kind = at(each, "metadata"), find_kind(text_at(each, "apiVersion"), text_at(each, "kind"))
            lacks = namespace and not meta.get("namespace") and (kind is None or kind.namespaced)
            where = {"namespace": namespace} if lacks else {}
            yield {**each, "metadata": {**meta, **where}}, path


def _objects(text: str, path: str) -> list[dict[str, Any]]:
    """The objects of a text; none if one of them is not whole, or a template."""
    if len(text) > _MAX_TEXT or not all(head.search(text) for head in _HEADS):
        return []
    broken: list[ManifestError] = []
    inner = [mapping(read_tree(in_utf8(each.data))) for each in read_written(text.encode(), path, broken)]
    whole = not broken and all(each.get("apiVersion") and not is_template(each) for each in inner)
    return inner if whole else []
