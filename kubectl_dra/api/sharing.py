"""Equal parts of many objects as one: models and versions of devices, what nodes can hold, templates of pods, names.

Only what repeats is worth a look: a place whose values hardly ever do (uuids, addresses) is given up after a while, and
no place keeps more than a few values. What is shared is never changed by anybody, as no record is.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from sys import intern
from typing import Any, Final, TypeVar

from msgspec.structs import force_setattr

from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Container, Node, Pod, PodStatus
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import Device, ResourceSlice

_MAX_VALUES: Final = 256
_MAX_PLACES: Final = 4096
# Of so many values at least one is to be known already.
_PATIENCE: Final = 64
# Workloads are many, and the pods of one of them may come far apart.
_MAX_TEMPLATES: Final = 20_000
#: Maps that are empty are all this one, which nobody may change, as no map of a record.
NOTHING: Final[dict[str, Any]] = {}
Map = TypeVar("Map", bound=dict[str, Any])


class SharedValues:
    """The values of one place, such as an attribute's name, that were seen so far."""

    __slots__ = ("known", "last", "misses", "most", "open", "recent")

    def __init__(self, most: int = _MAX_VALUES) -> None:
        self.known: dict[Hashable, Any] = {}
        self.misses = 0
        self.most = most
        self.open = True
        #: The map that came last, and the value that was known last: to compare is quicker than to look up.
        self.last: dict[str, Any] = NOTHING
        self.recent: Any = None

    def shared(self, key: Hashable, value: Any) -> Any:  # noqa: ANN401 - any part of a record
        """The value that came first with this key."""
        known = self.known.get(key)
        if known is not None:
            self.misses = 0
            return known
        self.missed(key, value)
        return value

    def is_last(self, value: dict[str, Any]) -> bool:
        """Whether a map is like the one that came last: many are, and to compare two is quicker than to look one up."""
        last = self.last
        return value == last and list(value) == list(last)

    def missed(self, key: Hashable, value: Any) -> None:  # noqa: ANN401 - any part of a record
        """Take a value that came with a key that is not known."""
        self.misses += 1
        if len(self.known) < self.most:
            self.known[key] = value
        elif self.misses > _PATIENCE and self.most == _MAX_VALUES:
            self.open = False
            self.known.clear()


_places: Final[dict[str, SharedValues]] = {}


def share(record: Record) -> None:
    """Make equal parts of a record that nobody else has seen yet the same as those of earlier ones."""
    if isinstance(record, ResourceSlice):
        _share_attributes(record.spec.devices)
        _share_capacities(record.spec.devices)
    elif isinstance(record, Node):
        _share_amounts(record.status, "allocatable")
        _share_amounts(record.status, "capacity")


class _Templates:
    """What pods of one workload have in common."""

    def __init__(self) -> None:
        self.labels = SharedValues(_MAX_TEMPLATES)
        self.containers = SharedValues(_MAX_TEMPLATES)
        self.parts = SharedValues(4 * _MAX_TEMPLATES)


_templates: Final = _Templates()


def share_pod(pod: Pod) -> None:
    """The same of a pod that has its defaults: what it has of its workload's template, and names that repeat."""
    meta, spec = pod.metadata, pod.spec
    force_setattr(meta, "namespace", intern(meta.namespace))
    labels = meta.labels
    shared = _templates.labels.shared(tuple(labels.items()), labels) if labels else NOTHING
    force_setattr(meta, "labels", shared)
    if not meta.annotations:
        force_setattr(meta, "annotations", NOTHING)
    _share_part(meta, "owner_references", meta.owner_references)
    force_setattr(spec, "node_name", intern(spec.node_name))
    force_setattr(spec, "scheduler_name", intern(spec.scheduler_name))
    if spec.preemption_policy is not None:
        force_setattr(spec, "preemption_policy", intern(spec.preemption_policy))
    if not spec.node_selector:
        force_setattr(spec, "node_selector", NOTHING)
    if not spec.overhead:
        force_setattr(spec, "overhead", NOTHING)
    for name, containers in (("containers", spec.containers), ("init_containers", spec.init_containers)):
        if containers:
            key = tuple([_container(each) for each in containers])
            force_setattr(spec, name, _templates.containers.shared(key, containers))
    _share_part(spec, "tolerations", spec.tolerations)
    _share_part(spec, "volumes", spec.volumes)
    share_status(pod.status)


def share_status(status: PodStatus) -> None:
    """The same of a pod's status alone."""
    force_setattr(status, "phase", intern(status.phase))
    for condition in status.conditions:
        force_setattr(condition, "type", intern(condition.type))
        force_setattr(condition, "status", intern(condition.status))
    _share_part(status, "container_statuses", status.container_statuses)


def _share_part(record: Record, field: str, value: tuple[Record, ...]) -> None:
    """A tuple of records that are equal when all their texts and numbers are."""
    if value:
        try:
            force_setattr(record, field, _templates.parts.shared(value, value))
        except TypeError:
            return  # there is a map further down, which few have


def _container(container: Container) -> Hashable:
    resources = container.resources
    return (
        container.name,
        container.image,
        # Quantities with the same text are one object, which the container keeps.
        tuple((name, id(each)) for name, each in resources.requests.items()),
        tuple((name, id(each)) for name, each in resources.limits.items()),
        resources.claims,
        container.ports,
        container.restart_policy,
        container.restart_policy_rules,
        container.volume_mounts,
    )


def _share_attributes(devices: Iterable[Device]) -> None:
    # A call for each attribute of 100,000 devices would cost more than all the rest.
    names: Collection[str] = ()
    open_: list[tuple[str, SharedValues]] = []
    for device in devices:
        attributes = device.attributes
        if attributes.keys() != names:
            # Those of a slice have the same names as a rule.
            names = attributes.keys()
            open_ = [(name, place) for name in names if (place := _places.get(name) or _place(name)).open]
        for name, place in open_:
            attribute = attributes[name]
            if attribute == place.recent:
                attributes[name] = place.recent
            elif (known := place.known.get(attribute)) is None:
                place.missed(attribute, attribute)
            else:
                place.misses = 0
                attributes[name] = place.recent = known


def _share_capacities(devices: Iterable[Device]) -> None:
    place = _place("capacity of a device")
    last = place.last
    names = list(last)
    for device in devices:
        capacity = device.capacity
        if capacity:
            if capacity != last or list(capacity) != names:
                policies = [each for each in capacity.values() if each.request_policy is not None]
                amounts = {name: each.value for name, each in capacity.items()}
                last = place.last = capacity if policies else _shared(place, amounts, capacity)
                names = list(last)
            force_setattr(device, "capacity", last)


def _share_amounts(status: Record, field: str) -> None:
    amounts = getattr(status, field)
    if amounts:
        recent = _place(f"{field} of a node")
        if not recent.is_last(amounts):
            recent.last = _shared(_place("amounts of a node"), amounts, amounts)
        force_setattr(status, field, recent.last)


def _shared(place: SharedValues, amounts: Mapping[str, Quantity], value: Map) -> Map:
    """What says the same amounts. Quantities with the same text are one object, which the place keeps with it."""
    key = tuple([(name, id(each)) for name, each in amounts.items()])
    return place.shared(key, value) if place.open else value


_CLOSED: Final = SharedValues()
_CLOSED.open = False


def _place(name: str) -> SharedValues:
    place = _places.get(name)
    if place is None:
        if len(_places) >= _MAX_PLACES:
            return _CLOSED
        place = _places[name] = SharedValues()
    return place
