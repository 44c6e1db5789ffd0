"""Small words for people: numbers with their unit, lists of names, ages as kubectl prints them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.diagnosis.gates.quota import OBJECT_COUNT, PER_CLASS_SUFFIX
from kubectl_dra.diagnosis.records import Bound, ObjectRef
from kubectl_dra.model.clock import parse_time
from kubectl_dra.output.safe import Safe, fmt, safe

_IRREGULAR = {"is": "are", "has": "have", "does": "do", "it": "they", "was": "were"}

#: Clocks of nodes and servers differ by so much, and nobody minds.
_SKEW: Final = timedelta(minutes=1)
#: Of a time that this clock has not reached yet.
FUTURE: Final = Safe("in the future")
_VOWELS: Final = "aeioAEIO"
#: What may be the name of an object: words that hyphens and dots join.
_NAME: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_SEVERAL: Final = 2


def plural(word: str, number: int) -> str:
    """``word`` as it stands after ``number``."""
    if number == 1:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else f"{word}s"


def counted(number: int, word: str) -> Safe:
    """``1 device``, ``8 devices``, ``1,000,000 devices``; the word stands in the program."""
    return fmt("{:,} {}", number, plural(word, number))


def listed_count(number: int, word: str, bound: Bound) -> Safe:
    """How many lines a list has: ``8 pools``, or ``At least 8 pools`` where more may be there unread."""
    return Safe("" if bound is Bound.EXACT else "At least ") + counted(number, word)


def listed(names: Sequence[str], conjunction: str = "and") -> Safe:
    """``a``, ``a and b``, ``a, b and c``."""
    texts = [safe(name) for name in names]
    if len(texts) < 2:
        return Safe("".join(texts))
    return Safe(f"{Safe(', ').join(texts[:-1])} {conjunction} {texts[-1]}")


def did_you_mean(near: Sequence[str], before: str = "; ", after: str = "") -> Safe:
    """``; did you mean a, b or c?`` between what stands ``before`` and ``after`` it, or nothing."""
    return fmt("{}did you mean {}?{}", Safe(before), listed(near, "or"), Safe(after)) if near else Safe("")


def every(number: int, noun: str = "") -> Safe:
    """``all 8``, ``both``; with a noun ``all 8 copies``, ``both copies``."""
    if number == 2:
        return fmt("both {}", plural(noun, number)) if noun else Safe("both")
    return fmt("all {}", counted(number, noun) if noun else number)


def first_of(names: Sequence[str], limit: int, conjunction: str = "and") -> Safe:
    """``a``, ``a and b``, ``a, b, c and 2 more``."""
    if len(names) <= limit:
        return listed(names, conjunction)
    return fmt("{} {} {} more", Safe(", ").join(names[:limit]), Safe(conjunction), len(names) - limit)


def one_of(names: Sequence[str], limit: int = 3) -> Safe:
    """``a``, ``a or b``, ``a, b, c or 2 more``: one of these, and any of them."""
    return first_of(names, limit, "or")


def shortened(names: Sequence[str], limit: int = 2) -> Safe:
    """``a, b +6``: the first names and how many more there are."""
    shown = Safe(", ").join(names[:limit])
    return fmt("{} +{}", shown, len(names) - limit) if len(names) > limit else shown


def age(since: str | None, now: datetime) -> Safe:
    """How long ago an RFC 3339 time was, as in kubectl's AGE column; ``<unknown>`` without a time.

    Where kubectl says ``<invalid>``, because this clock is behind the one that wrote the time: ``in the future``. The
    clocks of nodes differ by seconds everywhere, which is nothing to tell: that much ahead is now.
    """
    moment = parse_time(since)
    if moment is None:
        return Safe("<unknown>")
    passed = now - moment
    return duration(0 if -_SKEW <= passed < timedelta() else passed.total_seconds())


def ago(since: str | None, now: datetime) -> Safe:
    """The same in a sentence: ``4m ago``, ``in the future``, ``at an unknown time``."""
    text = age(since, now)
    if text == FUTURE:
        return FUTURE
    return fmt("{} ago", text) if parse_time(since) is not None else Safe("at an unknown time")


def often(times: int, first: str, last: str, now: datetime) -> Safe:
    """``31 times, first 34m ago, last 20s ago``; of what came once ``20s ago``."""
    if times < _SEVERAL or parse_time(first) is None:
        return ago(last, now)
    return fmt("{} times, first {}, last {}", Safe(f"{times:,}"), ago(first, now), ago(last, now))


def lasting(since: str | None, now: datetime) -> Safe:
    """How long something is so: ``for 4m``, ``since a time in the future``."""
    text = age(since, now)
    if text == FUTURE:
        return Safe("since a time in the future")
    return fmt("for {}", text) if parse_time(since) is not None else Safe("for an unknown time")


def duration(seconds: float) -> Safe:
    """A duration as kubectl prints it (``apimachinery/pkg/util/duration.HumanDuration``): two units at most."""
    total = int(seconds)
    if total < -1:
        return FUTURE
    if total < 0:
        return Safe("0s")
    minutes, hours = total // 60, total // 3600
    days = hours // 24
    if total < 120:
        return Safe(f"{total}s")
    if minutes < 10:
        return _two(minutes, "m", total % 60, "s")
    if minutes < 180:
        return Safe(f"{minutes}m")
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return Safe(f"{hours}h")
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return Safe(f"{days}d")
    return _two(days // 365, "y", days % 365, "d") if days < 365 * 8 else Safe(f"{days // 365}y")


def _two(big: int, big_unit: str, small: int, small_unit: str) -> Safe:
    return Safe(f"{big}{big_unit}{small}{small_unit}" if small else f"{big}{big_unit}")


def article(text: str) -> Safe:
    """``a`` or ``an`` before a name, by its first letter."""
    return Safe("an" if text[:1] in _VOWELS and text else "a")


def quota_noun(resource: str) -> Safe:
    """What a quota counts: ``gpu.example.com devices``, ``ResourceClaims``; other names as they are."""
    if resource == OBJECT_COUNT:
        return Safe("ResourceClaims")
    if resource.endswith(PER_CLASS_SUFFIX):
        return fmt("{} devices", resource.removesuffix(PER_CLASS_SUFFIX))
    return safe(resource)


def without_names(names: Container[str], lines: Iterable[Safe]) -> str:
    """A text without white space, in which ``names`` are all the same: equal for pages that differ only in them."""
    text = _NAME.sub(lambda found: "*" if found[0] in names else found[0], " ".join(lines))
    # Longer names wrap elsewhere.
    return "".join(text.split())


def object_name(ref: ObjectRef) -> Safe:
    """``KIND NAMESPACE/NAME``; of an object without a name, its kind."""
    name = str(ref.key) if ref.namespace else ref.name
    return fmt("{} {}", ref.kind, name) if ref.name else fmt("{} without a name", ref.kind)


def kind_and_name(ref: ObjectRef) -> Safe:
    """``KIND NAME``, where the namespace is known."""
    return fmt("{} {}", ref.kind, ref.name)


def capital(text: Safe) -> Safe:
    """A sentence that begins with a capital letter."""
    return Safe(text[:1].upper() + text[1:])
