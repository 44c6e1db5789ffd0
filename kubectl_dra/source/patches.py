"""Files that are patches of a kustomization: parts of objects, which only kustomize puts together.

Of files on this machine only: a kustomization beside a file, or one that was read with it, names its patches
(upstream: kubernetes-sigs/kustomize, api/types/kustomization.go).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from kubectl_dra.source.content import open_content
from kubectl_dra.source.errors import SourceError
from kubectl_dra.source.yaml_reader import YAMLError, read_documents

#: The names under which kustomize looks for a kustomization.
NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BYTES: Final = 1 << 20
_FOLDERS: Final = 2_000


def patches_among(files: Iterable[str]) -> Mapping[str, str]:
    """Of these files those that are patches, with the kustomization that names them."""
    wanted = {os.path.normpath(name): name for name in files}
    named = [name for name in wanted if os.path.basename(name) in NAMES]
    folders = dict.fromkeys(os.path.dirname(name) for name in wanted)
    beside = (os.path.join(folder, name) for folder in list(folders)[:_FOLDERS] for name in NAMES)
    found: dict[str, str] = {}
    for path in dict.fromkeys((*named, *beside)):
        for patch in _patches(path):
            name = os.path.normpath(os.path.join(os.path.dirname(path), patch))
            if name in wanted:
                found.setdefault(wanted[name], path)
    return found


def _patches(path: str) -> Iterator[str]:
    """What a kustomization names as patches; nothing of one that can't be read, which is said elsewhere."""
    try:
        if not Path(path).is_file():
            return
        with open_content(path, _BYTES) as content:
            trees = [document.value for document in read_documents(content, unique=False)]
    except (OSError, ValueError, SourceError, YAMLError):
        return
    for tree in trees:
        if isinstance(tree, dict):
            yield from _named(tree)


def _named(tree: dict[str, Any]) -> Iterator[str]:
    for field in ("patches", "patchesJson6902", "patchesStrategicMerge"):
        items = tree.get(field)
        for item in items if isinstance(items, list) else ():
            path = item.get("path") if isinstance(item, dict) else item
            # A patch may stand in the list itself.
            if isinstance(path, str) and "\n" not in path:
                yield path
