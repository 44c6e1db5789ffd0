"""What this program is, and which schedulers it reproduces."""

from __future__ import annotations

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.features import NEWEST_MINOR, OLDEST_MINOR
from kubectl_dra.version import __version__


class Schedulers(ReportRecord, frozen=True):
    """The oldest and the newest version of Kubernetes whose scheduler is reproduced, as ``1.MINOR``."""

    oldest: str = f"1.{OLDEST_MINOR}"
    newest: str = f"1.{NEWEST_MINOR}"


class Version(ReportRecord, frozen=True):
    """The version of this program."""

    version: str = __version__
    kubernetes: Schedulers = Schedulers()
