"""What views can ask for: each query is one report of ``reports``, computed by the worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import NotFound, diagnoser
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.resource import Device, ResourceSlice
from kubectl_dra.output.devices.parts import STATE_WORDS
from kubectl_dra.reports.claims.claim import ClaimReport, claim_report
from kubectl_dra.reports.claims.claim_list import ClaimRow, claim_rows
from kubectl_dra.reports.claims.health import health_by_device
from kubectl_dra.reports.devices.class_list import ClassRow, class_rows
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.open_pool import PoolFacts, open_pool
from kubectl_dra.reports.devices.pool import (
    PoolReport,
    PoolSummary,
    device_records,
    pool_report,
    pool_scope,
    pool_summaries,
)
from kubectl_dra.reports.groups.group_state import GroupRow, group_rows
from kubectl_dra.reports.groups.groups import GroupAnswer, group_answer
from kubectl_dra.reports.matching import MatchingDevices, matching_devices
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport, claim_pending_report, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.recent import Change, recent_changes
from kubectl_dra.reports.scope import device_scope, usable_on
from kubectl_dra.reports.selector import SelectorReport, expression_question, selector_report
from kubectl_dra.reports.selector.known import KnownSelector, known_selectors
from kubectl_dra.reports.selector.scoping import all_devices, value_index
from kubectl_dra.reports.taints.taint_list import ListedTaint, TaintRow, listed_taints, taint_rows
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.selectors.completion import Completion, NamedValue, completions, name_at, named_values
from kubectl_dra.selectors.values import Distribution
from kubectl_dra.tui.whole import WholeRecord, whole_record


@dataclass(frozen=True, slots=True)
class Pools:
    def compute(self, cluster: ClusterState) -> tuple[PoolSummary, ...]:
        return pool_summaries(cluster)


@dataclass(frozen=True, slots=True)
class Whole:
    """All pools together, for the overview."""

    def compute(self, cluster: ClusterState) -> WholeRecord:
        """By driver, with the totals and what can't be allocated from."""
        return whole_record(pool_summaries(cluster), top_report(cluster, By.NAMESPACES, "").idle)


@dataclass(frozen=True, slots=True)
class Pool:
    id: PoolId

    def compute(self, cluster: ClusterState) -> PoolReport | None:
        return pool_report(self.id, cluster) if self.id in cluster.inventory.slices_by_pool else None


class DeviceRow(msgspec.Struct, gc=False):
    """A device whose record is made only when it is looked at: a list may have 80,000 of them.

    ``text`` is what filters look through, in lower case: made when somebody filters, and dropped when nobody does any
    more. Not watched for cycles, of which there are none, and without the facts, so that a row that has not changed
    keeps no old ones.
    """

    pool: PoolId
    slice: ResourceSlice
    device: Device
    state: DeviceState
    made_text: str = ""

    @property
    def id(self) -> DeviceId:
        return DeviceId(*self.pool, self.device.name)

    @property
    def text(self) -> str:
        """The id, the state's word, all values."""
        text = self.made_text
        if not text:
            values = [attribute_text(attribute) for attribute in self.device.attributes.values()]
            values += [str(capacity.value) for capacity in self.device.capacity.values()]
            text = self.made_text = f"{self.id} {STATE_WORDS[self.state]} {' '.join(values)}".casefold()
        return text

    def listed(self, facts: ClusterState) -> ListedDevice:
        opened = open_pool(self.pool, facts)
        scope = pool_scope(opened)
        record = device_records(opened, scope, [(self.slice, self.device)])[0]
        return ListedDevice(self.pool.driver, self.pool.pool, record.scope or scope, record)


@dataclass(frozen=True, slots=True)
class DevicesQuery:
    """The devices of one pool or of all, of one node or of all, of a given set or all."""

    pool: PoolId | None = None
    node: str = ""
    among: frozenset[DeviceId] | None = None

    def compute(self, cluster: ClusterState) -> tuple[DeviceRow, ...]:
        pools = [self.pool] if self.pool is not None else cluster.pools
        opened = (open_pool(pool, cluster) for pool in pools if pool in cluster.inventory.slices_by_pool)
        rows = tuple(row for pool in opened for row in self._chosen(pool))
        # Records of rows are made where there is no time for that.
        _ = cluster.inventory.holdings_by_device, cluster.inventory.pods_by_uid, health_by_device(cluster)
        return rows

    def _chosen(self, opened: PoolFacts) -> Sequence[DeviceRow]:
        rows, facts = opened.once("rows", _rows), opened.facts
        if self.among is not None:
            among = self.among
            rows = [row for row in rows if row.id in among]
        if self.node:
            rows = [row for row in rows if usable_on(self.node, device_scope(row.device, row.slice, facts), facts)]
        return rows


def _rows(opened: PoolFacts) -> Sequence[DeviceRow]:
    return tuple(DeviceRow(opened.id, each.slice, each.device, each.state) for each in opened.standings())


