"""What describe-podgroup does: find the groups, report them, print pages or documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_dra.api.kinds import POD_GROUP
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import key_not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import each_found, note_evidence, print_described
from kubectl_dra.commands.shared.types import parse_names
from kubectl_dra.commands.why_pending.groups import not_served
from kubectl_dra.model.ids import Key
from kubectl_dra.output.devices.group_page import group_state_page, group_state_summary
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.reports.groups.group_state import KINDS, group_state


def describe_groups(options: Options, words: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    names = parse_names(words, POD_GROUP, options)
    cluster = read_cluster(options, KINDS, local=True, demanded=(POD_GROUP.name,))
    check_namespace(options, cluster)
    note_evidence(cluster.state, options)
    facts = cluster.state
    unserved = not_served(facts.evidence)
    if unserved is not None:
        raise unserved
    keys = [Key(cluster.namespace, name) for name in names]
    find = facts.inventory.groups.pod_groups.get
    groups = each_found(keys, find, lambda key: _not_found(key, facts), options)
    reports = [group_state(group, facts) for group in groups]
    page = partial(group_state_page, now=facts.now, address=facts.evidence.address)
    print_described("GroupReport", "PodGroup", reports, group_state_summary, page, options, asked=len(keys))
    if len(reports) < len(keys):
        return ExitCode.ERROR
    lacking = any(missing.decides for report in reports for missing in report.missing)
    return finding_code(asked=options.exit_code, bad=any(report.waiting for report in reports), partial=lacking)


def _not_found(key: Key, facts: ClusterState) -> CommandError:
    """The error for a group that does not exist, or that may not be read."""
    groups = facts.inventory.groups.pod_groups
    return key_not_found(POD_GROUP, key, groups, facts.evidence, ("describe-podgroup",), ("get", "podgroups", "-A"))
