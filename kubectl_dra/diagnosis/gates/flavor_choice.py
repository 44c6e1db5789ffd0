"""Which flavors Kueue gives to work that does not exist yet, and with how many of its pods it starts it.

Upstream: kubernetes-sigs/kueue, pkg/scheduler/flavorassigner (assignFlavors, findFlavorForPodSets, shouldTryNextFlavor,
podset_reducer.go): set by set, the first flavor in the order of the ClusterQueue that has room, for all resources of
its group; where not all pods have room, the most that have, if the work allows fewer.

Sets of pods as Kueue counts them, and which flavors they may get at all.

The devices that Kueue counts for a pod: those of its claims' templates, by DeviceClass. Kueue charges them to the
resource that its ``deviceClassMappings`` name for the class, and refuses classes that they don't name (upstream:
kubernetes-sigs/kueue, pkg/dra, and KEP 2941). It counts a fixed number of one class only, without admin access.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kubectl_dra.diagnosis.gates.cohorts import share
from kubectl_dra.model.core import Pod
from kubectl_dra.model.forms import forms_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.queues import FLAVOR, ClusterQueue, QueueObjects, ResourceFlavor, ResourceGroup
from kubectl_dra.model.resource import ResourceClaimTemplate
from kubectl_dra.model.taint_text import PREVENTING
from kubectl_dra.scheduler.plugins.taint_toleration import tolerated

#: Parts that are admitted one by one; more are not tried.
_MOST_UNITS: Final = 64
_NEXT: Final = "TryNextFlavor"

Used = Counter[tuple[str, str]]
#: Kueue counts pods as well, where a group covers them.
_PODS: Final = "pods"


@dataclass(frozen=True, slots=True)
class FlavorChoice:
    """How many pods of each set are started, and with which flavors, by the position of their resource group.

    ``used``: what that takes, by flavor and resource. ``reduced``: they are fewer than were wanted.
    """

    copies: tuple[int, ...]
    flavors: tuple[Mapping[int, str], ...]
    used: Used
    reduced: bool = False


class _Unknown(Exception):
    """Raised where what is not known decides."""


def choice(
    objects: QueueObjects,
    queue: ClusterQueue,
    sets: Sequence[PlannedSet],
    units: int = 1,
    before: Used | None = None,
) -> FlavorChoice | None:
    """What Kueue does with ``sets`` now, ``units`` times; None where it starts none, or what it chooses is not known.

    ``before``: what other work takes first. Of units that get different flavors the choice is not one.
    """
    chooser = _Chooser(objects, queue, before or Used())
    if units > _MOST_UNITS:
        return None
    try:
        found = chooser.all_of(list(sets) * units)
        if found is None and units == 1:
            found = chooser.fewer_of(sets)
    except _Unknown:
        return None
    if found is None or any(found.flavors[i] != found.flavors[i % len(sets)] for i in range(len(found.flavors))):
        return None
    copies, flavors = found.copies[: len(sets)], found.flavors[: len(sets)]
    return FlavorChoice(copies, flavors, found.used, reduced=copies != tuple(each.copies for each in sets))


@dataclass(frozen=True, slots=True)
class _Chooser:
    objects: QueueObjects
    queue: ClusterQueue
    before: Used

    def all_of(self, sets: Sequence[PlannedSet]) -> FlavorChoice | None:
        used, flavors = Used(), list[Mapping[int, str]]()
        for pods in sets:
            given = dict[int, str]()
            for position, group in enumerate(self.queue.spec.resource_groups):
                requests = requests_of(pods, covered_by(group))
                flavor = self._flavor(group, pods, requests, used) if requests else ""
                if flavor is None:
                    return None
                if flavor:
                    given[position] = flavor
                    used.update({(flavor, name): number for name, number in requests.items()})
            flavors.append(given)
        return FlavorChoice(tuple(each.copies for each in sets), tuple(flavors), used)

    def fewer_of(self, sets: Sequence[PlannedSet]) -> FlavorChoice | None:
        """With as many pods as have room, of the one set of which fewer may be started."""
        shrinking = [index for index, each in enumerate(sets) if each.least < each.copies]
        if len(shrinking) != 1:
            return None
        index = shrinking[0]
        low, high, best = max(sets[index].least, 1), sets[index].copies - 1, None
        while low <= high:
            middle = (low + high + 1) // 2
            tried = [*sets[:index], replace(sets[index], copies=middle), *sets[index + 1 :]]
            found = self.all_of(tried)
            low, high, best = (middle + 1, high, found) if found is not None else (low, middle - 1, best)
        return best

    def _flavor(self, group: ResourceGroup, pods: PlannedSet, requests: Mapping[str, int], used: Used) -> str | None:
        """The first flavor with room; with room without borrowing, where the queue looks for that."""
        thrifty = self.queue.spec.flavor_fungibility.when_can_borrow == _NEXT
        fitting = self._fitting(group, pods, requests, used)
        if not thrifty:
            return next((name for name, _ in fitting), None)
        found = list(fitting)
        return next((name for name, borrows in found if not borrows), found[0][0] if found else None)

    def _fitting(
        self, group: ResourceGroup, pods: PlannedSet, requests: Mapping[str, int], used: Used
    ) -> Iterator[tuple[str, bool]]:
        """The flavors with room, in their order, and whether what they have is borrowed."""
        for flavor in group.flavors:
            known = self.objects.flavors.get(flavor.name)
            if known is None and FLAVOR not in self.objects.complete and len(group.flavors) > 1:
                raise _Unknown
            if not suits(known, pods.pod):
                continue
            found = [self._has(flavor.name, name, number, used) for name, number in requests.items()]
            if all(has for has, _ in found):
                yield flavor.name, any(borrows for _, borrows in found)
            elif self._stops_here():
                raise _Unknown

    def _has(self, flavor: str, name: str, number: int, used: Used) -> tuple[bool, bool]:
        taken = number + used[flavor, name] + self.before[flavor, name]
        found = share(self.objects, self.queue, flavor, name)
        if taken <= found.own:
            return True, False
        if found.unused is None:
            raise _Unknown
        return taken <= found.unused, True

    def _stops_here(self) -> bool:
        """Whether a flavor may be taken before others with room, because ending other work makes room in it."""
        fungibility, preemption = self.queue.spec.flavor_fungibility, self.queue.spec.preemption
        return fungibility.when_can_preempt not in ("", _NEXT) and preemption is not None


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """``copies`` pods that are alike and get the same flavors; ``least``: Kueue may start so few of them.

    ``requests`` of one pod, in the scheduler's units; ``devices``: those of them that are devices, by class.
    ``scale``: the field that says how many, and how many pods each of its units makes.
    """

    name: str
    copies: int
    requests: Mapping[str, int]
    pod: Pod
    devices: Mapping[str, Mapping[str, int]]
    least: int
    scale: tuple[str, int] = ("", 1)


def covered_by(group: ResourceGroup) -> frozenset[str]:
    """The resources of which a group has a flavor."""
    return frozenset(group.covered_resources) or frozenset(
        each.name for flavor in group.flavors for each in flavor.resources
    )


def requests_of(pods: PlannedSet, covered: frozenset[str]) -> dict[str, int]:
    """What all pods of a set request of what is ``covered``."""
    counted = {**pods.requests, _PODS: 1}
    return {name: number * pods.copies for name, number in counted.items() if name in covered and number * pods.copies}


def suits(flavor: ResourceFlavor | None, pod: Pod) -> bool:
    """Whether pods may get a flavor, as far as node selector and taints say."""
    if flavor is None:
        return True
    own = pod.spec.node_selector
    if any(own.get(key, value) != value for key, value in flavor.spec.node_labels.items()):
        return False
    given = (*pod.spec.tolerations, *flavor.spec.tolerations)
    return all(taint.effect not in PREVENTING or tolerated(taint, given, True) for taint in flavor.spec.node_taints)


def devices_by_class(
    pod: Pod, templates: Mapping[Key, ResourceClaimTemplate]
) -> tuple[Mapping[str, int], frozenset[str]]:
    """How many devices of each class one pod requests, and the classes of requests that Kueue can't count."""
    counts: Counter[str] = Counter()
    open_: set[str] = set()
    for entry in pod.spec.resource_claims:
        template = templates.get(Key(pod.metadata.namespace, entry.resource_claim_template_name or ""))
        for request in template.spec.spec.devices.requests if template is not None else ():
            exactly = request.exactly
            if exactly is not None and exactly.allocation_mode == "ExactCount" and not exactly.admin_access:
                counts[exactly.device_class_name] += exactly.count
            else:
                open_.update(form.device_class_name for _, form in forms_of(request))
    return counts, frozenset(open_)
