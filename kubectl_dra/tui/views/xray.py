"""Pods, their claims, the devices of those and their nodes in one indented list: filter and save work as in others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.lifecycle import printed_state
from kubectl_dra.reports.scope import device_scope
from kubectl_dra.reports.unread import PENDING_PODS
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.view import Subject


@dataclass(frozen=True, slots=True)
class Twig:
    """A line: what it is, its name, what is said of it; ``path`` are the names above it and its own."""

    type: str
    of: Key | DeviceId | str
    path: tuple[str, ...]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """The pods of one or all namespaces, or one pod, each with its claims and devices."""

    namespace: str = ""
    pod: Key | None = None

    def compute(self, cluster: ClusterState) -> tuple[Twig, ...]:
        """Pods with claims by name; then claims that no pod names."""
        return tuple(self._twigs(cluster))

    def _twigs(self, cluster: ClusterState) -> Iterator[Twig]:
        inventory = cluster.inventory
        claims_of: dict[Key, list[Key]] = {}
        for claim, pods in inventory.pods_by_claim.items():
            for pod in pods:
                claims_of.setdefault(Key(pod.metadata.namespace, pod.metadata.name), []).append(claim)
        for key in sorted(claims_of):
            if self.pod not in (None, key) or self.namespace not in ("", key.namespace):
                continue
            pod_now = inventory.pods.get(key)
            phase = pod_now.status.phase if pod_now is not None else "gone"
            yield Twig("pod", key, (str(key),), phase.lower())
            for claim in sorted(claims_of[key]):
                yield from _claim(cluster, claim, (str(key),))
        if self.pod is None:
            for claim in sorted(inventory.claims.keys() - inventory.pods_by_claim.keys()):
                if self.namespace in ("", claim.namespace):
                    yield from _claim(cluster, claim, ())


def _claim(cluster: ClusterState, key: Key, above: tuple[str, ...]) -> Iterator[Twig]:
    claim = cluster.inventory.claims.get(key)
    path = (*above, str(key))
    yield Twig("claim", key, path, printed_state(claim) if claim is not None else "does not exist")
    allocation = claim.status.allocation if claim is not None else None
    for result in allocation.devices.results if allocation is not None else ():
        device = DeviceId(result.driver, result.pool, result.device)
        yield Twig("device", device, (*path, str(device)), "admin access" if result.admin_access else "")
        published = ((s, d) for s in cluster.newest(device.pool_id) for d in s.spec.devices if d.name == device.device)
        for slice_, own in published:
            node = device_scope(own, slice_, cluster).node
            if node:
                yield Twig("node", node, (*path, str(device), node))


class XrayView(ListView[Twig]):
    """The tree of the namespaces in view; ``pod``: of one pod."""

    crumb = Safe("tree")
    nothing = Safe("No pod has claims, and there are no claims.")
    about = PENDING_PODS

    def __init__(self, pod: Key | None = None) -> None:
        self._pod = pod
        super().__init__()

    @property
    def asked(self) -> Tree:
        """What the list is made of."""
        return Tree(self.dra.namespace if self._pod is None else "", self._pod)

    def queries(self) -> Sequence[Tree]:
        """The one tree."""
        return (self.asked,)

    def columns(self) -> Sequence[Column[Twig]]:
        """Indented names, and what is said of each."""
        return [
            Column("POD › CLAIM › DEVICE › NODE", _name, least=32),
            Column("STATE", lambda t: styled(safe(t.state), _style(t)), least=8),
        ]

    def all_rows(self) -> Sequence[Twig] | None:
        """In the order of the tree."""
        return self.worker.record(self.asked)

    def identity(self, row: Twig) -> tuple[str, ...]:
        """The path."""
        return (row.type, *row.path)

    def text_of(self, row: Twig) -> str:
        """Everything on the way to it: what belongs to a name that the filter matches is shown with it."""
        return f"{' '.join(row.path)} {row.type} {row.state}"

    def opened(self, row: Twig) -> None:
        """Its own page."""
        match row.of:
            case DeviceId():
                self.dra.open_devices(frozenset({row.of}), fmt("device {}", row.of.device))
            case Key() if row.type == "pod":
                self.dra.open_pod(row.of)
            case Key():
                self.dra.open_claim(row.of)
            case str():
                self.dra.open_node(row.of)

    @property
    def subject(self) -> Subject | None:
        """The name under the cursor."""
        row = self.grid.selected
        return Subject(str(row.of), lambda: None) if row is not None else None


def _name(row: Twig) -> Safe:
    depth = len(row.path) - 1
    branch = Safe("   " * (depth - 1) + "└─ ") if depth else Safe("")
    return styled(branch, Style.DIM) + styled(fmt("{} ", Safe(row.type)), Style.DIM) + safe(row.path[-1])


def _style(row: Twig) -> Style:
    return Style.WARN if row.state in ("pending", "does not exist", "gone") else Style.DIM
