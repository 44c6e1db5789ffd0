"""The one reader of manifests: what ``-f``, ``-R`` and ``-k`` name, as written objects or as records.

What is broken costs only itself: it becomes a problem that whoever asked has to tell, and the rest is still answered.

Files of Helm charts: templates nobody has rendered yet are one problem of their chart, not one of each file. Upstream:
helm, pkg/chart/loader (a chart is a folder with Chart.yaml; what it renders is in templates/ and in charts/).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, ManifestError, SourceError
from kubectl_dra.source.inputs import Inputs, Skipped, opened
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.manifests import Manifests, Written, read_manifests, read_written
from kubectl_dra.source.not_objects import KUSTOMIZATIONS
from kubectl_dra.source.yaml_reader import YAMLError, read_documents

#: Unless ``--max-bytes`` says otherwise: nobody writes more by hand, and YAML takes a second for 3 MB.
MANIFEST_BYTES: Final = 32 << 20
_CHART: Final = "Chart.yaml"
_RENDERED: Final = "templates"
_SUBCHARTS: Final = "charts"
#: Templates lie in folders of folders, but not deeper than this.
_LEVELS: Final = 8
_NAMED: Final = 3


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
    found.problems = _by_chart(found.problems)
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
    found.problems = _by_chart(found.problems)
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


def _by_chart(problems: Iterable[SourceError]) -> list[SourceError]:
    """The problems, with those of one chart's templates and values as a single one, in the place of the first."""
    charts: dict[str, list[str]] = {}
    found: list[SourceError | str] = []
    for problem in problems:
        root = _chart_of(problem.file) if isinstance(problem, ManifestError) and problem.file else ""
        if not root:
            found.append(problem)
            continue
        if root not in charts:
            found.append(root)
        charts.setdefault(root, []).append(os.path.relpath(getattr(problem, "file", ""), root))
    return [_unrendered(each, charts[each]) if isinstance(each, str) else each for each in found]


def _chart_of(file: str) -> str:
    """The folder of the outermost chart that renders a file or has it as its values; empty for any other file."""
    folder, inside, found = os.path.dirname(file) or ".", os.path.basename(file), ""
    for _ in range(_LEVELS):
        first = inside.split(os.sep)[0]
        if (first == inside or first in (_RENDERED, _SUBCHARTS)) and _is_chart(folder):
            found = folder
        name = os.path.basename(os.path.abspath(folder))
        inside = os.path.join(name, inside)
        folder = os.path.dirname(folder) if os.path.basename(folder) not in ("", ".", "..") else f"{folder}{os.sep}.."
        folder = folder or "."
    return os.path.normpath(found) if found else ""


def _is_chart(folder: str) -> bool:
    try:
        return Path(folder, _CHART).is_file() and Path(folder, _RENDERED).is_dir()
    except (OSError, ValueError):
        return False


def _unrendered(root: str, files: list[str]) -> FileError:
    names = list(dict.fromkeys(files))
    some = [*names[:_NAMED], f"{len(names) - _NAMED} more"] if len(names) > _NAMED else names
    which = " and ".join(filter(None, (", ".join(some[:-1]), some[-1])))
    what = f"{root}: a Helm chart that is not rendered yet: {which} {'was' if len(names) == 1 else 'were'} not read"
    return FileError(what, f"helm template {shlex.quote(root)} | kubectl dra … -f -")
