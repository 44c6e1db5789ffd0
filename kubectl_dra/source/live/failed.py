"""Pods that have failed. Lists of all pods leave them out, as they take nothing; why they failed may explain others."""

from __future__ import annotations

from kubectl_dra.api.kinds import POD
from kubectl_dra.model.core import Pod
from kubectl_dra.source.live.listing import take_list
from kubectl_dra.source.live.session import open_session
from kubectl_dra.source.spec import Connection


def read_failed(connection: Connection, namespace: str) -> tuple[Pod, ...]:
    """Those of a namespace (empty: of all). Raises ``ClusterError``."""
    session = open_session(connection)
    try:
        found = take_list(session, POD, POD.api_version, namespace=namespace, field_selector="status.phase=Failed")
    finally:
        session.close()
    return tuple(each for each in found.sink.kept if isinstance(each, Pod))
