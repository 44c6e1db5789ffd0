"""What took devices out of a funnel, in a few words beside the number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import SUPPOSED, HeldFor, ObjectRef, Removal, Short, StageName
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted, listed, plural, shortened
from kubectl_dra.selectors.comparisons import compared_name, short_clause

_SHOWN: Final = 3
# Their reasons end with a number already.
_SHORT_OF: Final = (StageName.CAPACITY, StageName.COUNTERS)
_KEPT_APART: Final = (HeldFor.USED, HeldFor.ENDING, HeldFor.FAILING)
#: Whom nobody misses is named first.
IN_VAIN: Final = {HeldFor.ENDING: "being deleted", HeldFor.FAILING: "does not run"}


def removal_note(stage: StageName, removals: Sequence[Removal], namespace: str, *, users: bool = False) -> Safe:
    """``serve-1 5, serve-0 2``: the biggest first; numbers only where there are several reasons.

    ``users``: with who uses what is short.
    """
    if stage is StageName.SELECTORS:
        removals = _summed(removals)
    if stage is StageName.UNUSED:
        removals = _for_nobody(removals)
    if users and stage is StageName.COUNTERS and (blocked := _blockers(removals, namespace)):
        return blocked
    if stage in _SHORT_OF:
        removals = _with_the_most_left(removals)
        removals = removals if users else without_users(removals)
    say, together = _WORDS.get(stage, _plain), _of_owners(removals)
    totals: dict[Safe, int] = {}
    first: set[Safe] = set()
    for removal in removals:
        pods = together.get(removal.owner, 0)
        text = _pods_of(removal.owner, pods, namespace) if removal.owner and pods else say(removal, namespace)
        totals[text] = totals.get(text, 0) + len(removal.devices)
        first |= {text} if removal.held_for in IN_VAIN else set()
    ranked = sorted(totals.items(), key=lambda item: (item[0] not in first, -item[1], item[0]))
    several = len(ranked) > 1
    numbers = several and not (users and stage in _SHORT_OF)
    texts = [_numbered(stage, text, number) if numbers else text for text, number in ranked[:_SHOWN]]
    if len(ranked) > _SHOWN:
        texts.append(fmt("{} more", len(ranked) - _SHOWN))
    return Safe("; " if stage in _SHORT_OF else ", ").join(texts)


def _of_owners(removals: Sequence[Removal]) -> dict[ObjectRef | None, int]:
    """How many pods of a workload hold devices, of workloads with so many that their names would fill the line."""
    pods: dict[ObjectRef | None, set[str]] = {}
    for each in removals:
        if each.owner is not None:
            pods.setdefault(each.owner, set()).add(each.source)
    return {owner: len(names) for owner, names in pods.items() if len(names) >= _SHOWN}


def _pods_of(owner: ObjectRef, pods: int, namespace: str) -> Safe:
    name = owner.name if owner.namespace == namespace else str(owner.key)
    return fmt("{} of {} {}", counted(pods, "pod"), owner.kind, name)


def without_users(removals: Sequence[Removal]) -> list[Removal]:
    """What is short without who uses the rest."""
    return [
        each
        if each.short is None
        else msgspec.structs.replace(each, short=msgspec.structs.replace(each.short, users=()))
        for each in removals
    ]


def _numbered(stage: StageName, text: Safe, number: int) -> Safe:
    """A reason with the devices that it takes; amounts end with a number of their own."""
    if stage in _SHORT_OF:
        return text if number == 1 else fmt("{} on {} devices", text, number)
    return fmt("{} {}", text, number)


def _summed(removals: Sequence[Removal]) -> Sequence[Removal]:
    """Clauses with many values seen (a uuid, an address) as one entry each: the values would say nothing."""
    seen: dict[str, set[str]] = {}
    for removal in removals:
        seen.setdefault(removal.reason, set()).add(removal.source)
    many = {reason for reason, values in seen.items() if len(values) > _SHOWN}
    return [
        Removal(removal.stage, removal.reason, removal.devices, "another value") if removal.reason in many else removal
        for removal in removals
    ]


def _for_nobody(removals: Sequence[Removal]) -> Sequence[Removal]:
    """Claims that are held for pods that are gone in one entry where there are several of a kind."""
    alike: dict[tuple[HeldFor, bool], list[Removal]] = {}
    for removal in removals:
        alike.setdefault((removal.held_for, bool(removal.since)), []).append(removal)
    found: list[Removal] = []
    for (held_for, _), group in alike.items():
        if held_for in _KEPT_APART or len({each.reason for each in group}) < 2:
            found += group
            continue
        claims, pods = (
            ", ".join(dict.fromkeys(name for text in texts for name in text.split(", ") if name))
            for texts in ([each.reason for each in group], [each.source for each in group])
        )
        devices = tuple(device for each in group for device in each.devices)
        found.append(msgspec.structs.replace(group[0], reason=claims, source=pods, devices=devices))
    return found


def _with_the_most_left(removals: Sequence[Removal]) -> Sequence[Removal]:
    """Of devices that are short of the same in different ways the best one says how far off all are."""
    left: dict[tuple[str, str, str], set[str]] = {}
    for removal in removals:
        if removal.short is not None:
            left.setdefault(_shortage(removal, removal.short), set()).add(removal.short.left)
    said = {key: f"at most {max(found, key=_nanos)}" for key, found in left.items() if len(found) > 1}
    return [_saying(each, each.short, said) if each.short is not None else each for each in removals]


def _saying(removal: Removal, short: Short, said: Mapping[tuple[str, str, str], str]) -> Removal:
    """The best of several devices in place of each; who uses which of them is then left out."""
    left = said.get(_shortage(removal, short))
    if left is None:
        return removal
    return msgspec.structs.replace(removal, short=msgspec.structs.replace(short, left=left, users=()))


def _nanos(quantity: str) -> int:
    return Quantity.parse(quantity).at_scale(-9)[0]


def _shortage(removal: Removal, short: Short) -> tuple[str, str, str]:
    return removal.reason, short.needs, short.total


def _selector(removal: Removal, _namespace: str) -> Safe:
    """``model is L40``: the value of the only attribute that the condition compares."""
    if removal.source and (name := compared_name(removal.reason)):
        return fmt("{} is {}", name, removal.source)
    clause = short_clause(removal.reason)
    return fmt("{} (seen: {})", clause, removal.source) if removal.source else safe(clause)


def _taint(removal: Removal, _namespace: str) -> Safe:
    if removal.source in ("", SUPPOSED):
        return safe(removal.reason)
    wide = Safe(", whose empty deviceSelector selects all devices of all drivers" if removal.everywhere else "")
    return fmt("{}, rule {}{}", removal.reason, removal.source, wide)


def _holder(removal: Removal, namespace: str) -> Safe:
    prefix = f"{namespace}/"
    if removal.held_for in IN_VAIN:
        return fmt("{}: {}", ", ".join(_short_names(removal.source, prefix)), Safe(IN_VAIN[removal.held_for]))
    if removal.held_for is not HeldFor.USED:
        claims, pods = (_short_names(text, prefix) for text in (removal.reason, removal.source))
        going = Safe(" (being deleted)" if removal.since else "")
        held = fmt("{} {}{}", Safe(plural("claim", len(claims))), shortened(claims, _SHOWN), going)
        return fmt("{} held for {}", held, users_gone(removal.held_for, pods))
    if removal.source:
        return safe(removal.source.removeprefix(prefix))
    return fmt("claim {}", removal.reason.removeprefix(prefix))


def _short_names(text: str, prefix: str) -> list[str]:
    return [each.removeprefix(prefix) for each in text.split(", ") if each]


def users_gone(held_for: HeldFor, pods: Sequence[str]) -> Safe:
    """``pod old-0, which no longer exists``, in a form without commas that can stand in lists."""
    if not pods:
        return Safe("nobody")
    one = len(pods) == 1
    exist, run = ("exists", "runs") if one else ("exist", "run")
    noun = "PodGroup" if held_for is HeldFor.EMPTY_GROUP else "pod"
    named = listed(pods[:_SHOWN]) if len(pods) <= _SHOWN else counted(len(pods), noun)
    pods_named = fmt("{} {}", Safe(plural(noun, len(pods))), named) if len(pods) <= _SHOWN else named
    if held_for is HeldFor.EMPTY_GROUP:
        return fmt("{} without pods", pods_named)
    return fmt("{} that no longer {}", pods_named, Safe(exist if held_for is HeldFor.GONE else run))


def _short(removal: Removal, namespace: str) -> Safe:
    short = removal.short
    if short is None:
        others = fmt(", only {}", listed(removal.source.split(", "))) if removal.source else Safe("")
        return fmt("the device publishes no capacity {}{}", removal.reason, others)
    if removal.source == "policy":
        most = fmt("allows at most {}, not {}", short.left, short.needs) if short.left else Safe("")
        allows = most or fmt("does not allow {}", short.needs)
        return fmt("{}: its request policy {}; it has {} in all", removal.reason, allows, short.total)
    rounded = fmt(" ({} rounded up by the device's request policy)", short.requested) if short.requested else Safe("")
    if short.left and short.left != short.total:
        text = "{}: needs {}{}, {} of {} left{}"
        users = _using(short.users, namespace)
        return fmt(text, removal.reason, short.needs, rounded, short.left, short.total, users)
    return fmt("{}: needs {}{}, has {}", removal.reason, short.needs, rounded, short.total)


def amounts_left(removals: Sequence[Removal], namespace: str, *, rounded: bool = False) -> Safe:
    """``gpu-0 has 20 of 32 left (web uses the rest), gpu-1 has 16``, behind a sentence that tells what is needed.

    Empty for many devices, several capacities, and where it is not the amount that is short. ``rounded``: the sentence
    tells also what policies make of it.
    """
    devices = sorted((name, removal) for removal in removals for name in removal.devices)
    plain_ = all(
        each.short is not None and (rounded or not each.short.requested) and _is_amount(each) for _, each in devices
    )
    if not devices or len(devices) > _SHOWN or not plain_ or len({each.reason for _, each in devices}) > 1:
        return Safe("")
    return Safe(", ").join(_amount_left(name, each.short, namespace) for name, each in devices if each.short)


def _blockers(removals: Sequence[Removal], namespace: str) -> Safe:
    """``gpu-0-3g-0: web uses gpu-0/memory-slice-2``: of which partition who has a counter of which nothing is left.

    Empty for many of them, and where something is left of a counter, or nobody is known to use it.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in removals:
        if each.short is None or each.short.left != "0" or not each.short.users:
            return Safe("")
        devices = alike.setdefault((each.reason, each.short.users), [])
        devices += (name.rpartition("/")[2] for name in each.devices)
    if len(alike) > _SHOWN or max(map(len, alike.values()), default=0) > _SHOWN:
        return Safe("")
    texts = []
    for (counter, users), devices in alike.items():
        names = sorted(each.removeprefix(f"{namespace}/") for each in users)
        verb = Safe("uses" if len(names) == 1 else "use")
        texts.append(fmt("{}: {} {} {}", listed(devices), shortened(names, _SHOWN), verb, counter))
    return Safe("; ").join(texts)


