"""Owners of pods, read from a live cluster when a way out has to be carried out there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.diagnosis.pod.workloads import ReadOwner, WhyUnread
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.source.errors import ClusterError, ForbiddenError
from kubectl_dra.source.spec import Connection

if TYPE_CHECKING:
    from kubectl_dra.source.live.owners import OwnerReader

_KEPT_SECONDS: Final = 10.0
_MANY: Final = 1_000


@contextmanager
def owner_reader(options: Options) -> Iterator[ReadOwner | None]:
    """Reads owners one by one; None where facts come from a file, which has all that there is."""
    if options.from_ is not None:
        yield None
        return
    from kubectl_dra.source.live.owners import OwnerReader  # the kubernetes package is heavy

    reader = OwnerReader(source_spec(options).connection)
    try:
        yield partial(_read, reader)
    finally:
        reader.close()


def _read(reader: OwnerReader, namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
    try:
        return reader.get(namespace, reference) or WhyUnread.GONE
    except ForbiddenError:
        return WhyUnread.FORBIDDEN
    except ClusterError:
        # What is known is answered without it.
        return WhyUnread.NOT_ASKED


class KeptOwners:
    """Reads owners for a program that goes on, and asks again for each only after some seconds."""

    def __init__(self, connection: Connection) -> None:
        from kubectl_dra.source.live.owners import OwnerReader  # the kubernetes package is heavy

        self._reader = OwnerReader(connection)
        self._known: dict[tuple[str, OwnerReference], tuple[float, WorkloadObject | WhyUnread]] = {}

    def __call__(self, namespace: str, reference: OwnerReference) -> WorkloadObject | WhyUnread:
        """One owner as it was a few seconds ago at most."""
        asked, now = (namespace, reference), time.monotonic()
        known = self._known.get(asked)
        if known is None or now - known[0] > _KEPT_SECONDS:
            if len(self._known) > _MANY:
                self._known.clear()
            known = self._known[asked] = now, _read(self._reader, namespace, reference)
        return known[1]
