"""What views can ask for: each query is one report of ``reports``, computed by the worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.elsewhere import is_held_by_queue
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod.diagnose import NotFound, diagnoser
from kubectl_dra.model.attributes import attribute_text
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.resource import Device, ResourceSlice
from kubectl_dra.output.devices.parts import STATE_WORDS
from kubectl_dra.reports.claims.claim import ClaimReport, claim_report
from kubectl_dra.reports.claims.claim_list import ClaimRow, claim_rows
from kubectl_dra.reports.claims.health import health_by_device
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.device_list import ListedDevice
from kubectl_dra.reports.devices.device_state import DeviceState
from kubectl_dra.reports.devices.nodes import NodeReport, known_nodes, node_report
from kubectl_dra.reports.devices.open_pool import ListedState, PoolFacts, open_pool
from kubectl_dra.reports.devices.pool import (
    PoolReport,
    device_records,
    pool_report,
    pool_scope,
    pool_summaries,
)
from kubectl_dra.reports.groups.group_state import GroupRow, group_rows
from kubectl_dra.reports.groups.groups import GroupAnswer, group_answer
from kubectl_dra.reports.matching import MatchingDevices, matching_devices
from kubectl_dra.reports.pending.kept_off_drivers import has_nothing, is_about_drivers
from kubectl_dra.reports.pending.lingering import overdue_pods
from kubectl_dra.reports.pending.pending import ClaimPendingReport, PendingReport, claim_pending_report, pending_report
from kubectl_dra.reports.pending.remedies import find_remedies
from kubectl_dra.reports.recent import Change, recent_changes
from kubectl_dra.reports.scope import device_scope, usable_on
from kubectl_dra.reports.selector import SelectorReport, expression_question, selector_report
from kubectl_dra.reports.selector.known import known_selectors
from kubectl_dra.reports.selector.scoping import all_devices, value_index
from kubectl_dra.reports.taints.taint_list import listed_taints, taint_rows
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.selectors.completion import Completion, completions, name_at, named_values
from kubectl_dra.selectors.values import Distribution
from kubectl_dra.tui.on_demand import NOTHING_MORE, OnDemand
from kubectl_dra.tui.whole import whole_record

RecordT = TypeVar("RecordT")


@dataclass(frozen=True, slots=True)
class Report(Generic[RecordT]):
    """A report about the whole cluster, of which nothing is chosen."""

    make: Callable[[ClusterState], RecordT]

    def compute(self, cluster: ClusterState) -> RecordT:
        return self.make(cluster)


ALL_POOLS: Final = Report(pool_summaries)
#: All pools together, for the overview.
WHOLE: Final = Report(lambda state: whole_record(pool_summaries(state), top_report(state, By.NAMESPACES, "").idle))
CLAIM_COUNTS: Final = Report(lambda state: Counter(key.namespace for key in state.inventory.claims))
ALL_CLASSES: Final = Report(lambda state: class_rows(state.inventory.classes.values(), state))
#: All taint rules and taints of drivers.
ALL_TAINTS: Final = Report(taint_rows)
#: The same with everybody whom they hit.
LISTED_TAINTS: Final = Report(listed_taints)
PENDING_KEYS: Final = Report(pending_pods)
#: Pods that should have ended and hold devices.
OVERDUE: Final = Report(overdue_pods)
#: The selectors of classes, claims and templates.
KNOWN_SELECTORS: Final = Report(lambda state: known_selectors(state.inventory))
#: The attributes and capacities that devices have.
NAMED_VALUES: Final = Report(lambda state: named_values(all_devices(state).catalog))


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """The last changes in one namespace, or in all."""

    namespace: str = ""
    limit: int = 20

    def compute(self, cluster: ClusterState) -> tuple[Change, ...]:
        return recent_changes(cluster, self.limit, self.namespace)


@dataclass(frozen=True, slots=True)
class Pool:
    id: PoolId

    def compute(self, cluster: ClusterState) -> PoolReport | None:
        return pool_report(self.id, cluster) if self.id in cluster.inventory.slices_by_pool else None


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """One node: its state, its devices of all drivers, and why it has none."""

    name: str

    def compute(self, cluster: ClusterState) -> NodeReport | None:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> NodeReport | None:
        """The same with DaemonSets, where the node publishes nothing and its taint may be why."""
        if self.name not in known_nodes(cluster):
            return None
        node = cluster.inventory.nodes.get(self.name)
        wanted = node is not None and has_nothing(node, cluster)
        return node_report(self.name, reading.daemon_sets(cluster) if wanted else cluster)


class DeviceRow(msgspec.Struct, gc=False):
    """A device whose record is made only when it is looked at: a list may have 80,000 of them.

    ``text`` is what filters look through, in lower case: made when somebody filters, and dropped when nobody does any
    more. Not watched for cycles, of which there are none, and without the facts, so that a row that has not changed
    keeps no old ones.
    """

    pool: PoolId
    stands: ListedState
    made_text: str = ""

    @property
    def slice(self) -> ResourceSlice:
        return self.stands.slice

    @property
    def device(self) -> Device:
        return self.stands.device

    @property
    def state(self) -> DeviceState:
        return self.stands.state

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
            # Who looks for what is free can't use what is free on closed nodes.
            state = STATE_WORDS[self.state].removeprefix("free ")
            text = self.made_text = f"{self.id} {state} {' '.join(values)}".casefold()
        return text

    def listed(self, state: ClusterState) -> ListedDevice:
        opened = open_pool(self.pool, state)
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
        rows, facts = opened.once("rows", _rows), opened.state
        if self.among is not None:
            among = self.among
            rows = [row for row in rows if row.id in among]
        if self.node:
            rows = [row for row in rows if usable_on(self.node, device_scope(row.device, row.slice, facts), facts)]
        return rows


def _rows(opened: PoolFacts) -> Sequence[DeviceRow]:
    return tuple(DeviceRow(opened.id, each) for each in opened.listed_states())


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
class Groups:
    """The PodGroups of one namespace, or all."""

    namespace: str = ""

    def compute(self, cluster: ClusterState) -> tuple[GroupRow, ...]:
        groups = cluster.inventory.groups.pod_groups
        chosen = (group for key, group in groups.items() if self.namespace in ("", key.namespace))
        return tuple(group_rows(chosen, cluster))


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
class GroupQuery:
    """Why one PodGroup waits; ``remedies``: with ways out, which takes longer."""

    key: Key
    remedies: bool = False

    def compute(self, cluster: ClusterState) -> GroupAnswer | None:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> GroupAnswer | None:
        """The same with what is read for it."""
        try:
            return group_answer(diagnoser(cluster), self.key, remedies=self.remedies, read_owner=reading.owner)
        except NotFound:
            return None


@dataclass(frozen=True, slots=True)
class PodQuery:
    """Why one pod waits; ``remedies`` are tried only for the pod that is looked at."""

    key: Key
    remedies: bool = False

    def compute(self, cluster: ClusterState) -> PendingReport | None:
        return self.compute_with(cluster, NOTHING_MORE)

    def compute_with(self, cluster: ClusterState, reading: OnDemand) -> PendingReport | None:
        """The same with what is read for it: its queue, owners, and what there is of drivers where none serves it."""
        pod = cluster.inventory.pods.get(self.key)
        if pod is None:
            cluster = reading.failed_pods(cluster)
        elif is_held_by_queue((pod,)):
            cluster = reading.queues(cluster)
        try:
            diagnosis = diagnoser(cluster).pod(self.key)
        except NotFound:
            return None
        ways = find_remedies(cluster, diagnosis, read_owner=reading.owner) if self.remedies else None
        known = reading.drivers(cluster) if is_about_drivers(diagnosis, cluster) else cluster
        return pending_report(diagnosis, known, ways=ways, read_owner=reading.owner)


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
