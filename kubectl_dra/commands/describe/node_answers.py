"""What describe-node does: find the nodes that the words name, report them, print pages or documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_dra.api.kinds import NODE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.absent import node_not_found
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.live import with_daemon_sets
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import each_found, note_evidence, print_described
from kubectl_dra.commands.shared.types import parse_names
from kubectl_dra.output.devices.node_page import node_page, node_summary_text
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.reports.devices.nodes import known_nodes, node_report
from kubectl_dra.reports.devices.pool import KINDS
from kubectl_dra.reports.pending.kept_off_drivers import has_nothing


def describe_nodes(options: Options, words: Sequence[str]) -> int:
    """Run the command; returns the exit code. A node that does not exist does not hide the others."""
    names = parse_names(words, NODE, options)
    # The pods of drivers have no claims, and would leave nothing but their sums.
    state = read_cluster(options, KINDS, whole_nodes=names).state
    note_evidence(state, options)
    known = known_nodes(state)
    asked = tuple(dict.fromkeys(names))
    found = each_found(asked, {name: name for name in known}.get, lambda name: node_not_found(name, state), options)
    state = _with_daemon_sets(options, state, found)
    reports = [node_report(name, state) for name in found]
    page = partial(node_page, now=state.now, wide=options.output == "wide", address=state.evidence.address)
    print_described(
        "NodeReport", "node", reports, node_summary_text, page, options, state.evidence.address, asked=len(names)
    )
    if len(reports) < len(asked):
        return ExitCode.ERROR
    bad = any(report.troubled or report.totals.tainted.value for report in reports)
    return finding_code(asked=options.exit_code, bad=bad, partial=any(report.missing for report in reports))


def _with_daemon_sets(options: Options, state: ClusterState, names: Sequence[str]) -> ClusterState:
    """With all DaemonSets, where a node publishes nothing and its taint may be why."""
    nodes = (state.inventory.nodes.get(name) for name in names)
    wanted = any(node is not None and has_nothing(node, state) for node in nodes)
    return with_daemon_sets(options, state) if wanted else state
