"""The drivers that a pending pod depends on, and the pods in which they run on its node, as far as names tell.

The API does not say which pod serves a driver. A kubelet plugin runs in a pod of a DaemonSet on the node, and by
convention its namespace, name, labels or image mention the driver's name, in parts or without its dots ("dranet" of
dra.net), and "dra" or "plugin".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.model import held
from kubectl_dra.model.core import Pod, PodSpec
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.reports.base import ReportRecord
from kubectl_dra.reports.pending.nodes import NodeGroupRecord
from kubectl_dra.scheduler.claims import claims_of
from kubectl_dra.selectors.compiling import literals

_COMMON: Final = frozenset({"com", "org", "net", "io", "dev", "k8s", "kubernetes", "www", "resource", "dra", "driver"})
_PLUGIN: Final = re.compile(r"\bdra|plugin|driver")
_MOST: Final = 3


class DriverOnNode(ReportRecord, frozen=True):
    """A driver and the node where its log matters (empty: any); ``likely_pods`` probably are its kubelet plugin."""

    driver: str
    node: str
    likely_pods: tuple[records.ObjectRef, ...]


def drivers_of(
    pod: Pod, causes: Iterable[records.Cause], groups: Sequence[records.NodeGroup], inventory: Inventory
) -> tuple[DriverOnNode, ...]:
    """The drivers of the pod's devices on its node, of causes, and of what :func:`_at_work` finds; at most three."""
    found = dict.fromkeys((*_of_devices(pod, inventory), *_of_causes(causes, inventory), *_at_work(groups, inventory)))
    return tuple(
        DriverOnNode(driver, node, plugins(driver, node, inventory) if node else ())
        for driver, node in list(found)[:_MOST]
    )


def tainting(groups: Iterable[records.NodeGroup | NodeGroupRecord]) -> Iterator[tuple[str, str]]:
    """Drivers that taint devices themselves, in their slices, with the nodes where such a device is in the way."""
    for funnel in _funnels(groups):
        for each in funnel.removed:
            if each.stage is records.StageName.TAINTS and each.devices and not each.source:
                yield each.devices[0].partition("/")[0], funnel.node


def lacking(groups: Iterable[records.NodeGroup | NodeGroupRecord]) -> Iterator[tuple[str, str, str]]:
    """Drivers and nodes on which no device that is left publishes the attribute of a constraint, and the attribute."""
    for funnel in _funnels(groups):
        if funnel.left and funnel.values and not any(each.published for each in funnel.values):
            yield funnel.left[0].partition("/")[0], funnel.node, funnel.constraint


def silent(groups: Sequence[records.NodeGroup | NodeGroupRecord]) -> Iterator[tuple[str, str]]:
    """Drivers and nodes where these publish nothing for a request, while another request has there what it needs.

    On other nodes that were tried the driver publishes devices for the request.
    """
    drivers: dict[tuple[records.ObjectRef, str], str] = {}
    asked = [(each, each.funnel) for group in groups for each in group.requests if each.funnel is not None]
    for each, funnel in asked:
        there = (*funnel.left, *(device for removal in funnel.removed for device in removal.devices))
        if there:
            drivers.setdefault((each.claim, each.request), there[0].partition("/")[0])
    met = {funnel.node for _, funnel in asked if funnel.total and len(funnel.left) >= funnel.needed}
    for each, funnel in asked:
        if not funnel.total and funnel.node in met and (each.claim, each.request) in drivers:
            yield drivers[each.claim, each.request], funnel.node


def _funnels(groups: Iterable[records.NodeGroup | NodeGroupRecord]) -> Iterator[records.Funnel]:
    return (each.funnel for group in groups for each in group.requests if each.funnel is not None)


def _at_work(groups: Sequence[records.NodeGroup], inventory: Inventory) -> Iterator[tuple[str, str]]:
    """What only the driver can fix: its own taints, attributes or devices that it publishes on other nodes only."""
    yield from tainting(groups)
    yield from (found for found in silent(groups) if plugins(*found, inventory))
    for driver, node, attribute in lacking(groups):
        domain, _, name = attribute.partition("/")
        keys = {attribute, name} if domain == driver else {attribute}
        if any(
            not keys.isdisjoint(device.attributes)
            for each in inventory.slices.values()
            if each.spec.driver == driver
            for device in each.spec.devices
        ):
            yield driver, node


