"""Owners of pods, read from a live cluster when a way out has to be carried out there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kubectl_dra.commands.cluster import source_spec
from kubectl_dra.commands.options import Options
from kubectl_dra.diagnosis.workloads import ReadOwner, Unread
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.source.errors import ClusterError, ForbiddenError


@contextmanager
def owner_reader(options: Options) -> Iterator[ReadOwner | None]:
    """Reads owners one by one; None where facts come from a file, which has all that there is."""
    if options.from_ is not None:
        yield None
        return
    from kubectl_dra.source.live.owners import OwnerReader  # the kubernetes package is heavy

    reader = OwnerReader(source_spec(options).connection)

    def read(namespace: str, reference: OwnerReference) -> WorkloadObject | Unread:
        try:
            return reader.get(namespace, reference) or Unread.GONE
        except ForbiddenError:
            return Unread.FORBIDDEN
        except ClusterError:
            # What is known is answered without it.
            return Unread.NOT_ASKED

    try:
        yield read
    finally:
        reader.close()
