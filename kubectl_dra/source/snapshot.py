"""The header of a snapshot: what was read, what was refused, from which server and when.

A snapshot is a JSON object ``{apiVersion: kubectl-dra/v1alpha1, kind: Snapshot, taken, server, reads[], items[]}``;
``reads[]`` says for each kind and namespace what the items can prove, and counts exactly as it says.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.evidence import Coverage, Read
from kubectl_dra.model.invocation import Address
from kubectl_dra.source.errors import ManifestError

SNAPSHOT_API_VERSION: Final = "kubectl-dra/v1alpha1"
SNAPSHOT_KIND: Final = "Snapshot"
_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})")


class SnapshotRead(ReportRecord, frozen=True):
    """One list that was taken, or could not be; an empty namespace means the whole cluster."""

    kind: str
    coverage: Coverage
    namespace: str = ""
    resource_version: str = ""
    time: str = ""
    note: str = ""

    @staticmethod
    def of(read: Read) -> SnapshotRead:
        """As it is written."""
        return SnapshotRead(read.kind, read.coverage, read.namespace, read.resource_version, read.time, read.note)


class SnapshotServer(ReportRecord, frozen=True):
    """The API server: its ``gitVersion`` and its URL, empty where they are not known."""

    version: str = ""
    url: str = ""


class SnapshotHeader(ReportRecord, frozen=True, kw_only=True):
    """All of a snapshot but its items, as it is written and read. ``taken`` is RFC 3339, UTC; ``context``
    that of the kubeconfig.

    Fields that are absent have their defaults, so that a header can be written by hand.
    """

    taken: str = ""
    server: SnapshotServer = SnapshotServer()
    context: str = ""
    reads: tuple[SnapshotRead, ...]
    notes: tuple[str, ...] = ()

    def evidence_reads(self) -> tuple[Read, ...]:
        """The reads as evidence; one without a time was taken when the snapshot was."""
        return tuple(
            Read(r.kind, r.namespace, r.coverage, r.resource_version, r.time or self.taken, r.note) for r in self.reads
        )

    def address(self) -> Address:
        """The cluster that the snapshot is of, as far as it says."""
        return Address(context=self.context, server=self.server.url)

    def server_version(self) -> tuple[int, int] | None:
        """Major and minor version of the server, if the snapshot says it."""
        match = _VERSION.match(self.server.version)
        return (int(match[1]), int(match[2])) if match else None


_header: Final = msgspec.json.Decoder(SnapshotHeader)


def decode_header(data: bytes, place: str) -> SnapshotHeader:
    """The header of a snapshot's bytes. Raises :class:`ManifestError`."""
    try:
        return _header.decode(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{place}: the snapshot's header is broken: {error}", "take the snapshot again") from error
