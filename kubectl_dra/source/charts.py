"""Files of Helm charts: templates nobody has rendered yet are one problem of their chart, not one of each file.

Upstream: helm, pkg/chart/loader (a chart is a folder with Chart.yaml; what it renders is in templates/ and in charts/).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kubectl_dra.source.errors import FileError, ManifestError, SourceError

_CHART: Final = "Chart.yaml"
_RENDERED: Final = "templates"
_SUBCHARTS: Final = "charts"
#: Templates lie in folders of folders, but not deeper than this.
_LEVELS: Final = 8
_NAMED: Final = 3


def by_chart(problems: Iterable[SourceError]) -> list[SourceError]:
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