def devices_of(pod: Pod, inventory: Inventory) -> tuple[str, ...]:
    """The devices that are allocated to the pod's claims, ``DRIVER/POOL/DEVICE``."""
    found = (str(device) for claim in claims_of(pod, inventory) for device in held.devices_of(claim))
    return tuple(dict.fromkeys(found))


def plugins(driver: str, node: str, inventory: Inventory, most: int | None = _MOST) -> tuple[records.ObjectRef, ...]:
    """Pods of DaemonSets that look like the driver's kubelet plugin, the best match first; without a node on any."""
    words, joined = words_of(driver)
    words |= {joined}
    ranked: list[tuple[int, Key]] = []
    for pod in inventory.pods.values():
        here = pod.spec.node_name == node if node else bool(pod.spec.node_name)
        if here and any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references):
            text = names_in(pod.metadata, pod.metadata.labels, pod.spec)
            score = sum(word in text for word in words)
            if score and _PLUGIN.search(text):
                ranked.append((-score, key_of(pod.metadata)))
    best = min((score for score, _ in ranked), default=0)
    return tuple(records.ObjectRef.of("Pod", key) for score, key in sorted(ranked) if score == best)[:most]


def daemon_sets_of(drivers: Iterable[str], inventory: Inventory) -> dict[str, set[str]]:
    """The uids of DaemonSets that look like the kubelet plugins of ``drivers``, by namespace."""
    words = {word for driver in drivers for parts, joined in (words_of(driver),) for word in (*parts, joined)}
    found: dict[str, set[str]] = {}
    for (kind, namespace, _), workload in inventory.workloads.items():
        template = workload.spec.template if kind == "DaemonSet" else None
        if template is None:
            continue
        text = names_in(workload.metadata, template.metadata.labels, template.spec)
        if _PLUGIN.search(text) and any(word in text for word in words):
            found.setdefault(namespace, set()).add(workload.metadata.uid)
    return found


def words_of(driver: str) -> tuple[frozenset[str], str]:
    """The parts of a driver's name that tell it from others, and all of it without dots."""
    parts = re.split(r"[.\-]", driver)
    return frozenset(parts) - _COMMON, "".join(parts)


def names_in(meta: ObjectMeta, labels: Mapping[str, str], spec: PodSpec) -> str:
    """The names by which an object with containers may be known, in lower case; ``labels`` are its pods'."""
    images = (container.image for container in spec.containers)
    return " ".join((meta.namespace, meta.name, *labels.values(), *images)).lower()


def named_by(device_class: str, inventory: Inventory) -> Iterator[str]:
    """The drivers that the selectors of a class name, else one with the name of the class."""
    found = inventory.classes.get(device_class)
    selectors = found.spec.selectors if found is not None else ()
    texts = (text for each in selectors for text in literals(each.expression))
    yield from dict.fromkeys([text for text in texts if "." in text]) or (device_class,)


def _of_devices(pod: Pod, inventory: Inventory) -> Iterator[tuple[str, str]]:
    if pod.spec.node_name:
        for device in devices_of(pod, inventory):
            yield device.partition("/")[0], pod.spec.node_name


def _of_causes(causes: Iterable[records.Cause], inventory: Inventory) -> Iterator[tuple[str, str]]:
    for cause in causes:
        node = cause.nodes[0] if cause.nodes else ""
        match cause.detail:
            case records.PoolProblem(pool=pool):
                yield from _of_pool(pool, node, inventory)
            case records.FatalError(owner=owner) if owner.startswith("pool "):
                yield from _of_pool(owner.removeprefix("pool "), node, inventory)
            case records.BindingProblem(device=device):
                yield from _of_pool(str(DeviceId.of(device).pool_id), node, inventory)
            case records.KubeletText(driver=driver) if driver:
                yield driver, node


def _of_pool(pool: str, node: str, inventory: Inventory) -> Iterator[tuple[str, str]]:
    driver, _, name = pool.partition("/")
    slices = inventory.slices_by_pool.get(PoolId(driver, name), ())
    own = next((each.spec.node_name for each in slices if each.spec.node_name), None)
    yield driver, own or node
