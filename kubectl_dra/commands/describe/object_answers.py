"""What describe-claim and describe-podgroup do: find the objects of one namespace, report them, print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from kubectl_dra.api.kinds import POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import key_not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import each_found, note_evidence, print_described
from kubectl_dra.commands.shared.types import parse_names
from kubectl_dra.commands.why_pending.groups import not_served
from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.claim_page import claim_page, claim_summary
from kubectl_dra.output.devices.group_page import group_state_page, group_state_summary
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.reports.claims.claim import KINDS as KINDS_OF_CLAIMS
from kubectl_dra.reports.claims.claim import ClaimReport, claim_report
from kubectl_dra.reports.groups.group_state import KINDS as KINDS_OF_GROUPS
from kubectl_dra.reports.groups.group_state import GroupReport, group_state

_GOOD: Final = frozenset({ClaimVerdict.ALLOCATED, ClaimVerdict.RESERVED})
FoundT = TypeVar("FoundT")


def describe_claims(options: Options, words: Sequence[str]) -> int:
    """Run describe-claim; returns the exit code."""
    names = parse_names(words, RESOURCE_CLAIM, options)
    cluster = read_cluster(options, KINDS_OF_CLAIMS, claims=names, local=True)
    check_namespace(options, cluster)
    note_evidence(cluster.state, options)
    state = cluster.state
    found = _found(options, cluster, names, RESOURCE_CLAIM, "claim", state.inventory.claims)
    reports = [claim_report(claim, state) for claim in found]
    page = partial(claim_page, now=state.now, wide=options.output == "wide", address=state.evidence.address)
    print_described(
        "ClaimReport", "claim", reports, claim_summary, page, options, state.evidence.address, asked=len(names)
    )
    return _code(options, names, reports, bad=any(report.state not in _GOOD for report in reports))


def describe_groups(options: Options, words: Sequence[str]) -> int:
    """Run describe-podgroup; returns the exit code."""
    names = parse_names(words, POD_GROUP, options)
    cluster = read_cluster(options, KINDS_OF_GROUPS, local=True, demanded=(POD_GROUP.name,))
    check_namespace(options, cluster)
    note_evidence(cluster.state, options)
    state = cluster.state
    unserved = not_served(state.evidence)
    if unserved is not None:
        raise unserved
    found = _found(options, cluster, names, POD_GROUP, "podgroup", state.inventory.groups.pod_groups)
    reports = [group_state(group, state) for group in found]
    page = partial(group_state_page, now=state.now, address=state.evidence.address)
    print_described(
        "GroupReport", "PodGroup", reports, group_state_summary, page, options, state.evidence.address, asked=len(names)
    )
    return _code(options, names, reports, bad=any(report.waiting for report in reports))


def _found(
    options: Options, cluster: Scoped, names: Sequence[str], kind: Kind, word: str, known: Mapping[Key, FoundT]
) -> list[FoundT]:
    """The objects of these names, of the type ``word``; an error for each that is not there, or may not be read."""

    def not_found(key: Key) -> CommandError:
        return key_not_found(kind, key, known, cluster.state.evidence, (f"describe-{word}",))

    return each_found([Key(cluster.namespace, name) for name in names], known.get, not_found, options)


def _code(options: Options, names: Sequence[str], reports: Sequence[ClaimReport | GroupReport], *, bad: bool) -> int:
    if len(reports) < len(names):
        return ExitCode.ERROR
    lacking = any(missing.decides for report in reports for missing in report.missing)
    return finding_code(asked=options.exit_code, bad=bad, partial=lacking)
