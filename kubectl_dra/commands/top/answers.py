"""What top does: read the cluster, count, print the report."""

from __future__ import annotations

import dataclasses
from functools import partial

from kubectl_dra.commands.shared.asked_again import asked_again
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import Answer, note_evidence, print_answer
from kubectl_dra.output.exit_codes import finding_code
from kubectl_dra.output.top.page import top_page, top_summary
from kubectl_dra.reports.top import By, top_report

_KINDS = ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node", "Pod")


def answer(options: Options, word: str) -> int:
    """Run the command; returns the exit code."""
    cluster = read_cluster(options, _KINDS)
    state, by = cluster.state, By(word)
    # Without -n the question of namespaces is about all of them.
    everywhere = by is not By.PODS and not options.namespace
    if not everywhere:
        check_namespace(options, cluster)
    note_evidence(state, options)
    scope = "" if everywhere else cluster.namespace
    report = top_report(state, by, scope)
    again = asked_again(
        dataclasses.replace(options, all_namespaces=options.all_namespaces or everywhere), cluster.namespace
    )
    address = dataclasses.replace(state.evidence.address, again=again)
    page = partial(top_page, report, state.now, address, scope)
    print_answer(Answer("TopReport", report, partial(top_summary, report, scope), page), options)
    return finding_code(asked=options.exit_code, bad=report.bad, partial=report.partial, answered=report.answered)
