"""What a pod asks for, in a few lines: claims, requests, selectors, constraints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import Cause, FatalError, MissingEvidence
from kubectl_dra.output.console import page_width
from kubectl_dra.output.layout import padded, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import counted, listed, plural
from kubectl_dra.reports.claims.ask import ClaimAsk, ClassicAsk, ConstraintAsk, ExtendedAsk, RequestAsk, UnfoundRequest

_GAP: Final = 3
_WHERE: Final = "where"
_MISSING_KEY: Final = re.compile(r"no such key: (\S+?)(?:\.|$)")


def ask_lines(
    asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk] = (), fault: FatalError | None = None
) -> Iterator[Safe]:
    """Lines for all claims and extended resources of a pod; ``fault`` is marked in the selector that it is about."""
    single = _in_a_sentence(asks, extended)
    if single is not None and width(single) <= page_width():
        yield single
        return
    if extended:
        yield Safe("It requests (extended resources, without a ResourceClaim)")
    for resource in extended:
        text = _served(resource)
        yield from wrapped(text, indent=4, first=2)
    names = [request.name for ask in asks for request in ask.requests]
    column = 2 + max(map(len, names), default=0) + _GAP
    for ask in asks:
        changed = Safe(", which has changed since" if ask.template_changed else "")
        yield from wrapped(fmt("It requests ({}{})", _whose(ask), changed))
        classic = _classic(ask.classic) if ask.classic is not None else Safe("")
        if classic:
            yield from wrapped(classic, indent=4, first=2)
        elif not ask.requests:
            yield Safe("  nothing: the claim has no requests")
        for request in ask.requests:
            yield from _request_lines(request, column, fault)
        several = len(ask.requests) > 1
        for constraint in ask.constraints:
            yield Safe(" " * (2 if several else column)) + _constraint(constraint, several=several)


def is_told(asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk], said: str) -> bool:
    """Whether a sentence names all that is requested: devices of one class, of which nothing else is asked."""
    plain_request = _in_a_sentence(asks, extended) is not None and not extended
    return plain_request and f" {asks[0].requests[0].device_class} device" in said


def extended_title(request: str, extended: Sequence[ExtendedAsk]) -> Safe | None:
    """``example.com/gpu of container main``: what somebody wrote, for a request that the scheduler names by itself."""
    for resource in extended:
        if request in resource.requests:
            container = resource.requests[request]
            kind = Safe("init container" if container == resource.init_container else "container")
            return fmt("{} of {} {}", resource.resource, kind, container)
    return None


def _served(resource: ExtendedAsk) -> Safe:
    """``4 × example.com/gpu, served by class gpu.example.com``."""
    init = fmt(" (for init container {}, and held until the pod ends)", resource.init_container)
    whose = init if resource.init_container else Safe("")
    return fmt("{} × {}{}, served by class {}", resource.count, resource.resource, whose, resource.device_class)


def _in_a_sentence(asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk]) -> Safe | None:
    """All that is requested, where that is one resource, or a number of devices that nothing else is asked of."""
    if len(extended) == 1 and not asks:
        return fmt("It requests {}.", _served(extended[0]))
    if extended or len(asks) != 1 or asks[0].classic is not None or len(asks[0].requests) != 1:
        return None
    ask, request = asks[0], asks[0].requests[0]
    if ask.constraints or ask.template_changed or request.selectors or request.capacity or request.tolerations:
        return None
    return fmt("It requests {} (request {} of {}).", _devices(request), request.name, _whose(ask))


def _whose(ask: ClaimAsk) -> Safe:
    """``claim a-gpus-x9grb, from template gpus``, or the template alone."""
    if not ask.name:
        return fmt("template {}, from which its claim is not made yet", ask.template)
    return fmt("claim {}, from template {}", ask.name, ask.template) if ask.template else fmt("claim {}", ask.name)


def _devices(request: RequestAsk) -> Safe:
    """``2 devices of class gpu.example.com``."""
    amount = Safe("all devices") if request.count is None else counted(request.count, "device")
    admin = Safe(", with admin access") if request.admin_access else Safe("")
    return fmt("{} of class {}{}", amount, request.device_class, admin)


def _classic(classic: ClassicAsk) -> Safe:
    """The class, parameters and controller of an old claim, as far as it has them."""
    parts = [fmt("class {}", classic.resource_class)] if classic.resource_class else []
    parts += [fmt("parameters {}", classic.parameters)] if classic.parameters else []
    parts += [fmt("allocation mode {}", classic.mode)] if classic.mode else []
    parts += [fmt("allocated by controller {}", classic.controller)] if classic.controller else []
    return Safe(", ").join(parts)


def ask_words(asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk] = ()) -> Safe:
    """``4 × gpu.example.com, 1 × nic.example.com``; of alternatives the preferred one and an ellipsis."""
    parts = [fmt("{} × {}", each.count, each.resource) for each in extended]
    for ask in asks:
        first: dict[str, RequestAsk] = {}
        for request in ask.requests:
            first.setdefault(request.name.partition("/")[0], request)
        parts += [_amount(each) + Safe(" …" if "/" in each.name else "") for each in first.values()]
    return Safe(", ").join(parts)


def _amount(request: RequestAsk) -> Safe:
    return fmt("{} {}", Safe("all") if request.count is None else fmt("{} ×", request.count), request.device_class)


def is_marked(asks: Sequence[ClaimAsk], fault: FatalError) -> bool:
    """Whether the lines of what is requested can point at the place of an error."""
    names = [request.name for ask in asks for request in ask.requests]
    column = 2 + max(map(len, names), default=0) + _GAP
    requests = (request for ask in asks if ask.classic is None for request in ask.requests)
    return any(_marks(fault, selector, column) for request in requests for selector in request.selectors)


def _marks(fault: FatalError, selector: str, column: int) -> list[Safe]:
    """The caret below a selector that stands behind ``where``; none where it is another, or the place is not known."""
    text = " ".join(selector.split())
    place = place_of(text, fault) if text == " ".join(fault.expression.split()) else -1
    at = column + len(_WHERE) + 1 + place
    # The first line says more about an attribute that is missing.
    detail = "no such key" if fault.attribute else fault.detail
    return list(caret_lines(at, detail)) if place >= 0 and at < page_width() else []


def _request_lines(request: RequestAsk, column: int, fault: FatalError | None) -> Iterator[Safe]:
    """What one request needs; selectors are code, which is never broken across lines."""
    space = Safe(" " * column)
    first, *rest = wrapped(_devices(request), indent=column)
    yield padded(fmt("  {}", request.name), column) + Safe(first[column:])
    yield from rest
    for number, selector in enumerate(request.selectors):
        word = Safe("and" if number else _WHERE)
        yield space + fmt("{} {}", padded(word, len(_WHERE)) if number and fault else word, " ".join(selector.split()))
        if fault is not None:
            yield from _marks(fault, selector, column)
    for key, value in request.capacity.items():
        yield space + fmt("with {} of {} each", value, key)
    if request.tolerations:
        yield space + fmt(
            "tolerating the device {} {}", Safe(plural("taint", len(request.tolerations))), listed(request.tolerations)
        )


def _constraint(constraint: ConstraintAsk, *, several: bool) -> Safe:
    name = constraint.attribute.rpartition("/")[2]
    whose = listed(constraint.requests) if constraint.requests else Safe("all requests")
    among = whose + ": " if several else Safe("")
    if constraint.kind == "match":
        return fmt("{}all with the same {}", among, name)
    return fmt("{}all with a different {}", among, name)


def unread_claims(causes: Iterable[Cause]) -> Iterator[Safe]:
    """The claims that the pod names and that may not be read: what they request is not known."""
    names = [name for cause in causes if isinstance(cause.detail, MissingEvidence) for name in cause.detail.claims]
    if names:
        text = "It uses {} {}, which could not be read; what it requests is unknown."
        yield from wrapped(fmt(text, Safe(plural("claim", len(names))), listed(names)))


def unseen_lines(entries: Sequence[str], lost_to: str = "") -> Iterator[Safe]:
    """A warning about entries of ``spec.resourceClaims`` that no container names; ``lost_to``: the field to blame."""
    if entries and lost_to:
        text = (
            "Warning: no container names {} under resources.claims, so no container sees its devices: {} replaces the "
            "resources of the container, claims included. Leave it out, and write its amounts in the template."
        )
        yield from wrapped(styled(fmt(text, listed(entries), lost_to), Style.WARN))
    elif entries:
        text = (
            "Warning: no container names {} under resources.claims, so no container sees its devices (a driver that "
            "serves the whole pod, as for networks, may not need it)."
        )
        yield from wrapped(styled(fmt(text, listed(entries)), Style.WARN))


def unfound_lines(unfound: Iterable[UnfoundRequest], rest_by: str = "") -> Iterator[Safe]:
    """A warning about requests that containers name and claims do not have; ``rest_by``: devices of what that makes."""
    by_claim: dict[tuple[str, tuple[str, ...]], list[UnfoundRequest]] = {}
    for each in unfound:
        by_claim.setdefault((each.claim, each.requests), []).append(each)
        if rest_by:
            text = "Warning: a device names request {} of claim {}, which has only {}: {} finds no device for it."
            said = fmt(text, each.request, each.claim, listed(each.requests), rest_by)
            yield from wrapped(styled(said, Style.WARN))
    for (claim, requests), found in by_claim.items() if not rest_by else ():
        yield from wrapped(styled(_unfound(claim, requests, found), Style.WARN))


def _unfound(claim: str, requests: Sequence[str], found: Sequence[UnfoundRequest]) -> Safe:
    """Of one claim: which containers name what, and what to write instead."""
    containers = list(dict.fromkeys(each.container for each in found))
    names = list(dict.fromkeys(each.request for each in found))
    one = len(containers) == 1
    who = fmt("{} {}", Safe(plural("container", len(containers))), listed(containers))
    has = fmt("the requests {}", listed(requests) if requests else Safe("none"))
    what = Safe("Write one of these, or leave request out.")
    if len(requests) == 1:
        has, what = fmt("only {}", requests[0]), fmt("Write request: {}, or leave request out.", requests[0])
        what += Safe(" For devices of their own, the claim needs a request for each." if len(names) > 1 else "")
    text = "Warning: {} {} {} {} of claim {}, which has {}: {} no device. {}"
    verb, word = Safe("names" if one else "name"), Safe(plural("request", len(names)))
    return fmt(text, who, verb, word, listed(names), claim, has, Safe("it sees" if one else "they see"), what)


def caret_lines(column: int, detail: str) -> Iterator[Safe]:
    """The caret in a column, with the error behind it, or below it where there is no room."""
    room = page_width() - 4
    lines = wrapped(fmt("^ {}", detail), indent=min(column, room // 2) + 2, first=column)
    if column + len(detail) > room:
        lines = [Safe(" " * column + "^"), *wrapped(safe(detail), indent=2)]
    yield from (styled(line, Style.BAD) for line in lines)


def place_of(text: str, error: FatalError) -> int:
    """Where to point: the position that the compiler gave, or the only mention of the key that is missing."""
    if error.position is not None and text == error.expression:
        return error.position
    match = _MISSING_KEY.search(error.detail)
    if match is None:
        return -1
    mentions = [found.start(1) for found in re.finditer(rf"[.\"'](\b{re.escape(match[1])}\b)", text)]
    return mentions[0] if len(mentions) == 1 else -1
