"""The words of taint-device: devices, and a taint in kubectl's notation. Nothing is looked up here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.model.ids import DeviceId, PoolId
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.model.names import dns_label, label_key, label_value
from kubectl_dra.model.resource import DeviceTaint
from kubectl_dra.model.taint_text import PREVENTING

_WHOLE: Final = "/*"
_NODE: Final = "node/"
_SPEC: Final = re.compile(r"(?P<key>[^=:]*)(=(?P<value>[^:]*))?(:(?P<effect>[^:]*))?")


@dataclass(frozen=True, slots=True)
class TaintArgs:
    """The options of the command beyond the shared ones. ``timeout`` is in seconds, None for no limit."""

    words: tuple[str, ...] = ()
    listing: bool = False
    match: str = ""
    dry_run: str = "none"
    yes: bool = False
    observe: bool = False
    force: bool = False
    wait: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class TaintWords:
    """What is asked for. Of a removal value and effect may be empty: then they may be anything."""

    devices: tuple[DeviceId, ...]
    taint: DeviceTaint
    removal: bool
    pools: tuple[PoolId, ...] = ()
    nodes: tuple[str, ...] = ()

    @property
    def is_several(self) -> bool:
        return len(self.devices) > 1 or bool(self.pools or self.nodes)


def parse_words(words: Sequence[str], *, match: bool) -> TaintWords:
    """Devices, ``DRIVER/POOL/*`` or ``node/NAME``, and a taint; the taint alone where an expression names devices.

    Raises a usage error.
    """
    if not words:
        raise UsageProblem("name a device and a taint", "DRIVER/POOL/DEVICE KEY[=VALUE]:EFFECT")
    *named, spec = words
    if match and named:
        raise UsageProblem("--match and names of devices cannot be combined", "leave out one of them")
    if not match and not named:
        missing = "taint" if spec.count("/") > 1 else "device"
        raise UsageProblem(f'"{spec}" alone is not enough: no {missing}', "DRIVER/POOL/DEVICE KEY[=VALUE]:EFFECT")
    removal = spec.endswith("-")
    taint = _taint(spec.removesuffix("-"), removal)
    pools = tuple(dict.fromkeys(_pool(word) for word in named if word.endswith(_WHOLE)))
    nodes = tuple(dict.fromkeys(_node(word) for word in named if word.startswith(_NODE)))
    single = (word for word in named if not word.endswith(_WHOLE) and not word.startswith(_NODE))
    return TaintWords(tuple(dict.fromkeys(map(_device, single))), taint, removal, pools, nodes)


def _pool(word: str) -> PoolId:
    """``DRIVER/POOL/*``; the name of a pool may have slashes."""
    driver, _, pool = word.removesuffix(_WHOLE).partition("/")
    if not driver or not pool or word.startswith("/") or "//" in word:
        raise UsageProblem(f'"{word}" is not a whole pool', "write it as 'DRIVER/POOL/*', as in get pools -o name")
    return PoolId(driver, pool)


def _node(word: str) -> str:
    name = word.removeprefix(_NODE)
    if not name or "/" in name:
        raise UsageProblem(f'"{word}" is not a node', "write it as node/NAME")
    return name


def _taint(spec: str, removal: bool) -> DeviceTaint:
    parts = _SPEC.fullmatch(spec)
    if parts is None:
        raise UsageProblem(f'"{spec}" is not a valid taint', "write it as KEY=VALUE:EFFECT, KEY:EFFECT or KEY-")
    taint = DeviceTaint(parts["key"], parts["value"] or "", parts["effect"] or "")
    _check("key", taint.key, label_key(taint.key))
    _check("value", taint.value, label_value(taint.value))
    if taint.effect or not removal:
        _check_effect(taint.effect, spec, removal)
    return taint


def _check(what: str, text: str, problems: Sequence[str]) -> None:
    if problems:
        raise UsageProblem(f'"{text}" can\'t be the {what} of a taint: {problems[0]}')


def _check_effect(effect: str, spec: str, removal: bool) -> None:
    if effect in PREVENTING or (removal and effect == "None"):
        return
    if not effect:
        raise UsageProblem(f'"{spec}" names no effect', f"{spec.partition(':')[0]}:NoSchedule or …:NoExecute")
    if effect == "None":
        hint = f"{spec.partition(':')[0]}:NoExecute --observe"
        raise UsageProblem("effect None changes nothing; --observe uses it to count what NoExecute would do", hint)
    near = did_you_mean(effect, PREVENTING)
    raise UsageProblem(f'"{effect}" is not a valid effect of a device taint{near}', "NoSchedule or NoExecute")


def _device(word: str) -> DeviceId:
    """First segment driver, last device, what is between them the pool, which may have slashes.

    A shorter name stands alone in ``device``: whom it may mean is said once the cluster has been read.
    """
    found = DeviceId.of(word)
    full = bool(found.driver and found.pool)
    device = found.device if full else word.rpartition("/")[2]
    if not device or "//" in word or word.startswith("/"):
        raise UsageProblem(f'"{word}" is not a valid device name', "DRIVER/POOL/DEVICE, as in get devices -o name")
    if problems := dns_label(device):
        raise UsageProblem(f'"{word}" can\'t be a device: its name {problems[0]}')
    return found if full else DeviceId("", "", word)
