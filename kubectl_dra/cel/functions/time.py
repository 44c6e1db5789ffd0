"""Durations and timestamps: parsing, printing and their parts, as Go's ``time`` package has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kubectl_dra.cel.functions.operators import NANOS, checked_timestamp
from kubectl_dra.cel.run.values import MAX_INT, CelError, Duration, Timestamp, Value

#: Go's name for the time zone of the machine that evaluates (``time.LoadLocation``).
LOCAL_ZONE: Final = "Local"
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_TERM: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)(?=[0-9.]|\Z)")
_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))\Z"
)
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MAX_NUMBER_DIGITS: Final = 19


def parse_duration(text: str) -> Duration | None:
    """The duration that a text like ``1h2.5s`` means, or None."""
    sign, body = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if body == "0":
        return Duration(0)
    total, position = 0, 0
    while position < len(body):
        term = _TERM.match(body, position)
        if term is None or not (term[1] or term[2]):
            return None
        amount = _term_nanos(term[1], term[2] or "", _UNITS[term[3]])
        total += MAX_INT + 2 if amount is None else amount
        if total > MAX_INT + 1:
            return None
        position = term.end()
    if position == 0 or (total > MAX_INT and sign > 0):
        return None
    return Duration(sign * total)


def _term_nanos(whole: str, fraction: str, unit: int) -> int | None:
    whole = whole.lstrip("0")
    if len(whole) > _MAX_NUMBER_DIGITS:
        return None
    # Digits of a fraction beyond what fits an int64 are dropped upstream.
    kept = fraction[:18]
    if len(fraction) > 18 and int(kept) <= MAX_INT // 10:
        kept = fraction[:19]
    return int(whole or 0) * unit + (int(int(kept) * (unit / 10 ** len(kept))) if kept else 0)


def parse_timestamp(text: str) -> Timestamp | None:
    """The moment that an RFC 3339 text means, or None. Raises if it lies outside years 1 to 9999."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month) and hour < 24 and minute < 60 and second < 60):
        return None
    offset = 0
    if match[8]:
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 3600 + minutes * 60) * (-1 if match[8] == "-" else 1)
    nanos = int((match[7] or "0")[:9].ljust(9, "0"))
    seconds = days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    return checked_timestamp(seconds, nanos, offset)


def is_calendar_date(text: str) -> bool:
    """Whether a text is a date ``YYYY-MM-DD`` that exists."""
    match = _DATE.fullmatch(text)
    return (
        match is not None and 1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= _days_in(int(match[1]), int(match[2]))
    )


