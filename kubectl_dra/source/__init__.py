"""Where bytes come from: a live cluster, a file or stdin, or the built-in demo.

Decoding rules live in ``api``. :func:`load` is the facade; the live source is imported only when it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubectl_dra.model.invocation import CommandLine
from kubectl_dra.model.names import DEFAULT_NAMESPACE
from kubectl_dra.source.errors import InvalidNameError
from kubectl_dra.source.spec import DEMO, SourceSpec

if TYPE_CHECKING:
    # Whoever only needs the errors of this package should not pay for the model.
    from kubectl_dra.model.evidence import Evidence
    from kubectl_dra.model.inventory import Inventory


def load(spec: SourceSpec) -> tuple[Inventory, Evidence]:
    """Everything that ``spec`` names. Raises :class:`~kubectl_dra.source.errors.SourceError`."""
    if spec.file is None:
        from kubectl_dra.source import live  # the kubernetes package is heavy

        return live.load(spec)
    inventory, evidence = _load_file(spec)
    recorded = evidence.address
    address = replace(spec.connection.address, context=recorded.context, server=recorded.server)
    return inventory, replace(evidence, address=address)


def _load_file(spec: SourceSpec) -> tuple[Inventory, Evidence]:
    if spec.file == DEMO:
        from kubectl_dra.source.demo import load_demo

        return load_demo()
    from kubectl_dra.source.file import load_files

    # Who needs no kind in particular writes all of it down again.
    return load_files((spec.file or "", *spec.more_files), spec.max_bytes, spec.told, whole=not spec.needs.kinds)


def current_namespace(spec: SourceSpec) -> str:
    """The namespace that counts when none is asked for: the kubeconfig context's, ``default`` for files.

    Raises ``InvalidNameError`` where the one that is asked for, or the context's, can't be one of a live cluster.
    """
    if spec.file is not None:
        return spec.namespace or DEFAULT_NAMESPACE
    if spec.namespace:
        return _checked(spec.namespace)
    from kubectl_dra.source import live

    return live.current_namespace(spec.connection)


def _checked(namespace: str) -> str:
    from kubectl_dra.model.names import LABEL_RULE, is_label

    if not is_label(namespace):
        raise InvalidNameError(
            f'"{namespace}" is not a valid namespace name: {LABEL_RULE}', CommandLine(("kubectl", "get", "namespaces"))
        )
    return namespace
