"""What a pod asks for, in a few lines: claims, requests, selectors, constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.words import listed
from kubectl_dra.reports.ask import ClaimAsk, ClassicAsk, ConstraintAsk, ExtendedAsk, RequestAsk

_LABEL: Final = 12
_INDENT: Final = 4


def ask_lines(asks: Sequence[ClaimAsk], extended: Sequence[ExtendedAsk] = ()) -> Iterator[Safe]:
    """Lines for all claims and extended resources of a pod."""
    if extended:
        yield Safe("It asks (extended resources, without a ResourceClaim):")
    for resource in extended:
        text = fmt("{} × {}, served by class {}", resource.count, resource.resource, resource.device_class)
        yield from wrapped(text, indent=_INDENT, first=2)
    for ask in asks:
        origin = fmt(", from template {}", ask.template) if ask.template else Safe("")
        yield from wrapped(fmt("It asks (ResourceClaim {}/{}{}):", ask.namespace, ask.name, origin))
        classic = _classic(ask.classic) if ask.classic is not None else Safe("")
        if classic:
            yield from wrapped(classic, indent=_INDENT, first=2)
        elif not ask.requests:
            yield Safe("  nothing: the claim has no requests")
        for request in ask.requests:
            yield from _request_lines(request)
        for constraint in ask.constraints:
            yield from _labelled("constraint", _constraint(constraint))


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


def _request_lines(request: RequestAsk) -> Iterator[Safe]:
    amount = Safe("all") if request.count is None else fmt("{} ×", request.count)
    admin = Safe(", with admin access") if request.admin_access else Safe("")
    text = fmt("{}: {} class {}{}", request.name, amount, request.device_class, admin)
    yield from wrapped(text, indent=_INDENT, first=2)
    for selector in request.selectors:
        yield from _labelled("selector", safe(" ".join(selector.split())))
    for key, value in request.capacity.items():
        yield from _labelled("capacity", fmt("{} {}", key, value))
    if request.tolerations:
        yield from _labelled("tolerates", listed(request.tolerations))


def _constraint(constraint: ConstraintAsk) -> Safe:
    name = constraint.attribute.rpartition("/")[2]
    among = Safe("")
    if constraint.requests:
        among = fmt(" (of {})", listed(constraint.requests))
    if constraint.kind == "match":
        return fmt("all with the same {}{}", name, among)
    return fmt("each with another {}{}", name, among)


def _labelled(label: str, text: Safe) -> list[Safe]:
    column = _INDENT + _LABEL
    lines = wrapped(text, indent=column)
    return [Safe(" " * _INDENT + label.ljust(_LABEL)) + Safe(lines[0][column:]), *lines[1:]]


def unseen_lines(entries: Sequence[str]) -> Iterator[Safe]:
    """A warning about entries of ``spec.resourceClaims`` that no container names."""
    if entries:
        text = (
            "Warning: no container names {} under resources.claims, so no container sees its devices (a driver that "
            "serves the whole pod, as for networks, may not need it)."
        )
        yield from wrapped(styled(fmt(text, listed(entries)), Style.WARN))
