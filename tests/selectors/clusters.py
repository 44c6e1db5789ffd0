"""Random small clusters for the question which devices a selector matches, and what each of them covers.

A cluster is one node with one pool, one class, one pod whose claim asks the class and a selector for more devices than
there are, so that the search looks at all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kubectl_dra.model.features import Features, features
from kubectl_dra.model.inventory import Inventory
from tests.kit import build, facts

CLASS = "cards"
NODE = "node-1"
POD = "pod"
OF_DRIVER = f'device.attributes["{build.DRIVER}"]'
MEMORY = f'device.capacity["{build.DRIVER}"].memory'
SHARED = "device.allowMultipleAllocations == true"

#: Feature sets by the allocator that they choose, and the minor version behind them.
FEATURES: Mapping[str, Features] = {
    "incubating": features(),
    "stable": features(gates={"DRAConsumableCapacity": False, "DRADeviceBindingConditions": False}),
    "experimental": features(gates={"DRAListTypeAttributes": True}),
    "stable 1.34": features(34, {"DRADeviceTaints": True}),
    "stable 1.33": features(33, {"DynamicResourceAllocation": True, "DRADeviceTaints": True}),
}

#: Selectors by what they exercise.
SELECTORS: Mapping[str, Sequence[str]] = {
    "constant": ("true", "false"),
    "driver": (f'device.driver == "{build.DRIVER}"', 'device.driver == "other.example.com"'),
    "sharing": (SHARED, "!device.allowMultipleAllocations", f"has({OF_DRIVER}.index) && {SHARED}"),
    "string": (f'{OF_DRIVER}.model == "A100"', f'{OF_DRIVER}["model"] in ["A100", "H100 (80GB)"]'),
    "presence": (f"has({OF_DRIVER}.index)", f'"index" in {OF_DRIVER}'),
    "lookup": (f"{OF_DRIVER}.index > 0", f"{OF_DRIVER}.index == 0 || {OF_DRIVER}.model == 'A100'"),
    "absorbed": (f'{OF_DRIVER}.index > 0 && {OF_DRIVER}.model == "H100 (80GB)"',),
    "default": (f"{OF_DRIVER}.?index.orValue(7) == 7",),
    "capacity": (f'{MEMORY}.compareTo(quantity("40Gi")) >= 0',),
    "whole": (f"size({OF_DRIVER}) > 1", 'device.attributes.exists(domain, domain == "pci.example.com")'),
    "list": (f'{OF_DRIVER}.links.includes("x")',),
    "wrong type": (f"{OF_DRIVER}.model > 3",),
    "uncompilable": ("device.nope", "device.driver ==", f"{OF_DRIVER}.model"),
}
MODELS = ("A100", "H100 (80GB)")
RULES = ("none", "plain", "by class", "by selector")


@dataclass(frozen=True)
class Case:
    """One cluster and what is asked of it; ``covers`` are the names of what the generator chose."""

    assumed: Features
    devices: tuple[Mapping[str, Any], ...]
    class_selectors: tuple[str, ...]
    selector: str
    rule: Mapping[str, Any] | None
    covers: frozenset[str]

    @property
    def names(self) -> tuple[str, ...]:
        """The devices by name."""
        return tuple(device["name"] for device in self.devices)

    def alone(self) -> Iterator[tuple[str, Case]]:
        """The same cluster with one of its devices at a time."""
        return ((device["name"], replace(self, devices=(device,))) for device in self.devices)

    def inventory(self) -> Inventory:
        """Its objects."""
        wanted = build.request(cls=CLASS, count=len(self.devices) + 1, selector=self.selector)
        chosen = [{"cel": {"expression": text}} for text in self.class_selectors]
        objects: list[dict[str, Any]] = [
            build.node(NODE),
            build.device_class(CLASS, selectors=chosen),
            build.claim("claim", wanted),
            build.pod(POD, claims=["claim"]),
            build.slice_(NODE, *map(dict, self.devices)),
        ]
        return facts.inventory([*objects, *([dict(self.rule)] if self.rule is not None else [])])


def _device(choose: Random, index: int) -> tuple[dict[str, Any], set[str]]:
    covers: set[str] = set()
    attributes: dict[str, Any] = {"model": {"string": choose.choice(MODELS)}}
    if choose.random() < 0.6:
        attributes["index"] = {"int": choose.randint(-1, 1)}
    if choose.random() < 0.2:
        attributes["pci.example.com/root"] = {"string": "pci0000:00"}
    if choose.random() < 0.2:
        attributes["links"] = {"strings": ["x", "y"]}
    if choose.random() < 0.1:
        covers.add("broken device")
        attributes["version"] = {"version": "1.x"}
    found: dict[str, Any] = {"name": f"card-{index}", "attributes": attributes}
    if choose.random() < 0.6:
        found["capacity"] = {"memory": {"value": choose.choice(["16Gi", "80Gi"])}}
    sharing = choose.choice([True, True, False, None])
    if sharing is not None:
        found["allowMultipleAllocations"] = sharing
    covers.add("shareable device" if sharing else "dedicated device")
    return found, covers


def any_case(seed: int) -> Case:
    """Any cluster; the same for the same seed."""
    choose = Random(seed)
    feature_set = choose.choice(sorted(FEATURES))
    drawn = [_device(choose, index) for index in range(choose.randint(1, 4))]
    kinds = sorted(SELECTORS)
    # Classes of simple selectors mostly, else hardly any device would get to the request's.
    of_class = [choose.choice(["driver", choose.choice(kinds)]) for _ in range(choose.randint(0, 2))]
    asked, narrowing = choose.choice(kinds), choose.choice(kinds)
    rule = choose.choice(RULES) if FEATURES[feature_set].device_taint_rules else "none"
    return Case(
        FEATURES[feature_set],
        tuple(device for device, _ in drawn),
        tuple(choose.choice(SELECTORS[kind]) for kind in of_class),
        choose.choice(SELECTORS[asked]),
        _rule(rule, choose.choice(SELECTORS[narrowing])),
        frozenset(
            {feature_set, f"selector: {asked}", f"rule: {rule}"}
            | {f"class: {kind}" for kind in of_class or ["none"]}
            | ({f"narrowed: {narrowing}"} if rule == "by selector" else set())
            | set().union(*(covers for _, covers in drawn))
        ),
    )


def _rule(kind: str, expression: str) -> dict[str, Any] | None:
    if kind == "none":
        return None
    selector: dict[str, Any] = {"driver": build.DRIVER}
    if kind == "by class":
        selector["deviceClassName"] = CLASS
    elif kind == "by selector":
        selector["selectors"] = [{"cel": {"expression": expression}}]
    taint = {"key": "broken", "effect": "NoSchedule"}
    return {
        "kind": "DeviceTaintRule",
        "metadata": {"name": "rule"},
        "spec": {"deviceSelector": selector, "taint": taint},
    }


#: What a run over many clusters must have come by.
COVERED = frozenset(
    {
        *FEATURES,
        *(f"selector: {kind}" for kind in SELECTORS),
        *(f"class: {kind}" for kind in (*SELECTORS, "none")),
        *(f"rule: {kind}" for kind in RULES),
        *(f"narrowed: {kind}" for kind in SELECTORS),
        "broken device",
        "shareable device",
        "dedicated device",
    }
)
