"""What simulate does: read the file and the cluster, simulate, print the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from msgspec.structs import replace

from kubectl_dra.api.kinds import POD_GROUP
from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import gates_of, read_cluster
from kubectl_dra.commands.shared.live import for_new_nodes, with_queues_of
from kubectl_dra.commands.shared.manifests import check_namespaces, objects_of, supposed_gates, with_groups
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import owner_reader
from kubectl_dra.commands.shared.show import Answer, is_document, note_evidence, print_answer
from kubectl_dra.commands.shared.whatif_options import kinds_demanded, kinds_everywhere, told, whole_nodes
from kubectl_dra.diagnosis.gangs.cycles import FIRST_MINOR
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.whatif import Switch
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.names import DEFAULT_NAMESPACE, is_label
from kubectl_dra.model.podneeds import in_group, is_spread, uses_storage
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.simulation.page import simulation_page, simulation_summary
from kubectl_dra.reports.simulation import Copies, simulation_report
from kubectl_dra.reports.simulation.autoscaled import may_be_scaled
from kubectl_dra.reports.simulation.unread_files import with_unread_files
from kubectl_dra.source.errors import ManifestError, SourceError
from kubectl_dra.source.manifests import Written
from kubectl_dra.source.not_objects import BUILT
from kubectl_dra.source.reading import FoundObjects

#: So much of a file's path is printed: its folder and its name.
_PARTS = 2


def answer(options: Options, copies: str, switches: tuple[Switch, ...] = (), *, remedies: bool, together: bool) -> int:
    """Run the command; returns the exit code. ``switches``: what is supposed of the cluster."""
    found = objects_of(options) if options.manifests else FoundObjects("")
    written = [Source(each.data, each.api_version, each.kind, _place(each)) for each in found.objects]
    check_namespaces(written, options)
    kinds = needs.kinds((*needs.POD, *needs.STORAGE, *needs.PRIORITY, *needs.SPREADING, *needs.GROUPS))
    demanded = _demanded(written)
    cluster = read_cluster(
        options,
        tuple(dict.fromkeys((*kinds, *demanded, *kinds_everywhere(switches)))),
        demanded=(*demanded, *kinds_demanded(switches)),
        whole_nodes=whole_nodes(switches),
        everywhere=kinds_everywhere(switches),
        # What is not known there is made there: names that the API can't hold are refused later.
        namespaces=(each.key.namespace for each in read_all(written, "") if is_label(each.key.namespace)),
    )
    namespace = cluster.namespace or DEFAULT_NAMESPACE
    objects = read_all(written, namespace, grouped_jobs=_keeps_scheduling(options, cluster.state))
    grouped = with_groups(options, cluster.state, objects)
    state = for_new_nodes(options, grouped, written, switches)
    state = with_queues_of(options, state, objects, found.objects)
    note_evidence(state, options)
    with told(state), owner_reader(options) as read:
        report = simulation_report(state, objects, _copies(copies), switches, together=together, read_owner=read)
    report = replace(report, supposed_gates=supposed_gates(cluster.state.features, grouped.features))
    report = with_unread_files(report, *_broken(found.problems))
    address = state.evidence.address
    page = partial(simulation_page, report, state.now, steps=remedies, address=address)
    shown = report if remedies or not is_document(options) else report.without_steps()
    print_answer(Answer("SimulationReport", shown, partial(simulation_summary, shown), page), options)
    if found.problems or any(each.error for each in objects):
        return ExitCode.ERROR
    return finding_code(asked=options.exit_code, bad=report.bad, partial=report.partial, answered=report.answered)


def _place(written: Written) -> str:
    """Where an object stands, by the last part of its file's path; what kustomize makes is in no file."""
    if written.origin.file.startswith(BUILT):
        return f"kubectl kustomize {written.origin.file.removeprefix(BUILT)}, line {written.origin.line}"
    return f"{'/'.join(written.origin.file.split('/')[-_PARTS:])}, line {written.origin.line}"


def _broken(problems: Iterable[SourceError]) -> tuple[Sequence[str], Sequence[str]]:
    """The files with a document that is meant for Kubernetes and could not be read; those read as they are meant."""
    known = [each for each in problems if isinstance(each, ManifestError) and not each.foreign and each.file]
    return [e.file for e in known if not e.as_meant], [e.file for e in known if e.as_meant]


def _demanded(written: Sequence[Source]) -> tuple[str, ...]:
    """The kinds that pods of the file make matter, whatever waits in the cluster."""
    objects = read_all(written, DEFAULT_NAMESPACE, grouped_jobs=True)
    plans = [plan for each in objects for plan in each.pods]
    pods = [plan.pod for plan in plans]
    stored = any(plan.volume_claims or uses_storage(plan.pod) for plan in plans)
    found = needs.STORAGE if stored else ()
    groups = needs.GROUPS if any(map(in_group, pods)) else ()
    # Which class is the default one, and who would make room, only the cluster tells.
    spread = needs.SPREADING if any(map(is_spread, pods)) else ()
    scaled = (needs.AUTOSCALERS,) if any(map(may_be_scaled, objects)) else ()
    return needs.kinds((*found, *groups, *spread, *(needs.PRIORITY if pods else ()), *needs.of_creation(pods), *scaled))


def _keeps_scheduling(options: Options, state: ClusterState) -> bool:
    """Whether Jobs come with PodGroups: unless it is said that they don't, where the server has PodGroups at all."""
    on = gates_of(options).get("WorkloadWithJob", True) and state.features.minor >= FIRST_MINOR
    # What a plain list does not hold says nothing about any server.
    asked = state.evidence.server_version is not None
    return on and not (asked and state.evidence.coverage(POD_GROUP.name) is Coverage.NOT_SERVED)


def _copies(word: str) -> Copies:
    return Copies(as_many_as_fit=True) if word == "max" else Copies(int(word) if word else None)
