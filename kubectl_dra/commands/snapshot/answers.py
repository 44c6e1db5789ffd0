"""What snapshot does: read everything, make the document, write it whole."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from itertools import count
from typing import Final

from kubectl_dra.api.controllers import is_foreign
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.asked_again import asked_again
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster, source_spec
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.live import with_gangs, with_queues
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import owner_reader
from kubectl_dra.commands.shared.show import console, note_evidence
from kubectl_dra.commands.shared.signals import signals_raise
from kubectl_dra.diagnosis.gangs.elsewhere import gangs_to_read
from kubectl_dra.diagnosis.pod.workloads import Owners
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import CommandLine
from kubectl_dra.output.documents import list_pieces, write_list
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.files import WriteError, write_private
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, listed
from kubectl_dra.reports.redaction import redacted
from kubectl_dra.reports.snapshot import SnapshotDocument, incomplete, snapshot
from kubectl_dra.source import current_namespace

_JSON: Final = "json"
#: What kubectl and the other commands take after -o.
_FORMATS: Final = (
    *("yaml", "wide", "name", "csv", "markdown", "summary", "text", "table", "jsonpath", "jsonpath-as-json"),
    *("jsonpath-file", "custom-columns", "custom-columns-file", "go-template", "go-template-file", "template"),
)
_PARAMETERS: Final = Safe(
    "warning: the snapshot holds drivers' opaque parameters and data as they are, which may hold secrets; look through "
    "it before you share it"
)
_REDACTED_PARAMETERS: Final = Safe(
    "warning: drivers' opaque parameters and data are in the snapshot: keys and texts are replaced, numbers are not; "
    "look through it before you share it"
)


def file_of(file: str, output: str) -> str:
    """The file to write to; empty for stdout.

    ``-o`` takes a file too, where kubectl takes formats: a bare word that is one of those names no file.
    """
    if file and output:
        raise UsageProblem("-f and -o both name the file to write to", "give one of them")
    word = output.partition("=")[0]
    if word in _FORMATS:
        what = f"a snapshot is always JSON, and can't be written as {word}"
        raise UsageProblem(what, f"-f FILE writes it to a file; -f {word} to one of this name")
    return file or ("" if output == _JSON else output)


def take(options: Options, file: str, *, redact: bool, with_parameters: bool) -> int:
    """Run the command; returns the exit code."""
    scope = options if options.namespace else dataclasses.replace(options, all_namespaces=True)
    cluster = read_cluster(scope)
    check_namespace(options, cluster)
    cluster = Scoped(with_queues(options, cluster.state, cluster.namespace), cluster.namespace)
    gangs = gangs_to_read(cluster.state.inventory, cluster.namespace)
    cluster = Scoped(with_gangs(options, cluster.state, cluster.namespace, gangs), cluster.namespace)
    if not redact:  # which leaves nothing of kinds that are not Kubernetes' own
        cluster = _with_owners(cluster, options)
    note_evidence(cluster.state, options)
    _check_anything_read(cluster.state, options)
    document = snapshot(cluster.state, cluster.namespace, with_parameters)
    if redact:
        document = redacted(document, cluster.state.features.shows_sharing)
    written = _write(document, "" if file == "-" else file)
    terminal = console(options)
    if with_parameters:
        terminal.note(_REDACTED_PARAMETERS if redact else _PARAMETERS)
    missing = incomplete(cluster.state.evidence)
    if missing:
        terminal.note(fmt("note: not all of {} could be read; the snapshot says so", listed(missing)))
    if file and file != "-":
        terminal.note(fmt("{} written to {}", counted(written, "object"), file))
    return ExitCode.OK


def _check_anything_read(state: ClusterState, options: Options) -> None:
    """Raises ``CommandError`` where every kind is refused: there is nothing to write."""
    coverages = {read.coverage for read in state.evidence.reads} - {Coverage.NOT_SERVED, Coverage.NOT_READ}
    if coverages == {Coverage.FORBIDDEN}:
        user = f" for user {state.evidence.refused_user}" if state.evidence.refused_user else ""
        what = f"nothing to write: every kind is forbidden{user}"
        raise CommandError(what, _of_own_namespace(options))


def _of_own_namespace(options: Options) -> str:
    """The same of the namespace that commands read without ``-A``: the right to that one is the one people have."""
    if options.namespace or options.from_ is not None:
        return "another --context may be meant"
    words = asked_again(dataclasses.replace(options, all_namespaces=False), current_namespace(source_spec(options)))
    tail = " takes what may be read of that namespace; or another --context is meant"
    return CommandLine(words, tail) if words else tail.strip()


def _with_owners(cluster: Scoped, options: Options) -> Scoped:
    """With owners of other API groups, whose kinds nobody lists: of the pods that ways out may be about."""
    inventory = cluster.state.inventory
    with owner_reader(options) as read:
        if read is None:
            return cluster
        owners = Owners(inventory, read)
        pods = (pod for pod in inventory.pods.values() if pod.spec.resource_claims or not pod.spec.node_name)
        found = {
            (owner.ref.kind, owner.ref.namespace, owner.ref.name): owner.object
            for pod in pods
            for owner in owners.of(pod)
            if owner.object is not None and is_foreign(owner.object.api_version, owner.ref.kind)
        }
    changed = inventory.replace(workloads={**inventory.workloads, **found}) if found else inventory
    return Scoped(dataclasses.replace(cluster.state, inventory=changed), cluster.namespace)


def _write(document: SnapshotDocument, file: str) -> int:
    """Write it item by item, as they are made, to a file or to stdout; returns their number."""
    numbers = count()
    items = (item for item, _ in zip(map(_encoded, document.items()), numbers, strict=False))
    head = _encoded(document.header)
    if file:
        _write_file(file, list_pieces(head, items, "json"))
    else:
        write_list(head, items, "json")
    return next(numbers)


def _encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def _write_file(file: str, pieces: Iterator[str]) -> None:
    try:
        with signals_raise():
            write_private(file, (piece.encode("ascii") for piece in pieces))
    except WriteError as error:
        raise CommandError(str(error), "name another file with -f, or none to write to stdout") from error
