"""Objects that others carry, as objects or as text: they are tried as if they were applied by themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kubectl_dra.api.kinds import find_kind
from kubectl_dra.api.trees import Tree, at, in_utf8, mapping, read_tree, text_at
from kubectl_dra.api.workloads.nested import manifests, texts
from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import Written, read_written
from kubectl_dra.source.reading import FoundObjects

_CONFIG = ("v1", "ConfigMap")


def carried_out(found: FoundObjects, console: Console) -> FoundObjects:
    """With the objects that others carry into namespaces of their own, or as texts; a note tells of them.

    An object that does nothing but carry them is left out.
    """
    objects = list[Written]()
    for each in found.objects:
        config = (each.api_version, each.kind) == _CONFIG
        known = find_kind(each.api_version, each.kind) is not None
        tree = {} if known and not config else mapping(read_tree(in_utf8(each.data)))
        inner, read = manifests(tree), list(_read(tree))
        objects += [] if inner or (config and read) else [each]
        objects += [
            Written(json.dumps(one).encode(), "", "", each.origin) for one in (*inner, *(one for one, _ in read))
        ]
        meta = at(tree, "metadata")
        name = fmt("{} {}", each.kind, text_at(meta, "name") or text_at(meta, "generateName"))
        if inner:
            text = "note: {}: the {} in it are read as if applied themselves"
            console.note(fmt(text, name, counted(len(inner), "object")))
        if read:
            what = listed([f"{one.get('kind')} in {path}" for one, path in read])
            console.note(Safe("note: ") + fmt("{}: {}, a text, is tried as if created in its namespace", name, what))
    found.objects = objects
    return found


def _read(tree: Tree) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in texts that are whole and say something of claims, in the namespace of what carries them."""
    namespace = text_at(at(tree, "metadata"), "namespace")
    for path, text in texts(tree):
        broken: list[ManifestError] = []
        inner = [mapping(read_tree(in_utf8(each.data))) for each in read_written(text.encode(), path, broken)]
        if broken or not all(each.get("apiVersion") for each in inner):
            continue
        for each in inner:
            meta, kind = at(each, "metadata"), find_kind(text_at(each, "apiVersion"), text_at(each, "kind"))
            lacks = namespace and not meta.get("namespace") and (kind is None or kind.namespaced)
            where = {"namespace": namespace} if lacks else {}
            yield {**each, "metadata": {**meta, **where}}, path
