"""Objects by their names alone, in whatever namespace they are: what is called like something that is looked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress

from kubectl_dra.api.kinds import Kind
from kubectl_dra.model.base import Record
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.discovery import discover
from kubectl_dra.source.live.listing import take_list
from kubectl_dra.source.live.session import open_session
from kubectl_dra.source.spec import Connection


def read_called(connection: Connection, wanted: Sequence[tuple[Kind, str]]) -> list[tuple[Kind, Record]]:
    """Those of these kinds and names that may be listed. Raises ``ClusterError`` where nothing can be asked."""
    found = list[tuple[Kind, Record]]()
    with closing(open_session(connection)) as session:
        served = discover(session, [kind for kind, _ in wanted]).api_versions
        for kind, name in wanted:
            with suppress(ClusterError):
                version = served.get(kind.name, kind.api_version)
                listed = take_list(session, kind, version, field_selector=f"metadata.name={name}")
                found += [(kind, each) for each in listed.sink.kept]
    return found
