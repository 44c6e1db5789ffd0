"""What another spec of a claim means, in words: one sentence per field that :class:`EditClaim` may name."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.diagnosis.remedies import records
from kubectl_dra.diagnosis.remedies.offers import conditions_only_in
from kubectl_dra.diagnosis.remedies.pod_edits import in_brackets
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.selectors.comparisons import short_clause

_DEFAULT: Final = re.compile(r"\.orValue\((?:[^()]|\([^()]*\))*\)")

#: What no single request has.
_OF_THE_CLAIM: Final = ("firstAvailable", "constraints", "requests")


def edit_claim(action: records.EditClaim) -> Safe:
    # Of another request, or of another one of its alternatives, the same change is another way out.
    of_one = ("/" in action.request or action.several) and not action.field.startswith(_OF_THE_CLAIM)
    return fmt("{}: {}", action.request, _claim_change(action)) if of_one else _claim_change(action)


def _unguarded(expression: str) -> str:
    """The selector without its defaults: the same before and after where only guards were added."""
    bare = _DEFAULT.sub("", " ".join(expression.split()))
    return bare.replace(".?", ".").replace("[?", "[")


def _claim_change(action: records.EditClaim) -> Safe:
    name = action.field.partition("[")[0]
    if name == "count":
        return fmt("request {} instead of {}", counted(_number(action.after), "device"), action.before)
    if name == "allocationMode":
        return fmt("request {} instead of all devices", counted(_number(action.after.split(" ")[-1]), "device"))
    if name == "constraints" and action.after:
        return fmt("compare {} instead of {} in the constraint", action.after, action.before)
    if name == "constraints":
        return fmt("drop the constraint on {}", action.before.rpartition("/")[2])
    if name == "firstAvailable":
        return fmt("drop the alternative {}", action.before)
    if name == "requests":
        return fmt("drop the request {}", action.before)
    if name == "tolerations" and "=" in action.before:
        return fmt("tolerate the device taint {}, not {}", action.after, action.before)
    if name == "tolerations":
        return fmt("tolerate the device taint {}", action.after)
    if name == "deviceClassName":
        return fmt("use class {} instead of {}", action.after, action.before)
    if name in ("share", "capacity.name", "capacity.requests"):
        return _amount(action)
    if name == "selectors" and not action.after:
        return fmt("drop the selector {}", short_clause(action.before))
    if name == "selectors" and action.offers and not drops_condition(action):
        return fmt("select {} ({} free)", new_condition(action), sum(each.devices for each in action.offers))
    if name == "selectors":
        guarded = ".orValue(" in action.after and _unguarded(action.after) == _unguarded(action.before)
        return fmt(
            "{} {}", Safe("guard the selector" if guarded else "change the selector to"), " ".join(action.after.split())
        )
    change = fmt(" to {}", action.after) if action.after else Safe("")
    return fmt("change {}{}", action.field, change)


def _amount(action: records.EditClaim) -> Safe:
    """So much of a capacity, and of which one."""
    name, capacity = action.field.partition("[")[0], in_brackets(action.field)
    if name == "share":
        text = "request {} of {}, a share of one device, instead of {} devices"
        return fmt(text, action.after, capacity, action.before)
    if name == "capacity.name":
        return fmt("name the capacity {} instead of {}", action.after, action.before)
    if not action.before:
        return fmt("request {} of {}, a share of a device", action.after, capacity)
    if not action.after:
        return fmt("drop the capacity {} from the request", capacity)
    text = "request {} of {} instead of {}{}"
    return fmt(text, action.after, capacity, action.before, _how_little(action))


def _how_little(action: records.EditClaim) -> Safe:
    """Of an amount that is less than half: nobody should overlook that it may be too little."""
    try:
        before, after = (Quantity.parse(text).at_scale(-9)[0] for text in (action.before, action.after))
    except ValueError:
        return Safe("")
    return fmt(" (only {}% of it)", max(100 * after // before, 1)) if 0 < 2 * after < before else Safe("")


def new_condition(action: records.EditClaim) -> str:
    """What a changed selector says that it did not say before; empty where a condition was dropped."""
    return short_clause(" && ".join(conditions_only_in(action.after, action.before)))


def drops_condition(action: records.EditClaim) -> bool:
    """Whether a selector no longer asks for a value, and it is known what it may get instead."""
    return bool(action.offers) and not new_condition(action)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
