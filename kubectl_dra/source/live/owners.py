"""Owners of pods, read one by one by what names them: a cluster has more ReplicaSets than anybody asks about."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from kubectl_dra.api.controllers import decode_owner, plural_of
from kubectl_dra.api.decode import DecodeError
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.names import is_label, is_subdomain
from kubectl_dra.model.workloads import WorkloadObject
from kubectl_dra.source.live.errors import NotServedError
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.spec import Connection

_VERSION: Final = re.compile(r"([a-z0-9.-]+/)?v[0-9]+((alpha|beta)[0-9]+)?")


class OwnerReader:
    """Gets owners over a connection of its own, which is opened with the first one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session: Session | None = None

    def get(self, namespace: str, reference: OwnerReference) -> WorkloadObject | None:
        """An owner; None where there is none, or its kind is not known.

        Raises ``ClusterError``; a ``ForbiddenError`` where it may not be read.
        """
        plural = plural_of(reference.api_version, reference.kind)
        named = is_label(namespace) and is_subdomain(reference.name)
        if not (plural and named and _VERSION.fullmatch(reference.api_version)):
            return None
        if self._session is None:
            self._session = open_session(self._connection)
        prefix = "apis" if "/" in reference.api_version else "api"
        path = f"/{prefix}/{reference.api_version}/namespaces/{namespace}/{plural}/{quote(reference.name, safe='')}"
        try:
            data = self._session.get(path, f"get {reference.kind} {namespace}/{reference.name}")
            return decode_owner(data, reference)
        except (NotServedError, DecodeError):
            return None

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
