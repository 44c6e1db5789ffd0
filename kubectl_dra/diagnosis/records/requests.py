"""Evidence about what a request asks of classes, selectors, pools and devices."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records.nodes import LabelOnNodes
from kubectl_dra.diagnosis.records.objects import Evidence, ObjectRef
from kubectl_dra.model.base import ReportRecord


class ClassProblem(Evidence, frozen=True):
    """A class that is missing; ``similar`` are existing names that look like it."""

    device_class: str
    similar: tuple[str, ...] = ()


class ExtendedResource(Evidence, frozen=True):
    """An extended resource and the class that serves it, if any."""

    resource: str
    device_class: str = ""
    similar: tuple[str, ...] = ()


class IgnoredResource(Evidence, frozen=True):
    """An extended resource that ``device_class`` serves, and that the scheduler found on no node.

    ``time``: when it last said so. ``order_known``: the class has not changed since; else that is not known.
    """

    resource: str
    device_class: str
    time: str = ""
    order_known: bool = True


class ClassOffer(Evidence, frozen=True):
    """What a class has, of which a request finds no device on the nodes that were tried.

    ``published`` counts the devices that any driver publishes; ``selected`` of them are of the class. If none is,
    ``drivers`` names who publishes them, ``selector`` is the expression of the class that refuses most, and ``similar``
    are published drivers that look like one that it names. ``clause`` is the last condition that a device comes
    to, and ``seen`` what these have there; both empty where no device passes the first one. ``nodes``: at most 5 of
    the ``on_nodes`` for which devices of the class are published. ``nowhere``: where all are published for nodes with
    labels that no node has, these labels. ``matching``: only those that the selectors of the request admit are
    ``selected``. ``meant``: nodes whose host name is that of one of ``nodes``, none of which exists.
    """

    device_class: str
    needed: int = 1
    all_devices: bool = False
    published: int = 0
    selected: int = 0
    drivers: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    selector: str = ""
    similar: tuple[str, ...] = ()
    clause: str = ""
    seen: tuple[str, ...] = ()
    on_nodes: int = 0
    nowhere: tuple[LabelOnNodes, ...] = ()
    matching: bool = False
    meant: tuple[str, ...] = ()


class Unpublished(Evidence, frozen=True):
    """A selector that needs an attribute or capacity which no device of the class publishes.

    ``field`` is ``attributes`` or ``capacity``. ``devices`` of the class are published; ``names``: what they have in
    that domain; ``similar``: names that may have been meant; ``elsewhere``: domains in which something has the name.
    """

    device_class: str
    expression: str
    field: str
    domain: str
    name: str
    devices: int = 0
    needed: int = 1
    names: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


class NodeDevices(ReportRecord, frozen=True):
    """How many devices a request could have on a node."""

    node: str
    free: int


class RequestNodes(ReportRecord, frozen=True):
    """A request that some nodes could serve alone: the ``nodes`` with the most devices for it first, at most three.

    ``more`` says how many further nodes could serve it.
    """

    claim: str
    request: str
    device_class: str
    needed: int
    all_devices: bool
    nodes: tuple[NodeDevices, ...]
    more: int = 0


class NoSingleNode(Evidence, frozen=True):
    """Requests of which every one could be served on some node, but not all on the same."""

    requests: tuple[RequestNodes, ...]


class StageName(StrEnum):
    """The steps of a funnel, in their order."""

    CLASS = "class"
    SELECTORS = "selectors"
    NODE = "node"
    FEATURES = "features"
    TAINTS = "taints"
    UNUSED = "unused"
    CAPACITY = "capacity"
    COUNTERS = "counters"


class Short(ReportRecord, frozen=True):
    """Quantities of which there is too little: what is needed, what is left (empty: nobody knows) of how much.

    ``requested``: what the request says, where the device's policy rounds that up. ``users``: the pods that use the
    rest. Where a policy does not allow what is needed, ``left`` is the most that it allows.
    """

    needs: str
    left: str = ""
    total: str = ""
    requested: str = ""
    users: tuple[str, ...] = ()


class HeldFor(StrEnum):
    """For whom claims hold devices, as far as all pods are known; those of several claims are all like that."""

    USED = ""  # or not known
    NOBODY = "nobody"
    GONE = "gone"  # pods that no longer exist
    FINISHED = "finished"  # or no longer exist
    EMPTY_GROUP = "emptyGroup"  # PodGroups without pods, which keep their claims until they are deleted
    ENDING = "ending"  # pods that are being deleted
    FAILING = "failing"  # pods that are on a node, none of whose containers runs


#: The source of taints that nobody has set; no rule has such a name.
SUPPOSED: Final = "(supposed)"


class Removal(ReportRecord, frozen=True):
    """Devices that one stage of a funnel takes out for one reason.

    ``reason`` is the thing that took them: a clause, a taint ``KEY=VALUE:EFFECT``, a claim ``NAMESPACE/NAME``, a
    counter. ``source`` says more: a value that was seen, the rule that set the taint, the pod that uses the claim.
    ``short`` has the amounts where something is short. ``held_for``: whether those who use the claims are gone.
    ``since``: of a taint, when it was added; of a claim, when its deletion was asked for; of pods that are being
    deleted, by when they should have ended. ``everywhere``: of a taint, whether its rule has an empty selector and so
    taints all devices of all drivers. ``owner``: of the only pod that uses a claim, what makes it, as far as known.
    """

    stage: StageName
    reason: str
    devices: tuple[str, ...] = ()
    source: str = ""
    short: Short | None = None
    held_for: HeldFor = HeldFor.USED
    since: str = ""
    everywhere: bool = False
    owner: ObjectRef | None = None

    @property
    def unpublished(self) -> bool:
        """Whether the devices have no capacity of the name at all; ``source`` has the names that they have."""
        return self.stage is StageName.CAPACITY and self.short is None


class UnpublishedInConstraint(Evidence, frozen=True):
    """A constraint over an attribute that no device of its requests' classes publishes.

    ``requests``: whose devices it is about, empty: all. ``elsewhere``: full names with the same last part that they do
    publish; ``similar``: those whose last part looks like it; ``names``: at most 12 of all that they publish.
    ``classes``: those of the requests.
    """

    attribute: str
    requests: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


class Stage(msgspec.Struct, frozen=True):
    """A step of a funnel: how many devices are still there after it, and what it took out."""

    name: StageName
    count: int
    removed: tuple[Removal, ...]


class ValueCount(ReportRecord, frozen=True):
    """A value of an attribute, and how many devices have it; those without one are counted as not ``published``.

    ``type``: int, bool, string or version, of the values that a constraint compares; empty for others.
    """

    value: str
    devices: int
    published: bool = True
    type: str = ""


class LessCapacity(ReportRecord, frozen=True):
    """A capacity of which all devices that match have ``after`` where they had ``before``, which is more."""

    name: str
    before: str
    after: str


class Funnel(Evidence, frozen=True):
    """Static findings about one request on one node: the devices that ``removed`` takes out, and those that are left.

    ``total`` devices of the node are in the class; ``removed`` is in the order of the scheduler's checks. ``best`` is
    the largest number of devices that one constraint allows together, None where none applies; ``constraint`` is its
    attribute, which must be the same for all, or ``distinct``. ``values``: the values of that
    attribute on the devices that are left, at most 8, the most frequent first; None: they lack it.
    """

    node: str
    needed: int
    total: int
    removed: tuple[Removal, ...]
    left: tuple[str, ...]
    all_devices: bool = False
    best: int | None = None
    constraint: str = ""
    distinct: bool = False
    values: tuple[ValueCount, ...] = ()

    @property
    def stages(self) -> Iterator[Stage]:
        count = self.total
        for name in StageName:
            removed = tuple(removal for removal in self.removed if removal.stage is name)
            count -= sum(len(removal.devices) for removal in removed)
            yield Stage(name, count, removed)

    def stage(self, name: StageName) -> Stage:
        return next(stage for stage in self.stages if stage.name is name)

    def after(self, name: StageName) -> tuple[str, ...]:
        """The devices that are still there after a step; those that get furthest first."""
        later = list(StageName)[list(StageName).index(name) + 1 :]
        taken = (removal.devices for stage in reversed(later) for removal in self.removed if removal.stage is stage)
        return (*self.left, *(device for devices in taken for device in devices))

    @property
    def together(self) -> int:
        """The most devices that could be had at once."""
        return len(self.left) if self.best is None else self.best


class Nearest(Evidence, frozen=True):
    """How near the closest node comes to a request, in the numbers of its :class:`Funnel`."""

    node: str
    needed: int
    left: int
    all_devices: bool
    best: int | None
    constraint: str
    distinct: bool

    @staticmethod
    def of(funnel: Funnel) -> Nearest:
        return Nearest(
            funnel.node,
            funnel.needed,
            len(funnel.left),
            funnel.all_devices,
            funnel.best,
            funnel.constraint,
            funnel.distinct,
        )


class PoolProblem(Evidence, frozen=True):
    """A pool that is not used: slices seen and expected of the generation, or what contradicts itself.

    ``devices`` are in the slices that are not used; ``since``: when the newest slice of the pool was made.
    ``undefined``: of an incomplete pool the counter sets that its devices use and none of its slices has.
    """

    pool: str
    generation: int = 0
    seen: int = 0
    expected: int = 0
    detail: str = ""
    devices: int = 0
    since: str = ""
    undefined: tuple[str, ...] = ()


class AttributeValue(ReportRecord, frozen=True):
    """A value that a selector read: ``type`` is string, int, bool, version, list or quantity."""

    name: str
    type: str
    value: str


class ConsumerCount(ReportRecord, frozen=True):
    """How many consumers of a claim are of one ``resource``: ``pods``, ``jobs.example.com``."""

    resource: str
    number: int


class FatalError(Evidence, frozen=True):
    """An error that aborts the attempt: the scheduler's text and what it points at.

    Of a selector that fails on a device: ``attribute`` (``DOMAIN/NAME``) is the one that the device lacks, ``names``
    what it has in that domain, ``publishers`` how many of the ``devices`` of the class have it (None: not counted),
    ``similar`` what may have been meant, ``reads`` the values read. ``is_capacity``: devices publish a capacity of the
    attribute's name. ``device_class`` is the class of the request.

    Of a claim that has all its consumers: ``consumers``, how many of each resource. Of one that requests too many
    devices: ``devices``, how many. Of admin access: ``label``, which the namespace lacks.
    """

    text: str
    device: str = ""
    selector: int | None = None
    owner: str = ""
    expression: str = ""
    detail: str = ""
    position: int | None = None
    device_class: str = ""
    attribute: str = ""
    names: tuple[str, ...] = ()
    publishers: int | None = None
    devices: int = 0
    similar: tuple[str, ...] = ()
    reads: tuple[AttributeValue, ...] = ()
    consumers: tuple[ConsumerCount, ...] = ()
    is_capacity: bool = False
    label: str = ""


class SearchSize(Evidence, frozen=True):
    """How many steps the real search would take, or at least takes."""

    steps: int
    why: str = ""