@dataclass(frozen=True, slots=True)
class MatchingQuery:
    """The devices that a CEL expression matches."""

    expression: str

    def compute(self, cluster: ClusterState) -> MatchingDevices:
        return matching_devices(self.expression, cluster)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of one namespace, or all."""

    namespace: str = ""

    def compute(self, cluster: ClusterState) -> tuple[ClaimRow, ...]:
        claims = cluster.inventory.claims
        chosen = (claim for key, claim in claims.items() if self.namespace in ("", key.namespace))
        return claim_rows(chosen, cluster)


@dataclass(frozen=True, slots=True)
class ClaimCounts:
    def compute(self, cluster: ClusterState) -> Mapping[str, int]:
        return Counter(key.namespace for key in cluster.inventory.claims)


@dataclass(frozen=True, slots=True)
class ClaimQuery:
    """One claim: what it is, and why it hangs."""

    key: Key

    def compute(self, cluster: ClusterState) -> tuple[ClaimReport, ClaimPendingReport] | None:
        claim = cluster.inventory.claims.get(self.key)
        if claim is None:
            return None
        diagnosis = diagnoser(cluster).claim(self.key)
        pending = claim_pending_report(diagnosis, cluster)
        return claim_report(claim, cluster), pending


@dataclass(frozen=True, slots=True)
class Classes:
    def compute(self, cluster: ClusterState) -> tuple[ClassRow, ...]:
        return class_rows(cluster.inventory.classes.values(), cluster)


@dataclass(frozen=True, slots=True)
class Groups:
    def compute(self, cluster: ClusterState) -> tuple[GroupRow, ...]:
        return group_rows(cluster.inventory.groups.pod_groups.values(), cluster)


@dataclass(frozen=True, slots=True)
class GroupQuery:
    """Why one PodGroup waits; ``remedies``: with ways out, which takes longer."""

    key: Key
    remedies: bool = False

    def compute(self, cluster: ClusterState) -> GroupAnswer | None:
        return self.compute_with(cluster, None)

    def compute_with(self, cluster: ClusterState, read_owner: ReadOwner | None) -> GroupAnswer | None:
        """The same with owners of its pods."""
        try:
            return group_answer(diagnoser(cluster), self.key, remedies=self.remedies, read_owner=read_owner)
        except NotFound:
            return None


@dataclass(frozen=True, slots=True)
class Taints:
    """All taint rules and taints of drivers."""

    def compute(self, cluster: ClusterState) -> tuple[TaintRow, ...]:
        return taint_rows(cluster)


@dataclass(frozen=True, slots=True)
class ListedTaints:
    """The same with everybody whom they hit."""

    def compute(self, cluster: ClusterState) -> tuple[ListedTaint, ...]:
        return listed_taints(cluster)


@dataclass(frozen=True, slots=True)
class Recent:
    def compute(self, cluster: ClusterState) -> tuple[Change, ...]:
        return recent_changes(cluster)


@dataclass(frozen=True, slots=True)
class PendingPods:
    def compute(self, cluster: ClusterState) -> tuple[Key, ...]:
        return pending_pods(cluster)


@dataclass(frozen=True, slots=True)
class PodQuery:
    """Why one pod waits; ``remedies`` are tried only for the pod that is looked at."""

    key: Key
    remedies: bool = False

    def compute(self, cluster: ClusterState) -> PendingReport | None:
        return self.compute_with(cluster, None)

    def compute_with(self, cluster: ClusterState, read_owner: ReadOwner | None) -> PendingReport | None:
        """The same with owners of the pods that ways out are about."""
        try:
            diagnosis = diagnoser(cluster).pod(self.key)
        except NotFound:
            return None
        ways = find_remedies(cluster, diagnosis, read_owner=read_owner) if self.remedies else None
        return pending_report(diagnosis, cluster, ways=ways, read_owner=read_owner)


# --- selector lab -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tried:
    """An expression on all devices, behind a class or alone."""

    expression: str
    device_class: str | None

    def compute(self, cluster: ClusterState) -> SelectorReport:
        return selector_report(expression_question(self.expression, self.device_class), all_devices(cluster))


@dataclass(frozen=True, slots=True)
class Completions:
    """What may come next in an expression, and the values of the attribute at the cursor."""

    source: str
    cursor: int

    def compute(self, cluster: ClusterState) -> tuple[tuple[Completion, ...], Distribution | None]:
        catalog, values = all_devices(cluster).catalog, value_index(cluster)
        name = name_at(self.source, self.cursor, catalog)
        found = completions(self.source, self.cursor, catalog, values)
        return found, values.distribution(name) if name is not None else None


@dataclass(frozen=True, slots=True)
class Known:
    """The selectors of classes, claims and templates."""

    def compute(self, cluster: ClusterState) -> tuple[KnownSelector, ...]:
        return known_selectors(cluster.inventory)


@dataclass(frozen=True, slots=True)
class Named:
    """The attributes and capacities that devices have."""

    def compute(self, cluster: ClusterState) -> tuple[NamedValue, ...]:
        """By domain, the most frequent first."""
        return named_values(all_devices(cluster).catalog)
