"""The whole simulation: admission, the cluster with the objects of the files, trials, effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.api.planned import Planned
from kubectl_dra.api.trees import group_of
from kubectl_dra.api.workloads.beside import may_admit
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gates import quota
from kubectl_dra.diagnosis.gates.queue_room import Admits
from kubectl_dra.diagnosis.gates.quota_limits import quota_limit
from kubectl_dra.diagnosis.pod import missing, needs
from kubectl_dra.diagnosis.pod.missing import kinds_known, lacking
from kubectl_dra.diagnosis.pod.workloads import ReadOwner
from kubectl_dra.diagnosis.records import Missing, OpenPlugin
from kubectl_dra.diagnosis.whatif import AddTaintRule, Switch, WhatIf, what_if
from kubectl_dra.diagnosis.whatif.daemons import open_daemon_sets
from kubectl_dra.diagnosis.whatif.records import PodFate
from kubectl_dra.diagnosis.whatif.taints import evicts
from kubectl_dra.diagnosis.whatif.undoing import undoes
from kubectl_dra.model.admin_access import needed_label
from kubectl_dra.model.core import ResourceQuota
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.base import Fits, feature_record, reads_of
from kubectl_dra.reports.devices.advertised import advertised
from kubectl_dra.reports.simulation.accepted import as_accepted, of_other_versions, refused_pods, without_their_claims
from kubectl_dra.reports.simulation.admission import manifest_reports
from kubectl_dra.reports.simulation.autoscaled import autoscaled
from kubectl_dra.reports.simulation.copied_slices import as_planned
from kubectl_dra.reports.simulation.copies import simulated
from kubectl_dra.reports.simulation.displaced import without_place
from kubectl_dra.reports.simulation.effects import effects
from kubectl_dra.reports.simulation.existing import (
    admin_labels,
    existing,
    new_namespaces,
    new_nodes,
    with_admin_labels,
    with_namespaces,
    with_objects,
)
from kubectl_dra.reports.simulation.file_edits import places
from kubectl_dra.reports.simulation.flavors import with_flavors
from kubectl_dra.reports.simulation.gang_counts import gang_counts
from kubectl_dra.reports.simulation.in_files import in_files, of_files
from kubectl_dra.reports.simulation.misplaced import in_place, misplaced
from kubectl_dra.reports.simulation.owned import without_owned
from kubectl_dra.reports.simulation.pods import Copies
from kubectl_dra.reports.simulation.present import with_workloads
from kubectl_dra.reports.simulation.records import (
    ManifestReport,
    PodSimulation,
    Role,
    SimulationReport,
)
from kubectl_dra.reports.simulation.repeated import once_each
from kubectl_dra.reports.simulation.served_fields import as_served
from kubectl_dra.reports.simulation.shared_claims import with_others
from kubectl_dra.reports.simulation.stops import Repeated
from kubectl_dra.reports.simulation.trials import PodTrial, trials
from kubectl_dra.reports.simulation.uncompiled import as_meant, corrected_selectors
from kubectl_dra.reports.simulation.unread import with_unread

#: Where a DaemonSet runs that was not read.
_ITS_AFFINITY: Final = "its node affinity"
_UNTRIED: Final = (Role.UNTRIED,)
#: Karpenter's objects, those of Cluster API and of OpenShift's machine API after which nodes are made.
_OF_NODES: Final = frozenset({"karpenter.sh", "cluster.x-k8s.io", "machine.openshift.io"})
_NODE_MAKERS: Final = frozenset(
    {"NodePool", "NodeClaim", "MachineDeployment", "MachineSet", "MachinePool", "Machine", "Cluster"}
)
# Where nothing is created, no event can tell why.
_OF_ALL_NAMESPACES: Final = tuple(need for need in needs.POD if need.kind != "Event")


def simulation_report(
    state: ClusterState,
    objects: Sequence[Planned],
    copies: Copies,
    switches: Sequence[Switch] = (),
    *,
    together: bool = False,
    read_owner: ReadOwner | None = None,
) -> SimulationReport:
    """Simulate the creation of all ``objects`` in their order; ``together``: the entries of catalogues as well.

    ``switches`` are supposed of the cluster with the objects, before any pod is tried. ``read_owner`` gets owners of
    pods that the Inventory does not have. Raises :class:`~kubectl_dra.diagnosis.whatif.WhatIfError`.
    """
    objects, owned = without_owned(objects)
    report = _as_written(state, objects, copies, switches, together=together, read_owner=read_owner)
    report = replace(report, owned=owned)
    label = needed_label(state.features) if report.unlabelled else ""
    report = replace(report, label=label, labels=tuple(admin_labels(objects, report.unlabelled, label)))
    moved = misplaced(state, objects)
    corrected = corrected_selectors(state, objects, {each.object for each in report.manifests if each.refused})
    accepted = refused_pods(objects, report.manifests)
    minor, copied = state.features.minor, report.effects.copied
    others = of_other_versions(objects, report.manifests, minor)
    if not (moved or corrected or accepted or others or copied):
        return report
    again = in_place(tuple(as_meant(as_accepted(objects, accepted, others, minor), corrected)), moved)
    again = tuple(as_planned(again, copied))
    later = _as_written(state, again, copies, switches, together=together, read_owner=read_owner)
    users = {user for each in moved for user in each.users}
    refused = {*others, *(each.object for each in corrected)}
    users |= {pod.subject for pod in report.pods if not refused.isdisjoint(pod.blocked)}
    users |= {pod.subject for pod in report.pods if copied}
    tried, before = {pod.subject for pod in report.pods}, {_outcome(pod) for pod in report.pods}
    changed = (pod for pod in later.pods if pod.subject in users or pod.subject not in tried)
    then = tuple(pod for pod in changed if _outcome(pod) not in before)
    elsewhere = {each.template for each in moved}
    here = (pod for pod in report.pods if pod.subject not in elsewhere)
    shown = tuple(without_their_claims(here, objects, accepted))
    first = replace(report, pods=shown, accepted=(*accepted, *others))
    return replace(first, misplaced=tuple(moved), corrected=tuple(corrected), then=then)


def _outcome(pod: PodSimulation) -> tuple[object, ...]:
    """What tells whether a change of the files made another answer for some pods."""
    # Some details cannot be hashed; another of the same code is another answer.
    cause = repr(pod.pending.causes[:1]) if pod.pending is not None else ""
    return (pod.subject, pod.role, pod.fits, pod.copies, pod.wanted, pod.blocked, pod.refused, cause)


def _as_written(
    state: ClusterState,
    objects: Sequence[Planned],
    copies: Copies,
    switches: Sequence[Switch],
    *,
    together: bool,
    read_owner: ReadOwner | None,
) -> SimulationReport:
    objects, repeated = once_each(objects)
    objects = tuple(autoscaled(state, list(as_served(state, objects))))
    state = with_workloads(state, objects, read_owner)
    missing_namespaces, where = new_namespaces(state, objects), places(objects)
    given = with_namespaces(state, objects, missing_namespaces)
    prepared, unlabelled = with_admin_labels(given, objects)
    said = list(manifest_reports(state, given, objects))
    usable, refused = _apart(objects, manifest_reports(state, prepared, objects) if unlabelled else said)
    with_files = with_objects(prepared, usable)
    switches = (*switches, *_evicting_rules(with_files, usable))
    with_all, supposed = what_if(with_files, switches, read_owner) if switches else (with_files, None)
    changed = effects(state, with_files, usable)
    fresh, files = new_nodes(state, usable), of_files(state, usable, changed.copied)
    made = admitted(with_all, with_flavors(state, usable))
    tried = _daemons_first(trials(with_all, made, refused, together=together), fresh)
    tries = zip(tried, simulated(with_all, tried, copies, read_owner, state, where), strict=True)
    meant = ((trial, with_limit(with_all, trial, _as_supposed(pod, switches))) for trial, pod in tries)
    seen = ((trial, in_files(with_unread(with_all, trial, pod, missing_namespaces), files)) for trial, pod in meant)
    limited = with_quotas(state, with_files.inventory.quotas, seen, missing_namespaces)
    pods = _sharing(_held_up(_with_daemons(with_all, fresh, each) for each in _admitted(said, limited)))
    manifests = tuple(_with_roles(said, objects, tried))
    gangs = tuple(gang_counts(with_all, tried, pods, where))
    known = _known(with_all, tried) if supposed is None or not supposed.moves else frozenset[str]()
    return SimulationReport(
        fits=Fits.NO if gangs or _is_refused(manifests, repeated) else _all_fit(state, manifests, pods, supposed),
        not_as_written=sum(len(each.findings) for each in manifests),
        new_namespaces=missing_namespaces,
        unlabelled=unlabelled,
        manifests=manifests,
        pods=pods,
        effects=changed,
        certainty=missing.certainty(state.evidence, known),
        missing=_deciding(state, objects, pods, known),
        features=feature_record(state.features),
        read=reads_of(state.evidence),
        what_if=supposed,
        gangs=gangs,
        without_place=without_place(with_all, supposed),
        also_advertised=advertised(with_all, (each.node for pod in pods for each in pod.nodes)),
        repeated=repeated,
    )


def _evicting_rules(state: ClusterState, objects: Iterable[Planned]) -> Iterator[AddTaintRule]:
    """The rules of the files that make pods leave, which is supposed like the taints of switches."""
    for each in objects:
        if isinstance(each.record, DeviceTaintRule) and evicts(state, each.record):
            yield AddTaintRule(each.name)


def _as_supposed(pod: PodSimulation, switches: Collection[Switch]) -> PodSimulation:
    """Without ways out that only undo what is supposed."""
    if pod.pending is None or not switches:
        return pod
    ways = (way for way in pod.pending.remedies if not any(undoes(each, switches) for each in way.actions))
    return replace(pod, pending=replace(pod.pending, remedies=tuple(ways)))


def _daemons_first(tried: list[PodTrial], new: Collection[str]) -> list[PodTrial]:
    """In the order of the files; ``new`` nodes get their daemons before any other pod."""
    return sorted(tried, key=lambda each: bool(new) and (each.alone or each.plan.count is not CountSource.PER_NODE))


def _admitted(said: Iterable[ManifestReport], pods: Iterable[PodSimulation]) -> Iterator[PodSimulation]:
    """With what Kueue does with the objects that make them."""
    found = {each.object: each.admits for each in said}
    return (replace(pod, admits=found.get(pod.subject, Admits.YES)) for pod in pods)


def _sharing(pods: Iterable[PodSimulation]) -> tuple[PodSimulation, ...]:
    """With the other objects of the files that use the same claims."""
    pods = tuple(pods)
    shared = with_others([(pod.subject, pod.shared) for pod in pods])
    return tuple(replace(pod, shared=claims) if claims else pod for pod, claims in zip(pods, shared, strict=True))


def _held_up(pods: Iterable[PodSimulation]) -> Iterator[PodSimulation]:
    """With which of those that have to complete before never do."""
    pods = tuple(pods)
    never = {(pod.subject, pod.role) for pod in pods if pod.fits is Fits.NO and not pod.in_turn}
    for pod in pods:
        roles = tuple(role for role in pod.after if (pod.subject, role) in never)
        yield replace(pod, held_up_by=roles) if roles else pod


def _with_daemons(state: ClusterState, new: Collection[str], found: PodSimulation) -> PodSimulation:
    """With the DaemonSets that may have taken what is free on ``new`` nodes of the files."""
    on = (each.node for each in found.nodes if each.node in new)
    keys = dict.fromkeys(key for node in on for key in open_daemon_sets(state, node))
    doubts = (OpenPlugin(f"DaemonSet {key}", (_ITS_AFFINITY,)) for key in keys)
    return replace(found, open=(*found.open, *doubts)) if keys else found


def _known(state: ClusterState, tried: Iterable[PodTrial]) -> frozenset[str]:
    """The kinds of which all that the pods name was read, or is in the files."""
    found = [kinds_known(state, trial.plan.pod) for trial in tried]
    return found[0].intersection(*found[1:]) if found else frozenset()


def _deciding(
    state: ClusterState, objects: Iterable[Planned], pods: Iterable[PodSimulation], known_kinds: Collection[str]
) -> tuple[Missing, ...]:
    """What is lacking; what left a pod open decides, also where it only explains in other cases."""
    namespace = next((each.namespace for each in objects if each.namespace), "")
    wanted = [need for need in (needs.POD if namespace else _OF_ALL_NAMESPACES) if need.kind not in known_kinds]
    opened = {(each.kind, each.namespace): each for pod in pods for each in pod.unread}
    known = {(each.kind, each.namespace): each for each in missing.missing(state.evidence, wanted, namespace)}
    return tuple({**known, **opened}.values())


def _apart(objects: Iterable[Planned], said: Iterable[ManifestReport]) -> tuple[list[Planned], list[Planned]]:
    """What the API server takes, and what it refuses."""
    usable, refused = list[Planned](), list[Planned]()
    for planned, found in zip(objects, said, strict=True):
        (refused if found.refused or found.error else usable).append(planned)
    return usable, refused


def _with_roles(
    said: Iterable[ManifestReport], objects: Iterable[Planned], tried: Iterable[PodTrial]
) -> Iterator[ManifestReport]:
    said, kept = list(said), {(trial.planned.kind, trial.planned.key) for trial in tried}
    makers = {(each.object.namespace, each.made_by) for each in said}
    for each, planned in zip(said, objects, strict=True):
        found = _with_role(each, planned, kept)
        makes = (each.object.namespace, f"{each.object.kind} {each.object.name}") in makers
        yield replace(found, role=Role.USED) if makes and found.role is Role.NO_PART else found


def _with_role(report: ManifestReport, planned: Planned, tried: Collection[tuple[str, Key]]) -> ManifestReport:
    if (planned.kind, planned.key) in tried:
        return replace(report, role=Role.TRIED)
    if planned.untried:
        return replace(report, role=Role.UNTRIED)
    if report.ignored and may_admit(planned.api_version):
        return replace(report, role=Role.NOT_APPLIED)
    if report.ignored and group_of(planned.api_version) in _OF_NODES and planned.kind in _NODE_MAKERS:
        return replace(report, role=Role.MAKES_NODES)
    return replace(report, role=Role.NO_PART if report.ignored else Role.USED)


def _is_refused(manifests: Iterable[ManifestReport], repeated: Iterable[Repeated]) -> bool:
    """Whether kubectl apply does not take the files as they are written, whatever was corrected for the trial."""
    refused = any(each.findings or each.refused or each.error or each.differs for each in manifests)
    return refused or any(each.first for each in repeated)


def _all_fit(
    state: ClusterState, manifests: Iterable[ManifestReport], pods: Sequence[PodSimulation], supposed: WhatIf | None
) -> Fits:
    verdicts = {pod.fits for pod in pods}
    if Fits.NO in verdicts or (supposed is not None and supposed.of(PodFate.PENDING)):
        return Fits.NO
    # Of a workload that makes no pods none was tried.
    some = any(each.wanted != 0 for each in pods)
    untried = not (some or supposed is not None) or any(each.role in _UNTRIED or each.left_out for each in manifests)
    # Of pods that were not read nobody can tell whether they would have to leave their nodes.
    unseen = supposed is not None and supposed.moves and not state.evidence.complete("Pod")
    return Fits.UNKNOWN if Fits.UNKNOWN in verdicts or untried or unseen else Fits.YES


# --- quotas -----------------------------------------------------------------------------------------------------------

#: Of these one that exists is taken as it is.
_SINGLE = ("Pod", "ResourceClaim")


def with_quotas(
    state: ClusterState,
    quotas: Mapping[Key, ResourceQuota],
    tries: Iterable[tuple[PodTrial, PodSimulation]],
    new_namespaces: Collection[str],
) -> Iterator[PodSimulation]:
    """What came of each trial, with the quotas that may forbid it: those of the files as well.

    A namespace that does not exist yet has none of the cluster's.
    """
    earlier = Counter[Key]()
    for trial, found in tries:
        yield _with_quotas(state, trial, found, new_namespaces, (quotas.values(), earlier))
        if not trial.alone and _creates_pods(state, trial):
            earlier.update(dict.fromkeys(quota.may_be_about(quotas.values(), trial.plan.pod), found.copies))


def _with_quotas(
    state: ClusterState,
    trial: PodTrial,
    found: PodSimulation,
    new_namespaces: Collection[str],
    quotas: tuple[Collection[ResourceQuota], Mapping[Key, int]],
) -> PodSimulation:
    namespace, pod = trial.plan.pod.metadata.namespace, trial.plan.pod
    if found.wanted == 0 or not _creates(state, trial):
        return found
    if _creates_pods(state, trial) and not quota.is_settled(state, namespace):
        known, earlier = quotas
        doubts = (*quota.unspecified(known, pod), *quota.may_exceed(known, pod, found.copies, earlier))
        found = msgspec.structs.replace(found, unspecified=doubts)
    if namespace in new_namespaces or quota.are_read(state, namespace):
        return found
    (need,) = needs.deciding((quota.KIND,))
    return msgspec.structs.replace(found, quota=lacking(state.evidence, need, namespace))


def with_limit(state: ClusterState, trial: PodTrial, found: PodSimulation) -> PodSimulation:
    """How many copies quotas admit, where devices leave open whether any fits; of those that run already nothing."""
    if not found.undecided or found.wanted is None or found.present or found.replaces or not _creates(state, trial):
        return found
    limit = quota_limit(state, trial.plan.pod, wanted=found.wanted)
    few = limit is not None and limit.copies < found.wanted
    return msgspec.structs.replace(found, limit=limit) if few else found


def _creates_pods(state: ClusterState, trial: PodTrial) -> bool:
    """Whether a pod of the file comes into being: what its containers request is not that of a bare pod."""
    planned = trial.planned
    if trial.is_bare:
        return False
    return planned.kind != "Pod" or existing(state.inventory, planned) is None


def _creates(state: ClusterState, trial: PodTrial) -> bool:
    """Whether a pod or a claim comes into being."""
    planned = trial.planned
    if planned.kind not in _SINGLE or existing(state.inventory, planned) is None:
        return True
    return any(entry.resource_claim_template_name is not None for entry in trial.plan.pod.spec.resource_claims)
