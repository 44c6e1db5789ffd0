"""The answers that devices of a slice give to conditions, written beside their attributes. Works on the plain JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.encode import encode_part
from kubectl_dra.api.kinds import RESOURCE_SLICE
from kubectl_dra.model.classic import NamedResourcesSlice
from kubectl_dra.model.resource import DeviceAttribute, ResourceSlice
from kubectl_dra.selectors.hidden import ANSWERS, Expressions

Json = Any
#: Of one device or instance: the name of each answer and the attribute that holds it.
Answers = dict[str, Json]


def answers_of(item: Json, expressions: Expressions) -> Sequence[Answers]:
    """What each device of a slice answers, in their order; nothing for any other object."""
    if item.get("kind") != RESOURCE_SLICE.name or not expressions.has_answers:
        return ()
    try:
        record = decode_object(json.dumps(item).encode(), str(item.get("apiVersion", "")), RESOURCE_SLICE)
    except DecodeError:
        return ()
    found: list[dict[str, DeviceAttribute]] = []
    if isinstance(record, NamedResourcesSlice):
        instances = record.named_resources.instances if record.named_resources is not None else ()
        found = [expressions.instance_answers(instance) for instance in instances]
    elif isinstance(record, ResourceSlice):
        found = [expressions.answers(record.spec.driver, device) for device in record.spec.devices]
    return [{name: json.loads(encode_part(answer)) for name, answer in each.items()} for each in found]


def with_answers(item: Json, answers: Sequence[Answers], give: Callable[[Json], Json]) -> Json:
    """The rewritten slice with the answers; ``give`` rewrites one attribute."""
    if not any(answers):
        return item
    if "namedResources" in item:
        resources = item["namedResources"]
        pairs = zip(resources["instances"], answers, strict=True)
        instances = [_with_list(instance, found, give) for instance, found in pairs]
        return {**item, "namedResources": {**resources, "instances": instances}}
    pairs = zip(item["spec"]["devices"], answers, strict=True)
    devices = [_with_map(device, found, give) for device, found in pairs]
    return {**item, "spec": {**item["spec"], "devices": devices}}


def _with_map(device: Json, answers: Answers, give: Callable[[Json], Json]) -> Json:
    """v1beta1 and older have everything but the name under ``basic``."""
    if "basic" in device:
        return {**device, "basic": _with_map(device["basic"], answers, give)}
    more = {f"{ANSWERS}/{name}": give(value) for name, value in answers.items()}
    return {**device, "attributes": {**device.get("attributes", {}), **more}} if more else device


def _with_list(instance: Json, answers: Answers, give: Callable[[Json], Json]) -> Json:
    more = [{"name": name, **give(value)} for name, value in answers.items()]
    return {**instance, "attributes": [*instance.get("attributes", ()), *more]} if more else instance
