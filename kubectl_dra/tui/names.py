"""Names that commands can take: what the command line completes, and what pickers list. Unescaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kubectl_dra.cluster import ClusterState, derived
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.reports.find import devices_of, pool_names
from kubectl_dra.reports.switches import OPTIONS
from kubectl_dra.reports.top import By
from kubectl_dra.tui.typed_words import SUPPOSED

if TYPE_CHECKING:
    from kubectl_dra.tui.shell import Shell


class CommandNames:
    """Reads the newest facts of the app; lists are made when somebody asks for them."""

    def __init__(self, app: Shell) -> None:
        self._app = app

    def namespaces(self) -> Sequence[str]:
        return self._list(_namespaces)

    def contexts(self) -> Sequence[str]:
        return self._app.settings.contexts()

    def after(self, words: Sequence[str]) -> Iterable[str]:
        """What may be the next word of a command line that begins with ``words``."""
        match list(words):
            case ["ns"] | [*_, "-n" | "--namespace"]:
                return self.namespaces()
            case ["ctx"]:
                return self.contexts()
            case ["pool"]:
                return self._list(_pools)
            case ["node" | "nodes" | "describe-node"]:
                return self._list(_nodes)
            case ["claim"]:
                return self._list(_claims)
            case ["reasons" | "explain"]:
                return [code.value for code in Code]
            case ["shape"]:
                return self._list(lambda cluster: sorted(cluster.inventory.classes))
            case ["whatif" | "simulate"]:
                return sorted(OPTIONS)
            case ["whatif" | "simulate", option]:
                return self._supposed(option)
            case [option] if option in SUPPOSED:
                return self._supposed(option)
            case ["top"]:
                return [by.value for by in By]
            case ["pod"]:
                return sorted(map(str, self._app.pending_keys()))
            case ["taint"]:
                return self._list(_devices)
            case ["taint", *_]:
                return self._list(_taints)
        return ()

    def _supposed(self, option: str) -> Sequence[str]:
        """What an option of ``:whatif`` can be about."""
        match option.removeprefix("--"):
            case "drain" | "remove-node":
                return self._list(_nodes)
            case "add-node":
                return [f"like={name}" for name in self._list(_nodes)]
            case "add-devices":
                return [f"like={name}" for name in self._list(_devices)]
        return ()

    def _list(self, make: Callable[[ClusterState], Sequence[str]]) -> Sequence[str]:
        return make(self._app.cluster) if self._app.cluster is not None else ()


@derived("claims", "pods")
def _namespaces(cluster: ClusterState) -> Sequence[str]:
    inventory = cluster.inventory
    return sorted({key.namespace for key in (*inventory.claims, *inventory.pods)})


@derived("nodes")
def _nodes(cluster: ClusterState) -> Sequence[str]:
    return sorted(cluster.inventory.nodes)


@derived("slices")
def _pools(cluster: ClusterState) -> Sequence[str]:
    return pool_names(cluster)


@derived("claims")
def _claims(cluster: ClusterState) -> Sequence[str]:
    return sorted(map(str, cluster.inventory.claims))


@derived("slices")
def _devices(cluster: ClusterState) -> Sequence[str]:
    return [str(device) for pool in cluster.pools for device in devices_of(pool, cluster)]


@derived("taint_rules")
def _taints(cluster: ClusterState) -> Sequence[str]:
    """Keys that are in use, with both effects."""
    rules = {rule.spec.taint.key for rule in cluster.inventory.taint_rules.values()}
    return [f"{key}:{effect}" for key in sorted(rules) for effect in PREVENTING]
