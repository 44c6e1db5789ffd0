"""What aborts an attempt: selectors that fail, limits, malformed requests."""

from __future__ import annotations

from typing import Final

from kubectl_dra.allocation.checks.requests import MAX_RESULTS
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, FatalError, SearchSize
from kubectl_dra.output.pending.reasons.sentence import Sentence, object_name, with_detail
from kubectl_dra.output.refusals import refusal_text
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.units import amounts_text, value_words
from kubectl_dra.output.words import did_you_mean, listed

#: The longest error that the first line repeats; longer ones stand below it.
_SHORT: Final = 60


def _selector_fails(error: FatalError, cause: Cause) -> Safe:
    where = fmt(" on device {}", error.device) if error.device else Safe("")
    owner = fmt("a selector of {}", error.owner) if error.owner else fmt("a selector of {}", object_name(cause.claim))
    return fmt("{} raises an error{}, which stops scheduling on every node{}", owner, where, _why_error(error))


def _class_fails(error: FatalError, _cause: Cause) -> Safe:
    name = error.owner.removeprefix("class ")
    where = fmt(" on device {}", error.device) if error.device else Safe("")
    text = "DeviceClass {} is broken and blocks every pod that uses it: its selector raises an error{}{}"
    return fmt(text, name, where, _why_error(error))


def _why_error(error: FatalError) -> Safe:
    """The attribute that is not there, or the types that do not go together."""
    if error.attribute:
        return _missing_attribute(error)
    if error.reads and "no such overload" in error.detail:
        reads = listed([value_words(each) for each in error.reads])
        alone = Safe(", and it is compared with another type") if len(error.reads) == 1 else Safe("")
        return fmt(": {}{}", reads, alone)
    amounts = amounts_text(error.expression)
    if amounts:
        return fmt(": {}", amounts)
    return fmt(": {}", error.detail) if error.detail and len(error.detail) <= _SHORT else Safe("")


def _missing_attribute(error: FatalError) -> Safe:
    domain, _, name = error.attribute.rpartition("/")
    have = fmt(" (it has {})", listed(error.names)) if error.names else Safe("")
    if any("/" in each for each in error.similar):
        return fmt(
            ": it reads {} in the domain {}, which no device has; the devices publish {}",
            name,
            domain,
            listed(error.similar, "or"),
        )
    if "/" in domain:
        # No domain has a slash: the whole key of a manifest stands in its place.
        has = fmt(" (that device has {})", listed(error.names)) if error.names else Safe("")
        return fmt(": it reads {} in the domain {}, which no device has{}", name, domain, has)
    if error.publishers == 0 and error.is_capacity:
        return fmt(": it reads {} as an attribute, and the devices publish it as a capacity", name)
    if error.publishers == 0:
        near = did_you_mean(error.similar) if error.names else did_you_mean(error.similar, " (", ")")
        noted = fmt(" (it has {}{})", listed(error.names), near) if error.names else near
        return fmt(": it reads the attribute {}, which no device publishes{}", name, noted)
    count = fmt(", unlike {} of the {} devices of the class", error.publishers, error.devices) if error.devices else ""
    return fmt(": it reads the attribute {}, which that device does not publish{}{}", name, have, Safe(count))


def _fatal(error: FatalError, cause: Cause) -> Safe:
    said = refusal_text(error.detail.removeprefix("compilation failed: "))
    detail = fmt(" ({})", said) if said else Safe("")
    if cause.code is Code.TOO_MANY_DEVICES and error.devices:
        text = (
            "{} requests {} devices, and a claim can hold at most {}, which ends every scheduling attempt on all nodes"
        )
        return fmt(text, error.owner, error.devices, MAX_RESULTS)
    return fmt("{}{}, which ends every scheduling attempt on all nodes", Safe(cause.code.meaning), detail)


def _all_of_pool(error: FatalError, _cause: Cause) -> Safe:
    pool = error.owner.removeprefix("pool ")
    verb = Safe("is" if error.detail.startswith("1 ") else "are")
    whole = Safe("not all of its ResourceSlices are published")
    published = fmt("only {} {} published", error.detail, verb) if error.detail else whole
    invalid = Safe("invalid") if "invalid" in error.text else fmt("incomplete ({})", published)
    return fmt(
        "a request for all devices (allocationMode All) sees pool {}, which is {}; scheduling fails on every node "
        "until the pool is complete",
        pool,
        invalid,
    )


def _consumers_full(error: FatalError, cause: Cause) -> Safe:
    claim, found = object_name(cause.claim), error.consumers
    of = fmt("its ResourceClaim {}", claim) if claim else Safe("its ResourceClaim")
    who = fmt("{} consumers ({})", sum(each.number for each in found), listed(sorted(each.resource for each in found)))
    return fmt("{} is already reserved for {}, the maximum, so the API server refuses another", of, who)


def _admin_refused(error: FatalError, cause: Cause) -> Safe:
    text = "it requests admin access, and namespace {} lacks the label {}=true, without which the API server refuses it"
    return fmt(text, cause.claim.namespace if cause.claim is not None else "", error.label)


def _named_twice(_error: FatalError, cause: Cause) -> Safe:
    return fmt(
        "it names ResourceClaim {} twice, and the API server refuses the second reservation", object_name(cause.claim)
    )


def _timeout(size: SearchSize, cause: Cause) -> Safe:
    if not size.steps and cause.nodes:
        return fmt(
            "the scheduler's search for devices on {} takes longer than its time limit (10 seconds unless configured)",
            cause.nodes[0],
        )
    return fmt("the search takes {} steps, more than the scheduler's 10 seconds allow", Safe(f"{size.steps:,}"))


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.ALL_MODE_POOL: with_detail(FatalError, _all_of_pool),
    Code.CONSUMERS_FULL: with_detail(FatalError, _consumers_full),
    Code.ADMIN_LABEL_AT_BINDING: with_detail(FatalError, _admin_refused),
    Code.CLASS_SELECTOR_FAILS: with_detail(FatalError, _class_fails),
    Code.SELECTOR_FAILS: with_detail(FatalError, _selector_fails),
    Code.SELECTOR_DOES_NOT_COMPILE: with_detail(FatalError, _fatal),
    Code.TOO_MANY_DEVICES: with_detail(FatalError, _fatal),
    Code.FEATURE_DISABLED_FATAL: with_detail(FatalError, _fatal),
    Code.REQUEST_MALFORMED: with_detail(FatalError, _fatal),
    Code.CLAIM_NAMED_TWICE: with_detail(FatalError, _named_twice),
    Code.SEARCH_TIMEOUT: with_detail(SearchSize, _timeout),
}
