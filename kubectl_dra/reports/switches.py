"""What-if switches as people write them, such as ``like=NODE,count=2``; commands and the TUI share them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kubectl_dra.diagnosis import whatif
from kubectl_dra.diagnosis.whatif import Switch
from kubectl_dra.model.taint_text import PREVENTING

#: The options, and the fields of :func:`read_switches` that they fill.
OPTIONS: Final = {
    "add-node": "add_nodes",
    "remove-node": "remove_nodes",
    "drain": "drains",
    "add-devices": "add_devices",
    "taint": "taints",
    "untaint": "untaints",
}
_EFFECTS: Final = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_MOST: Final = 1000


class SwitchError(ValueError):
    """Raised for a switch that can't be read; ``hint`` says how it is written."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def read_switches(given: Mapping[str, Iterable[str]]) -> tuple[Switch, ...]:
    """The switches that the options say. Raises :class:`SwitchError`."""
    found: list[Switch] = []
    for text in given["add_nodes"]:
        like, count, free = _like(text, "--add-node", "like=NODE[,count=N][,free]", flags=("free",))
        found.append(whatif.AddNode(like, count, free))
    found += (whatif.RemoveNode(name) for name in given["remove_nodes"])
    found += (whatif.Drain(name) for name in given["drains"])
    for text in given["add_devices"]:
        like, count, _ = _like(text, "--add-devices", "like=DRIVER/POOL/DEVICE[,count=N]")
        found.append(whatif.MoreDevices(like, count))
    found += (whatif.AddTaint(*_taint(text)) for text in given["taints"])
    found += (whatif.EndTaint(*_end(text)) for text in given["untaints"])
    return tuple(found)


def _like(text: str, option: str, form: str, flags: tuple[str, ...] = ()) -> tuple[str, int, bool]:
    like, count, free = "", 1, False
    for part in text.split(","):
        name, _, value = part.partition("=")
        if part in flags:
            free = True
        elif name == "like" and value:
            like = value
        elif name == "count" and value.isascii() and value.isdecimal() and 0 < int(value[:9]) <= _MOST:
            count = int(value)
        elif name == "count":
            raise SwitchError(f'"{value}" is not a number from 1 to {_MOST}', f"{option} {form}")
        else:
            # The name alone, as of --remove-node.
            bare = bool(part) and not (like or name != part)
            meant = text.replace(part, f"like={part}", 1) if bare else form
            raise SwitchError(f'"{part}" is not a part of {option}', f"{option} {meant}")
    if not like:
        raise SwitchError(f"{option} does not say what the new ones are like", f"{option} {form}")
    return like, count, free


def _taint(text: str) -> tuple[str, str, str, str]:
    target, _, taint = text.partition(",")
    pair, _, effect = taint.rpartition(":")
    key, _, value = pair.partition("=")
    effects = PREVENTING if "/" in target else _EFFECTS
    if not (target and key and effect in effects):
        what = f'"{text}" is not a taint'
        raise SwitchError(what, f"--taint TARGET,KEY[=VALUE]:EFFECT with the effect {' or '.join(effects)}")
    return target, key, value, effect


def _end(text: str) -> tuple[str, str, str]:
    target, _, taint = text.partition(",")
    key, _, effect = taint.partition(":")
    if not (target and key and effect in ("", *_EFFECTS)):
        raise SwitchError(f'"{text}" does not name a taint', "--untaint TARGET,KEY[:EFFECT]")
    return target, key.partition("=")[0], effect
