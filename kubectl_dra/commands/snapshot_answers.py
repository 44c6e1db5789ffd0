"""What snapshot does: read everything, make the document, write it whole."""

from __future__ import annotations

import dataclasses
import json

from kubectl_dra.commands.cluster import read_cluster
from kubectl_dra.commands.errors import CommandError
from kubectl_dra.commands.options import Options
from kubectl_dra.commands.show import console, note_evidence
from kubectl_dra.commands.signals import signals_raise
from kubectl_dra.output.console import write_data
from kubectl_dra.output.documents import to_json
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.files import WriteError, write_private
from kubectl_dra.output.safe import fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.facts import Facts
from kubectl_dra.reports.redaction import redacted
from kubectl_dra.reports.snapshot import incomplete, snapshot


def take(options: Options, file: str, *, redact: bool, with_parameters: bool) -> int:
    """Run the command; returns the exit code."""
    scope = options if options.namespace else dataclasses.replace(options, all_namespaces=True)
    cluster = read_cluster(scope)
    note_evidence(cluster.evidence, options)
    document = snapshot(
        Facts(cluster.inventory, cluster.evidence, cluster.features, cluster.clock), cluster.namespace, with_parameters
    )
    if redact:
        document = redacted(document)
    text = to_json(json.dumps(document).encode())
    if not file or file == "-":
        write_data(text)
    else:
        _write(file, f"{text}\n")
    terminal = console(options)
    missing = incomplete(cluster.evidence)
    if missing:
        terminal.note(fmt("note: not all of {} could be read; the snapshot says so", listed(missing)))
    if file and file != "-":
        terminal.note(fmt("{} written to {}", counted(len(document["items"]), "object"), file))
    return ExitCode.OK


def _write(file: str, text: str) -> None:
    try:
        with signals_raise():
            write_private(file, text.encode("ascii"))
    except WriteError as error:
        raise CommandError(str(error), "name another file with -o, or none to write to stdout") from error
