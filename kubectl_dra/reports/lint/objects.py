"""Findings in one object: fields, versions, admission, claims without containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kubectl_dra.api.first_error import place_of
from kubectl_dra.api.kinds import BY_NAME, RESOURCE_GROUP
from kubectl_dra.api.lint import Mistake
from kubectl_dra.api.planned import Planned
from kubectl_dra.api.served import STABLE_SINCE, not_served, stable_since
from kubectl_dra.api.validate import validate
from kubectl_dra.model.features import NEWEST_MINOR
from kubectl_dra.reports.claims.ask import unseen_entries
from kubectl_dra.reports.lint.records import Instead, Rule
from kubectl_dra.scheduler.claims import sources

_SELECTOR: Final = re.compile(r"selectors\[\d+\]\.cel")
_RULES: Final = {
    Mistake.OTHER_GENERATION: Rule.OTHER_GENERATION,
    Mistake.UNKNOWN_FIELD: Rule.UNKNOWN_FIELD,
    Mistake.NO_VERSION: Rule.NO_API_VERSION,
    Mistake.NO_SUCH_VERSION: Rule.NO_SUCH_VERSION,
    Mistake.MISPLACED: Rule.UNKNOWN_FIELD,
    Mistake.MISSPELT_VALUE: Rule.REFUSED,
    Mistake.REMOVED_KIND: Rule.NO_SUCH_VERSION,
}
_DID_YOU_MEAN: Final = re.compile(r"did you mean (\w+)\?$")
_PATH: Final = re.compile(r"((?:[\w\"./-]|\[[^\]]*\])+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UnplacedFinding:
    """A finding before its place is known."""

    rule: Rule
    message: str
    path: str = ""
    corrected: bool = False
    instead: Instead | None = None


def findings(planned: Planned) -> Iterator[UnplacedFinding]:
    """What is wrong in one object by itself."""
    if not planned.api_version:
        known = BY_NAME.get(planned.kind)
        hint = f"; {planned.kind} has {known.api_version}" if known is not None else ""
        yield UnplacedFinding(Rule.NO_API_VERSION, f"apiVersion is missing{hint}", "apiVersion")
        return
    for mistake in planned.findings:
        yield UnplacedFinding(_RULES[mistake.code], mistake.message, mistake.path, mistake.corrected)
    if planned.error:
        yield _split(Rule.REFUSED if _has_version(planned) else Rule.NO_SUCH_VERSION, planned.error)
        if planned.rest is not None:
            yield from _beside(planned)
        return
    yield from _version(planned)
    # What is missing only because its name is misspelt has been said.
    meant = {_meant(mistake.path, mistake.message) for mistake in planned.findings}
    yield from (each for each in _admission(planned) if each.path not in meant)
    for text in dict.fromkeys(text for plan in planned.pods for text in plan.refused):
        yield _split(Rule.REFUSED, text)
    for plan in planned.pods:
        # A claim of its own may have devices already, and a pod as it was read has its node from the scheduler.
        new = not plan.pod.metadata.uid
        if new and plan.pod.spec.node_name and any(sources(entry)[1] for entry in plan.pod.spec.resource_claims):
            text = "spec.nodeName bypasses the scheduler, which alone allocates devices"
            yield UnplacedFinding(Rule.NODE_NAME, text, "spec.nodeName" if planned.kind == "Pod" else "spec")
        for name in unseen_entries(plan.pod):
            whose = f" of {plan.role}" if plan.role else ""
            yield UnplacedFinding(
                Rule.UNUSED_CLAIM, f'no container{whose} names "{name}" under resources.claims', "spec.resourceClaims"
            )


def _beside(planned: Planned) -> Iterator[UnplacedFinding]:
    """What else is wrong in an object of which values could not be read, but for what follows from these."""
    places = list[str]()
    rest: Planned | None = planned
    while rest is not None and rest.error:
        places.append(_plain(place_of(rest.error)).rpartition(".")[0])
        rest = rest.rest
        if rest is not None and rest.error:
            yield _split(Rule.REFUSED, rest.error)
    for each in _admission(rest) if rest is not None else ():
        if not any(_plain(each.path).startswith(above) for above in places):
            yield each


def _plain(path: str) -> str:
    """A path as decoding and validation both have it: ``attributes.model`` for ``attributes[model]``."""
    return path.replace("[", ".").replace("]", "").replace('"', "")


#: What later versions have in place of the kinds that only v1alpha2 has.
_INSTEAD: Final = {
    "ResourceClass": "a DeviceClass takes its place",
    "ResourceClassParameters": "the DeviceClass takes over its content",
    "ResourceClaimParameters": "the claims and templates that refer to it take over its content",
    "PodSchedulingContext": "the scheduler needs none any more",
}


def _has_version(planned: Planned) -> bool:
    """Whether a kind of ours exists in the version; of others that is not known."""
    known = BY_NAME.get(planned.kind)
    group = planned.api_version.rpartition("/")[0]
    if known is None or group != known.group:
        return True
    return planned.api_version in map(known.api_version_of, known.versions)


def _meant(path: str, message: str) -> str:
    """The path that a misspelt field was meant to have; empty where nothing comes near."""
    near = _DID_YOU_MEAN.search(message)
    return f"{path.rpartition('.')[0]}.{near[1]}".lstrip(".") if near is not None else ""


def _version(planned: Planned) -> Iterator[UnplacedFinding]:
    group, _, version = planned.api_version.rpartition("/")
    known = BY_NAME.get(planned.kind)
    if group != RESOURCE_GROUP or known is None or version == "v1":
        return
    if not_served(planned.api_version, planned.kind, NEWEST_MINOR):
        instead = _INSTEAD.get(planned.kind, "")
        text = f"{planned.api_version} is gone since Kubernetes 1.{_gone(planned)}{instead and f'; {instead}'}"
    elif "v1" not in known.versions:
        return
    else:
        since = stable_since(planned.kind)
        text = f"{planned.api_version} is off by default; {RESOURCE_GROUP}/v1 is served since 1.{since}"
    yield UnplacedFinding(Rule.OLD_VERSION, text, "apiVersion")


def _gone(planned: Planned) -> int:
    """The first minor version without it."""
    served = [minor for minor in range(20, NEWEST_MINOR) if not not_served(planned.api_version, planned.kind, minor)]
    return served[-1] + 1 if served else STABLE_SINCE


def _admission(planned: Planned) -> Iterator[UnplacedFinding]:
    if planned.record is not None:
        # Whether a namespace allows admin access, only a cluster knows.
        for error in validate(planned.record):
            rule = Rule.SELECTOR if _SELECTOR.search(error.path) else Rule.REFUSED
            yield UnplacedFinding(rule, error.problem, error.path)
    for text in planned.invalid:
        yield _split(Rule.REFUSED, text)


def _split(rule: Rule, text: str) -> UnplacedFinding:
    """A refusal in the server's words, with its path apart."""
    match = _PATH.fullmatch(text)
    return UnplacedFinding(rule, match[2], match[1]) if match is not None else UnplacedFinding(rule, text)
