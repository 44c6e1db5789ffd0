"""Pods that lists of all pods leave out, and that may explain others: failed ones, which take nothing, and drivers'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial

from kubectl_dra.api.kinds import POD
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.source.live.listing import KeepAll, take_list
from kubectl_dra.source.live.session import open_session
from kubectl_dra.source.spec import Connection


class _Those(KeepAll):
    """Keeps the pods that are ``wanted``: evicted ones stay in a cluster by the thousand."""

    def __init__(self, wanted: Callable[[Pod], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def add(self, records: Iterable[Record]) -> None:
        self.kept += [each for each in records if isinstance(each, Pod) and self._wanted(each)]


def read_failed(connection: Connection, namespace: str, wanted: Callable[[Pod], bool]) -> list[Pod]:
    """Those of a namespace (empty: of all) that are ``wanted``. Raises ``ClusterError``."""
    return read_pods(connection, namespace, wanted, "status.phase=Failed")


def read_pods(connection: Connection, namespace: str, wanted: Callable[[Pod], bool], fields: str = "") -> list[Pod]:
    """Pods in any phase, sifted while they are read; ``fields``: the field selector. Raises ``ClusterError``."""
    with closing(open_session(connection)) as session:
        found = take_list(session, POD, POD.api_version, partial(_Those, wanted), namespace, fields)
    return [each for each in found.sink.kept if isinstance(each, Pod)]
