"""Pods, their claims, the devices of those and their nodes in one indented list: filter and save work as in others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.reports.claims.claim_list import printed_state
from kubectl_dra.reports.scope import device_scope
from kubectl_dra.reports.unread import PENDING_PODS
from kubectl_dra.tui.columns import Column
from kubectl_dra.tui.list_view import ListView

#: What is said of an object that may be there all the same.
_NOT_READ: Final = "not read"


@dataclass(frozen=True, slots=True)
class Twig:
    """A line: what it is, its name, what is said of it; ``path`` are the names above it and its own.

    ``open_above`` says of each level above its own, and then of its own, whether another line follows on that level.
    """

    type: str
    of: Key | DeviceId | str
    path: tuple[str, ...]
    state: str = ""
    open_above: tuple[bool, ...] = ()
    children: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """The pods of one or all namespaces, or one pod, each with its claims and devices."""

    namespace: str = ""
    pod: Key | None = None

    def compute(self, cluster: ClusterState) -> tuple[Twig, ...]:
        """Pods with claims by name; then claims that no pod names."""
        return tuple(_drawn(list(self._twigs(cluster))))

    def _twigs(self, cluster: ClusterState) -> Iterator[Twig]:
        inventory = cluster.inventory
        claims_of: dict[Key, list[Key]] = {}
        for claim, pods in inventory.pods_by_claim.items():
            for pod in pods:
                claims_of.setdefault(Key(pod.metadata.namespace, pod.metadata.name), []).append(claim)
        for key in sorted(claims_of):
            if self.pod not in (None, key) or self.namespace not in ("", key.namespace):
                continue
            yield Twig("pod", key, (str(key),), inventory.pods[key].status.phase.lower())
            for claim in sorted(claims_of[key]):
                yield from _claim(cluster, claim, (str(key),))
        if self.pod is None:
            for claim in sorted(inventory.claims.keys() - inventory.pods_by_claim.keys()):
                if self.namespace in ("", claim.namespace):
                    yield from _claim(cluster, claim, ())


def _drawn(twigs: Sequence[Twig]) -> list[Twig]:
    """With what the lines of the tree look like, found from below: what follows decides."""
    follows: list[bool] = []
    children = [0]
    found = []
    for twig in reversed(twigs):
        depth = len(twig.path) - 1
        follows = [*follows, *[False] * (depth + 1 - len(follows))]
        children = [*children, *[0] * (depth + 2 - len(children))]
        found.append(replace(twig, open_above=tuple(follows[1 : depth + 1]), children=children[depth + 1]))
        children[depth] += 1
        follows, children = [*follows[:depth], True], [*children[: depth + 1], 0]
    return found[::-1]


def _claim(cluster: ClusterState, key: Key, above: tuple[str, ...]) -> Iterator[Twig]:
    claim = cluster.inventory.claims.get(key)
    path = (*above, str(key))
    absent = "does not exist" if cluster.evidence.complete("ResourceClaim", key.namespace) else _NOT_READ
    yield Twig("claim", key, path, printed_state(claim) if claim is not None else absent)
    allocation = claim.status.allocation if claim is not None else None
    for result in allocation.devices.results if allocation is not None else ():
        device = DeviceId(result.driver, result.pool, result.device)
        yield Twig("device", device, (*path, str(device)), "admin access" if result.admin_access else "")
        for slice_, own in cluster.inventory.named(device):
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
        self._folded: frozenset[tuple[str, ...]] = frozenset()
        super().__init__()
        self.grid.sideways = self._fold

    @property
    def asked(self) -> Tree:
        return Tree(self.dra.namespace if self._pod is None else "", self._pod)

    def queries(self) -> Sequence[Tree]:
        return (self.asked,)

    def columns(self) -> Sequence[Column[Twig]]:
        return [
            Column("POD › CLAIM › DEVICE › NODE", self._label, least=32),
            Column("STATE", lambda t: styled(safe(t.state), _style(t)), least=8),
        ]

    def identity(self, row: Twig) -> tuple[str, ...]:
        return (row.type, *row.path)

    def named_by(self, row: Twig) -> Hashable:
        return row.of

    def text_of(self, row: Twig) -> str:
        """Everything on the way to it: what belongs to a name that the filter matches is shown with it."""
        return f"{' '.join(row.path)} {row.type} {row.state}"

    # --- folding ----------------------------------------------------------------------------------------------------

    @property
    def manner(self) -> tuple[object, ...]:
        return *super().manner, self._folded

    def filtered(self, rows: Sequence[Twig]) -> Sequence[Twig]:
        """What the filter keeps with everything above it; else all that is not folded away."""
        kept = super().filtered(rows)
        if kept is not rows:
            above = {twig.path[:depth] for twig in kept for depth in range(1, len(twig.path) + 1)}
            return _drawn([twig for twig in rows if twig.path in above])
        if not self._folded:
            return rows
        return [
            twig for twig in rows if not any(twig.path[:depth] in self._folded for depth in range(1, len(twig.path)))
        ]

    def do_fold(self) -> None:
        row = self.grid.selected
        if row is None or not row.children:
            self.dra.say(Safe("there is nothing below this line"))
        elif row.path in self._folded:
            self._set_folded(self._folded - {row.path})
        else:
            self._set_folded(self._folded | {row.path})

    def do_fold_all(self) -> None:
        rows = self.all_rows() or ()
        every = frozenset(twig.path for twig in rows if twig.children and len(twig.path) == 1)
        self._set_folded(frozenset() if self._folded else every)

    def _fold(self, where: str) -> bool:
        """Left folds, and goes up from what is folded or has nothing below it; right unfolds, and goes in."""
        row = self.grid.selected
        if row is None:
            return True
        is_open = bool(row.children) and row.path not in self._folded
        if where == "right" and row.path in self._folded:
            self._set_folded(self._folded - {row.path})
        elif where == "right" and is_open:
            self.grid.action_move("down")
        elif where == "left" and is_open:
            self._set_folded(self._folded | {row.path})
        elif where == "left":
            self.grid.select(lambda twig: twig.path == row.path[:-1])
        return True

    def _set_folded(self, folded: frozenset[tuple[str, ...]]) -> None:
        self._folded = folded
        self.show()

    # --- actions ----------------------------------------------------------------------------------------------------

    def is_fault(self, row: Twig) -> bool:
        return row.state in _ATTENTION

    describes_row = True

    def do_describe(self) -> None:
        self.do_open()

    def opened(self, row: Twig) -> None:
        self.dra.open_named(row.of, row.type)

    def _label(self, row: Twig) -> Safe:
        hidden = row.path in self._folded and not self.filter and not self.faults_only
        more = styled(fmt(" ▸ {}", row.children), Style.NAME) if hidden else Safe("")
        lead = styled(_branch(row) + fmt("{} ", Safe(row.type)), Style.DIM)
        return lead + safe(row.path[-1]) + more


def _branch(row: Twig) -> Safe:
    """``│  └─``."""
    if not row.open_above:
        return Safe("")
    above = Safe("").join(Safe("│  " if follows else "   ") for follows in row.open_above[:-1])
    return above + Safe("├─ " if row.open_above[-1] else "└─ ")


_ATTENTION: Final = ("pending", "does not exist", "gone", _NOT_READ)


def _style(row: Twig) -> Style:
    return Style.WARN if row.state in _ATTENTION else Style.DIM
