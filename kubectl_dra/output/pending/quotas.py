"""What helps where a ResourceQuota is exhausted, by what it limits, or requires what a container does not request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.gates.quota import OBJECT_COUNT, PER_CLASS_SUFFIX
from kubectl_dra.diagnosis.records import QuotaShortage, Unspecified
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import plural, quota_noun
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX

_USERS: Final = 3


def quota_sentence(quota: QuotaShortage) -> Safe:
    """What a quota forbids, and who has used it up."""
    alike = all(each.amount == 1 for each in quota.users)
    shown = quota.users[:_USERS]
    users = [safe(each.claim.name) if alike else fmt("{} {}", each.claim.name, each.amount) for each in shown]
    if len(quota.users) > _USERS:
        users.append(fmt("{} more", len(quota.users) - _USERS))
    by = fmt(" ({} {})", Safe(plural("claim", len(quota.users))), Safe(", ").join(users)) if users else Safe("")
    text = 'ResourceQuota "{}" forbids the {}: {} of {} {} are used{}, and it requests {} more'
    kind, what = Safe("pod" if quota.kind == "Pod" else "claim"), quota_noun(quota.resource)
    return fmt(text, quota.quota, kind, quota.used, quota.hard, what, by, quota.requested)


def limit_text(quota: QuotaShortage) -> Safe:
    """What is left of a quota, for the first of several copies."""
    text = 'in ResourceQuota "{}" {} of {} {} are used, and each {} requests {}'
    kind, what = Safe("pod" if quota.kind == "Pod" else "copy"), quota_noun(quota.resource)
    return fmt(text, quota.quota, quota.used, quota.hard, what, kind, quota.requested)


def pods_lines(quota: QuotaShortage) -> Iterator[Safe]:
    """Which pods have most of it, and whose end would do."""
    if not quota.pods:
        return
    enough = [each for each in quota.pods if each.enough]
    named = Safe(", ").join(fmt("{} ({})", each.pod.name, each.amount) for each in enough or quota.pods)
    if not enough:
        yield from wrapped(fmt("Most of it is requested by {}; none of them is enough alone.", named))
    elif len(enough) == 1:
        yield from wrapped(fmt("The end of pod {} would make room for one more.", named))
    else:
        yield from wrapped(fmt("The end of any of these pods would make room for one more: {}.", named))


def quota_advice(shortage: QuotaShortage) -> Safe:
    """A sentence about the resource that the quota limits."""
    resource, name = shortage.resource, shortage.resource.removeprefix("requests.")
    raised = fmt('Raise the limit on {} in ResourceQuota "{}"', resource, shortage.quota)
    claims = Safe("claims that are not needed: allocated or not, every claim counts until it is deleted")
    if resource == OBJECT_COUNT:
        return fmt("{}, or delete {}.", raised, claims)
    if resource.endswith(PER_CLASS_SUFFIX):
        return fmt("{}, request fewer {}, or delete {}.", raised, quota_noun(resource), claims)
    if name.startswith(DEVICE_CLASS_PREFIX) or shortage.kind != "Pod":
        return fmt("{}, request less {}, or delete pods or {}.", raised, name, claims)
    if resource == "count/pods":
        return fmt("{}, or delete pods that are not needed: finished pods count too.", raised)
    less = Safe("") if resource == "pods" else fmt(" lower the pod's {},", _field(resource))
    return fmt("{},{} or delete pods that are not needed: finished pods don't count.", raised, less)


def refused_unless(unspecified: Unspecified, them: str) -> Safe:
    """What may keep pods (``them``) from being created, however many devices are free."""
    if unspecified.scope:
        text = 'ResourceQuota "{}" may refuse {}, depending on whether a LimitRange sets requests'
        return fmt(text, unspecified.quota, Safe(them))
    return fmt('ResourceQuota "{}" refuses {} unless a LimitRange has a default', unspecified.quota, Safe(them))


def where_admitted(unspecified: Unspecified) -> Safe:
    """The case in which devices decide."""
    return Safe("if it is admitted") if unspecified.scope else Safe("with one")


def unspecified_lines(unspecified: Iterable[Unspecified]) -> Iterator[Safe]:
    """What quotas require, in the API server's words, and where it is written."""
    found = list(unspecified)
    for name, scope in dict.fromkeys((each.quota, each.scope) for each in found):
        of_one = [each for each in found if (each.quota, each.scope) == (name, scope)]
        yield from wrapped(_by_scope(of_one) if scope else _required(of_one), indent=2)


def _required(of_one: Sequence[Unspecified]) -> Safe:
    required = Safe("; ").join(fmt("{} for: {}", each.resource, ",".join(each.containers)) for each in of_one)
    fields = Safe(" and ").join(dict.fromkeys(fmt("resources.{}", _field(each.resource)) for each in of_one))
    text = (
        'without the default of a LimitRange (not read), ResourceQuota "{}" refuses the pod: must specify {}; '
        "write {} for each of these containers"
    )
    return fmt(text, of_one[0].quota, required, fields)


def _by_scope(of_one: Sequence[Unspecified]) -> Safe:
    """A quota of pods that request nothing, or of all others."""
    first = of_one[0]
    limits = Safe(", ").join(fmt("{} ({} of {} used)", each.resource, each.used, each.hard) for each in of_one)
    text = (
        "a LimitRange of the namespace (not read) may set requests; if {}, the pod is counted by ResourceQuota "
        '"{}" (scope {}), whose limit of {} would be exceeded; to decide it, write resources.requests'
    )
    case = Safe("none does" if first.scope == "BestEffort" else "one does")
    return fmt(text, case, first.quota, first.scope, limits)


def _field(resource: str) -> str:
    return resource if resource.startswith(("requests.", "limits.")) else f"requests.{resource}"
