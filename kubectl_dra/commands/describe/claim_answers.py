"""What describe-claim does: find the claims, report them, print pages or documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from kubectl_dra.api.kinds import RESOURCE_CLAIM
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import key_not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import each_found, note_evidence, print_described
from kubectl_dra.commands.shared.types import parse_names
from kubectl_dra.diagnosis.records import ClaimVerdict
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.claim_page import claim_page, claim_summary
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.reports.claims.claim import KINDS, claim_report

_GOOD: Final = frozenset({ClaimVerdict.ALLOCATED, ClaimVerdict.RESERVED})


def describe_claims(options: Options, words: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    names = parse_names(words, RESOURCE_CLAIM, options)
    cluster = read_cluster(options, KINDS, claims=names, local=True)
    check_namespace(options, cluster)
    note_evidence(cluster.state, options)
    facts = cluster.state
    keys = [Key(cluster.namespace, name) for name in names]
    claims = each_found(keys, facts.inventory.claims.get, lambda key: _not_found(key, facts), options)
    reports = [claim_report(claim, facts) for claim in claims]
    wide = options.output == "wide"
    page = partial(claim_page, now=facts.now, wide=wide, address=facts.evidence.address)
    print_described("ClaimReport", "claim", reports, claim_summary, page, options, asked=len(keys))
    if len(reports) < len(keys):
        return ExitCode.ERROR
    bad = any(report.state not in _GOOD for report in reports)
    lacking = any(missing.decides for report in reports for missing in report.missing)
    return finding_code(asked=options.exit_code, bad=bad, partial=lacking)


def _not_found(key: Key, facts: ClusterState) -> CommandError:
    """The error for a claim that does not exist, or that may not be read."""
    return key_not_found(
        RESOURCE_CLAIM, key, facts.inventory.claims, facts.evidence, ("describe-claim",), ("get", "claims", "-A")
    )