def _is_amount(removal: Removal) -> bool:
    """Whether it is too much, and not an amount that a policy leaves out."""
    short = removal.short
    if short is None:
        return False
    return removal.source != "policy" or _nanos(short.needs) > _nanos(short.total)


def _amount_left(device: str, short: Short, namespace: str) -> Safe:
    name = device.rpartition("/")[2]
    if not short.left or short.left == short.total:
        return fmt("{} has {} in all", name, short.total)
    users = _using(short.users, namespace).removeprefix(", ")
    return fmt("{} has {} of {} left{}", name, short.left, short.total, fmt(" ({})", Safe(users)) if users else "")


def _using(users: Sequence[str], namespace: str) -> Safe:
    """``, serve-0 and serve-1 use the rest``."""
    names = sorted(each.removeprefix(f"{namespace}/") for each in users)
    if not names:
        return Safe("")
    shown = listed(names) if len(names) <= _SHOWN else fmt("{} and {} more pods", names[0], len(names) - 1)
    return fmt(", {} {} the rest", shown, Safe("uses" if len(names) == 1 else "use"))


def _plain(removal: Removal, _namespace: str) -> Safe:
    return fmt("{} ({})", removal.reason, removal.source) if removal.source else safe(removal.reason)


_WORDS: Final[dict[StageName, Callable[[Removal, str], Safe]]] = {
    StageName.SELECTORS: _selector,
    StageName.TAINTS: _taint,
    StageName.UNUSED: _holder,
    StageName.CAPACITY: _short,
    StageName.COUNTERS: _short,
}
