"""What to write in place of what a server refuses about slices and claims, by the words in which it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kubectl_dra.model.names import is_label, is_subdomain

#: A unit of 1000 or 1024 with a "B" for bytes, which quantities leave out.
_BYTES: Final = re.compile(r'"([0-9.]+) ?([kKMGTPE])(i?)[bB]" is not a valid quantity')
_VERSION: Final = re.compile(r'"[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?": must be a string compatible with semver')
_NAME: Final = re.compile(r'"([^"]*)": a lowercase RFC 1123 (label|subdomain)')
_STEP: Final = re.compile(r"value is not a multiple of a given step \(([^()]*)\) from \(([^()]*)\)")
_NOT_OF_A_NAME: Final = re.compile(r"[^a-z0-9.-]+")
_NOT_OF_A_LABEL: Final = re.compile(r"[^a-z0-9-]+")


def _bytes(found: re.Match[str]) -> str:
    number, unit = found[1], found[2].upper()
    thousands = "k" if unit == "K" else unit
    return f'write "{number}{thousands}" (powers of 1000) or "{number}{unit}i" (powers of 1024)'


def _version(found: re.Match[str]) -> str:
    # Semantic versions have no leading zeros, as drivers' own have ("535.129.03").
    return f'write "{".".join((each or "").lstrip("0") or "0" for each in found.groups())}"'


def _name(found: re.Match[str]) -> str:
    """What is left of a name with other signs than it may have; nothing where that is no name either."""
    is_name, others = (is_label, _NOT_OF_A_LABEL) if found[2] == "label" else (is_subdomain, _NOT_OF_A_NAME)
    name = others.sub("-", found[1].lower()).strip("-.")
    return f'write "{name}"' if is_name(name) else ""


def _step(found: re.Match[str]) -> str:
    return f"choose {found[2]}, or that and some steps of {found[1]} more"


_HINTS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str], ...]] = (
    (_BYTES, _bytes),
    (_VERSION, _version),
    (_NAME, _name),
    (_STEP, _step),
    (
        re.compile("only one of `sharedCounters` or `devices` is allowed"),
        "publish the counters in a slice of their own, of the same pool and generation, and count both in "
        "resourceSliceCount",
    ),
    (
        re.compile(r"\.devices: Too many: "),
        "divide them between several slices of the pool, and count these in resourceSliceCount",
    ),
    (
        re.compile("`perDeviceNodeSelection` is required, but multiple fields are set"),
        "keep the one that says which nodes reach the devices",
    ),
    (
        re.compile("can only be set if `perDeviceNodeSelection` is set to true"),
        "set spec.perDeviceNodeSelection: true in place of the slice's own nodeName, or leave it out of the device",
    ),
    (re.compile(r"resourceSliceCount: .*must be greater than zero"), "write how many slices the pool has in all"),
    (
        re.compile("the total number of attributes and capacities must not exceed"),
        "leave out what no selector needs",
    ),
    (re.compile("must specify exactly one of: `int`, `bool`"), "keep one type"),
    (
        re.compile(r'"PreferNoSchedule": supported values: "NoExecute", "NoSchedule", "None"'),
        "devices have no softer taint than NoSchedule; None only tells of it",
    ),
    (
        re.compile("bindingFailureConditions are required to use bindingConditions"),
        "name a condition that the driver sets when the device will not be ready",
    ),
    (re.compile("max is larger than capacity value"), "lower it to the value of the capacity"),
)


def hint(message: str) -> str:
    """``write "1.2.0"``; empty where the words themselves say all."""
    for pattern, told in _HINTS:
        found = pattern.search(message)
        if found is not None:
            return told if isinstance(told, str) else told(found)
    return ""
