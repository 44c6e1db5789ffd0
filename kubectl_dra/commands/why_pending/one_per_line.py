"""``why-pending`` with one line per pod: ``-o wide``, ``name``, ``markdown``, ``csv`` and ``--sort-by``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.output.pending.pod_list import COLUMNS, FORMATS, WRITERS, message_lines, pod_rows
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.pending.pending import PendingReport

_POD_TYPES: Final = ("po", "pod", "pods")


def check_list(
    options: Options, words: Sequence[str], sort_by: str, *, no_headers: bool = False, named: bool = False
) -> None:
    """Raise a usage problem for a column that there is not, and for one line per pod where no list was asked for.

    ``named``: objects were named; ``-o name`` answers of them as well, as that of ``kubectl get`` does.
    """
    if sort_by and sort_by.lower() not in COLUMNS:
        raise UsageProblem(f'"{sort_by}" is not a column', f"--sort-by {', '.join(COLUMNS)}")
    titled = options.output == "wide" or (sort_by and not options.output)
    if no_headers and (not titled or any(word not in _POD_TYPES for word in words)):
        raise UsageProblem("--no-headers is for a list with titles", "add -o wide, and leave out the names")
    what = "--sort-by" if sort_by else f"-o {options.output}"
    by_name = named and options.output == "name" and not sort_by
    if (sort_by or options.output in FORMATS) and not by_name and any(word not in _POD_TYPES for word in words):
        raise UsageProblem(f"{what} is for a list of pods", "leave out the names, or use -l")
    if options.watch and (sort_by or options.output in FORMATS):
        raise UsageProblem(f"{what} cannot be combined with -w", "leave out -w")


def is_rows(options: Options, sort_by: str) -> bool:
    return bool(sort_by) or options.output in (*FORMATS, "wide")


def pod_list(
    reports: Sequence[PendingReport], now: datetime, output: str, sort_by: str, *, no_headers: bool = False
) -> list[Safe]:
    """The lines of the list; nothing where no pod is pending, so that pipes stay empty."""
    rows = pod_rows(reports, now, sort_by.lower())
    lines = list(WRITERS[output](rows)) if rows else []
    return lines[1:] if no_headers else lines


def said(reports: Sequence[PendingReport], now: datetime, *, told: bool) -> list[Safe]:
    """The distinct messages of the scheduler below the overview; see :func:`message_lines`."""
    lines = list(message_lines(reports, now, told=told))
    return [Safe(""), *lines] if lines else []
