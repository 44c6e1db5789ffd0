"""The one reader of manifests: what ``-f``, ``-R`` and ``-k`` name, as written objects or as records.

What is broken costs only itself: it becomes a problem that whoever asked has to tell, and the rest is still answered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.source.charts import by_chart
from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, ManifestError, SourceError
from kubectl_dra.source.inputs import Inputs, Skipped, opened
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.manifests import Manifests, Written, read_manifests, read_written
from kubectl_dra.source.not_objects import KUSTOMIZATIONS
from kubectl_dra.source.yaml_reader import YAMLError, read_documents

#: Unless ``--max-bytes`` says otherwise: nobody writes more by hand, and YAML takes a second for 3 MB.
MANIFEST_BYTES: Final = 32 << 20


class FoundObjects(msgspec.Struct):
    """``objects`` in the order of the inputs; ``problems`` that cost a document or a file; ``notes``.

    ``texts`` are the files as they were written, by name, where they were asked for.
    """

    name: str
    objects: list[Written] = msgspec.field(default_factory=list)
    texts: dict[str, str] = msgspec.field(default_factory=dict)
    files: int = 0
    problems: list[SourceError] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)

    @property
    def read_any(self) -> bool:
        return bool(self.objects)


class FoundRecords(msgspec.Struct):
    """The same, decoded."""

    manifests: Manifests
    problems: list[SourceError] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)

    @property
    def read_any(self) -> bool:
        """Whether there is any object, be it a broken one."""
        return bool(self.manifests.objects or self.manifests.bad_objects or self.manifests.other)


def read_objects(inputs: Inputs, *, patches: bool = True) -> FoundObjects:
    """All objects as they were written. Raises :class:`SourceError` where there is nothing but one problem.

    Without ``patches`` those of a kustomization are left out, which a note says.
    """
    found = _read(inputs, texts=False)
    found.problems = by_chart(found.problems)
    apart = {} if patches else without_patches(found)
    if apart and not (found.objects or found.problems):
        name, path = next(iter(apart.items()))
        raise FileError(f"{name}: is a patch of {path}, no object by itself", "-k DIR reads what it becomes")
    left_out = "left out, -k DIR reads what it becomes"
    found.notes += [f"{name} is a patch of {path}: {left_out}" for name, path in apart.items()]
    complain_about_nothing(found)
    return found


def without_patches(found: FoundObjects) -> Mapping[str, str]:
    """Take the files out that are patches of a kustomization: their names, with the kustomization that names them."""
    problems = {each.file for each in found.problems if isinstance(each, ManifestError)}
    patches = patches_among(dict.fromkeys((*(each.origin.file for each in found.objects), *sorted(problems))))
    if patches:
        found.objects = [each for each in found.objects if each.origin.file not in patches]
        found.problems = [each for each in found.problems if getattr(each, "file", "") not in patches]
    return patches


def read_texts(inputs: Inputs) -> FoundObjects:
    """The same with the texts; problems are never raised, but for paths that don't exist."""
    return _read(inputs, texts=True)


def _read(inputs: Inputs, *, texts: bool) -> FoundObjects:
    found = FoundObjects(inputs.name)
    for content in _contents(inputs, found):
        broken: list[ManifestError] = []
        found.objects += read_written(content, content.name, broken)
        found.problems += broken
        found.files += 1
        if texts:
            found.texts[content.name] = content.read(0, content.size).decode("utf-8", "replace")
    return found


def read_records(inputs: Inputs) -> FoundRecords:
    """All objects of kinds that are known, decoded. Raises :class:`SourceError` as :func:`read_objects`."""
    found = FoundRecords(Manifests(inputs.name))
    into = found.manifests
    for content in _contents(inputs, found):
        broken: list[ManifestError] = []
        each = read_manifests(content, content.name, problems=broken)
        into.objects += each.objects
        into.bad_objects += each.bad_objects
        into.other += each.other
        into.header = into.header or each.header
        found.problems += broken
    found.problems = by_chart(found.problems)
    complain_about_nothing(found)
    return found


def _contents(inputs: Inputs, found: FoundObjects | FoundRecords) -> Iterator[Content]:
    if inputs.max_bytes == MAX_BYTES:
        inputs = replace(inputs, max_bytes=MANIFEST_BYTES)
    for each in opened(inputs):
        if isinstance(each, Skipped):
            found.notes.append(str(each))
        elif isinstance(each, Content):
            with each:
                yield each
        else:
            found.problems.append(each)


def complain_about_nothing(found: FoundObjects | FoundRecords) -> None:
    """Raises what is wrong where there is not one object: the only problem, or that there are none."""
    if found.read_any:
        return
    if len(found.problems) == 1:
        raise found.problems.pop()
    if not found.problems:
        name = found.name if isinstance(found, FoundObjects) else found.manifests.name
        raise FileError(f"{name}: holds no objects", "name a file with Kubernetes objects")


# --- patches ----------------------------------------------------------------------------------------------------------

_BYTES: Final = 1 << 20
_FOLDERS: Final = 2_000


def patches_among(files: Iterable[str]) -> Mapping[str, str]:
    """Of these files those that are patches, with the kustomization that names them."""
    wanted = {os.path.normpath(name): name for name in files}
    named = [name for name in wanted if os.path.basename(name) in KUSTOMIZATIONS]
    folders = dict.fromkeys(os.path.dirname(name) for name in wanted)
    beside = (os.path.join(folder, name) for folder in list(folders)[:_FOLDERS] for name in KUSTOMIZATIONS)
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
    for kind in ("patches", "patchesJson6902", "patchesStrategicMerge"):
        items = tree.get(kind)
        for item in items if isinstance(items, list) else ():
            path = item.get("path") if isinstance(item, dict) else item
            # A patch may stand in the list itself.
            if isinstance(path, str) and "\n" not in path:
                yield path
