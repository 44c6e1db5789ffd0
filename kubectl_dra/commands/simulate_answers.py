"""What simulate does: read the file and the cluster, simulate, print the report."""

from __future__ import annotations

from kubectl_dra.api.convert import Source
from kubectl_dra.api.planned import read_planned
from kubectl_dra.commands.cluster import read_cluster
from kubectl_dra.commands.errors import CommandError
from kubectl_dra.commands.options import Options
from kubectl_dra.commands.show import console, is_document, note_evidence, write
from kubectl_dra.diagnosis import needs
from kubectl_dra.output.documents import report_bytes
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.pending.documents import with_text
from kubectl_dra.output.simulation.page import simulation_page
from kubectl_dra.reports.simulation import Copies, simulation_report
from kubectl_dra.source.file import written_in

_DEFAULT_NAMESPACE = "default"


def answer(options: Options, copies: str, remedies: bool) -> int:
    """Run the command; returns the exit code."""
    name = "stdin" if options.filename == "-" else options.filename
    written = written_in(options.filename, options.max_bytes)
    cluster = read_cluster(options, needs.kinds(needs.POD))
    note_evidence(cluster.state, options)
    namespace = cluster.namespace or _DEFAULT_NAMESPACE
    objects = [read_planned(Source(*each), namespace) for each in written]
    if not objects:
        raise CommandError(f"{name}: holds no objects", "kubectl dra simulate -f FILE")
    world = cluster.state
    report = simulation_report(world, objects, _copies(copies))
    page = simulation_page(report, world.now, steps=remedies)
    if is_document(options):
        write(report_bytes("SimulationReport", with_text(report, page)), options)
    else:
        for line in page:
            console(options).out(line)
    if any(each.error for each in objects):
        return ExitCode.ERROR
    return finding_code(asked=options.exit_code, bad=report.bad, partial=report.partial)


def _copies(word: str) -> Copies:
    return Copies(as_many_as_fit=True) if word == "max" else Copies(int(word) if word else None)