def _days_in(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _DAYS[month - 1]


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date of the proleptic Gregorian calendar."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01."""
    era, day_of_era = divmod(days + 719468, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def format_duration(duration: Duration) -> str:
    """Seconds as a double in plain notation, with ``s``."""
    whole, rest = divmod(abs(duration.nanos), NANOS)
    digits, _, exponent = f"{whole + rest / 1e9!r}".partition("e")
    if exponent:
        # Shorter than a tenth of a millisecond: the digits are those of the nanoseconds.
        digits = f"0.{rest:09d}"
    text = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{'-' if duration.nanos < 0 else ''}{text}s"


def plain_duration(duration: Duration) -> str:
    """``1h2m3.5s``, as Go prints durations."""
    sign, rest = ("-" if duration.nanos < 0 else ""), abs(duration.nanos)
    if rest < NANOS:
        return sign + _small_duration(rest)
    seconds = format_duration(Duration(rest % (60 * NANOS)))
    minutes = rest // (60 * NANOS)
    if not minutes:
        return sign + seconds
    return sign + (f"{minutes // 60}h" if minutes >= 60 else "") + f"{minutes % 60}m{seconds}"


def _small_duration(nanos: int) -> str:
    if not nanos:
        return "0s"
    unit, scale = ("ns", 0) if nanos < 10**3 else ("µs", 3) if nanos < 10**6 else ("ms", 6)
    whole, rest = divmod(nanos, 10**scale)
    return f"{whole}.{rest:0{scale}d}".rstrip("0") + unit if rest else f"{whole}{unit}"


def plain_timestamp(moment: Timestamp) -> str:
    """``2024-03-01 03:04:05.678 +0000 UTC``, as Go prints times."""
    text = format_timestamp(moment).replace("T", " ")
    if not moment.offset:
        return text.removesuffix("Z") + " +0000 UTC"
    zone = text[-6:].replace(":", "")
    return f"{text[:-6]} {zone} {zone}"


def format_timestamp(moment: Timestamp) -> str:
    """RFC 3339 in the timestamp's own offset, without trailing zeros of the fraction."""
    days, rest = divmod(moment.seconds + moment.offset, 86400)
    year, month, day = civil_from_days(days)
    fraction = f".{moment.nanos:09d}".rstrip("0") if moment.nanos else ""
    if moment.offset:
        minutes = abs(moment.offset) // 60
        zone = f"{'-' if moment.offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    else:
        zone = "Z"
    return f"{year:04d}-{month:02d}-{day:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{fraction}{zone}"


def _zone_offset(zone: str, seconds: int) -> int:
    if ":" in zone:
        return _fixed_offset(zone)
    # Go's "Local" is the zone of the scheduler's process, which cannot be read from outside; its image sets none: UTC.
    if zone in ("", "UTC", LOCAL_ZONE):
        return 0
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(min(max(seconds, -62135510400), 253402214400), UTC)
    if ".." in zone or zone[0] in "/\\":
        raise CelError("time: invalid location name")
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        # Go takes the name for a path.
        offset = moment.astimezone(ZoneInfo(re.sub("/+", "/", zone))).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CelError(f"unknown time zone {zone}") from None
    return int(offset.total_seconds()) if offset else 0


def _fixed_offset(zone: str) -> int:
    hours_text, _, minutes_text = zone.partition(":")
    hours, minutes = _atoi(hours_text), _atoi(minutes_text)
    total = hours * 60 - minutes if zone[0] == "-" else hours * 60 + minutes
    nanos = (total * 60 * NANOS + 2**63) % 2**64 - 2**63
    return int(nanos / NANOS)


def _atoi(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
        raise CelError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    if len(text.lstrip("+-0")) > _MAX_NUMBER_DIGITS or not -MAX_INT - 1 <= int(text) <= MAX_INT:
        raise CelError(f'strconv.Atoi: parsing "{text}": value out of range')
    return int(text)


def _calendar(part: Callable[[int, int, int, int], int]) -> Callable[..., int]:
    def get(moment: Timestamp, zone: str = "") -> int:
        days = (moment.seconds + _zone_offset(zone, moment.seconds)) // 86400
        return part(days, *civil_from_days(days))

    return get


def _clock(part: Callable[[int], int]) -> Callable[..., int]:
    def get(moment: Timestamp, zone: str = "") -> int:
        return part((moment.seconds + _zone_offset(zone, moment.seconds)) % 86400)

    return get


def _milliseconds(moment: Timestamp, zone: str = "") -> int:
    _zone_offset(zone, moment.seconds)
    return moment.nanos // 10**6


def _whole(unit: int) -> Callable[[Duration], int]:
    def get(duration: Duration) -> int:
        whole = abs(duration.nanos) // unit
        return -whole if duration.nanos < 0 else whole

    return get


def _both(name: str, getter: Callable[..., Value], with_zone: str = "") -> dict[str, Callable[..., Value]]:
    return {f"timestamp_to_{name}": getter, with_zone or f"timestamp_to_{name}_with_tz": getter}


OVERLOADS: Final[dict[str, Callable[..., Value]]] = {
    **_both("year", _calendar(lambda days, year, month, day: year)),
    **_both("month", _calendar(lambda days, year, month, day: month - 1)),
    **_both("day_of_year", _calendar(lambda days, year, month, day: days - days_from_civil(year, 1, 1))),
    **_both("day_of_month", _calendar(lambda days, year, month, day: day - 1)),
    **_both("day_of_month_1_based", _calendar(lambda days, year, month, day: day)),
    **_both("day_of_week", _calendar(lambda days, year, month, day: (days + 4) % 7)),
    **_both("hours", _clock(lambda second: second // 3600)),
    **_both("minutes", _clock(lambda second: second // 60 % 60)),
    **_both("seconds", _clock(lambda second: second % 60), "timestamp_to_seconds_tz"),
    **_both("milliseconds", _milliseconds),
    "duration_to_hours": _whole(3600 * NANOS),
    "duration_to_minutes": _whole(60 * NANOS),
    "duration_to_seconds": _whole(NANOS),
    "duration_to_milliseconds": _whole(10**6),
}
