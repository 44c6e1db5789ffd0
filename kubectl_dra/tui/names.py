"""Names that commands can take: what the command line completes, and what pickers list. Unescaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kubectl_dra.reports.find import devices_of, pool_names

if TYPE_CHECKING:
    from kubectl_dra.cluster import ClusterState
    from kubectl_dra.tui.shell import Shell

_EFFECTS = ("NoSchedule", "NoExecute")


class Names:
    """Reads the newest facts of the app; lists are made once per state, when somebody asks for them."""

    def __init__(self, app: Shell) -> None:
        self._app = app
        self._made: dict[str, Sequence[str]] = {}
        self._of: ClusterState | None = None

    def namespaces(self) -> Sequence[str]:
        """Those in which there is a claim or a pod."""
        return self._list("ns", _namespaces)

    def contexts(self) -> Sequence[str]:
        """Those of the kubeconfig."""
        return self._app.settings.contexts()

    def after(self, words: Sequence[str]) -> Iterable[str]:
        """What may be the next word of a command line that begins with ``words``."""
        match list(words):
            case ["ns"]:
                return self.namespaces()
            case ["ctx"]:
                return self.contexts()
            case ["pool"]:
                return self._list("pool", pool_names)
            case ["claim"]:
                return self._list("claim", lambda cluster: sorted(map(str, cluster.inventory.claims)))
            case ["pod"]:
                return sorted(map(str, self._app.pending_keys()))
            case ["taint"]:
                return self._list("device", _devices)
            case ["taint", *_]:
                return self._list("taint", _taints)
        return ()

    def _list(self, name: str, make: Callable[[ClusterState], Sequence[str]]) -> Sequence[str]:
        cluster = self._app.cluster
        if cluster is None:
            return ()
        if self._of is not cluster:
            self._of = cluster
            self._made.clear()
        if name not in self._made:
            self._made[name] = make(cluster)
        return self._made[name]


def _namespaces(cluster: ClusterState) -> Sequence[str]:
    inventory = cluster.inventory
    return sorted({key.namespace for key in (*inventory.claims, *inventory.pods)})


def _devices(cluster: ClusterState) -> Sequence[str]:
    facts = cluster
    return [str(device) for pool in facts.pools for device in devices_of(pool, facts)]


def _taints(cluster: ClusterState) -> Sequence[str]:
    """Keys that are in use, with both effects."""
    rules = {rule.spec.taint.key for rule in cluster.inventory.taint_rules.values()}
    return [f"{key}:{effect}" for key in sorted(rules) for effect in _EFFECTS]
