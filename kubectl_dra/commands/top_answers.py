"""What top does: read the cluster, count, print the report."""

from __future__ import annotations

from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document, note_evidence, write
from kubectl_dra.output.documents import document, report_bytes
from kubectl_dra.output.exit_codes import finding_code
from kubectl_dra.output.top.page import top_page, top_summary
from kubectl_dra.reports.top import By, top_report

_KINDS = ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule", "Node")


def answer(options: Options, word: str) -> int:
    """Run the command; returns the exit code."""
    cluster = read_cluster(options, _KINDS)
    world, by = cluster.state, By(word)
    # Without -n the question of namespaces is about all of them.
    everywhere = by is not By.PODS and not options.namespace
    if not everywhere:
        check_namespace(options, cluster)
    note_evidence(world, options)
    scope = "" if everywhere else cluster.namespace
    report = top_report(world, by, scope)
    page = top_page(report, world.now, world.evidence.address, scope)
    if is_document(options):
        text = page if options.text else None
        write(report_bytes("TopReport", document(report, top_summary(report, scope), text)), options)
    else:
        for line in page:
            console(options).out(line)
    return finding_code(asked=options.exit_code, bad=False, partial=report.partial, answered=report.answered)
