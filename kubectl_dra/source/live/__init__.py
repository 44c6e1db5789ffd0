"""The live cluster: kubeconfig and login, requests, discovery, lists; everything that needs the kubernetes package.

Decoding lives in ``api``. What is refused becomes evidence, and so does a list that fails beside others; what fails as
a whole is raised as :class:`~kubectl_dra.source.errors.ClusterError`.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.live.kubeconfig import current_namespace
from kubectl_dra.source.live.read import read as _read
from kubectl_dra.source.live.session import Session, open_session
from kubectl_dra.source.needs import Needs
from kubectl_dra.source.spec import Connection, SourceSpec, Told

__all__ = ["Needs", "Session", "current_namespace", "load", "needs_of", "open_session", "read"]


def load(spec: SourceSpec) -> tuple[Inventory, Evidence]:
    """What ``spec`` asks for. Raises ``ClusterError``."""
    return read(spec.connection, needs_of(spec), spec.told)


def read(connection: Connection, needs: Needs, told: Told | None = None) -> tuple[Inventory, Evidence]:
    """What ``needs`` names, over a connection of its own. Raises ``ClusterError``.

    ``told`` is called when the server answers.
    """
    with closing(open_session(connection)) as session:
        return _read(session, needs, told)


def needs_of(spec: SourceSpec) -> Needs:
    """The needs of a source; without kinds everything is read, finished pods included."""
    if spec.all_namespaces:
        namespaces: tuple[str, ...] = ()
    else:
        own = spec.namespace or current_namespace(spec.connection)
        namespaces = (own, *sorted({*spec.needs.namespaces} - {own}))
    return replace(spec.needs, namespaces=namespaces, all_pods=not spec.needs.kinds)
