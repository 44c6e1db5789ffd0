"""What a simulation says of the files before anything is tried: what is wrong in them, and what they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from kubectl_dra.api.kinds import BY_NAME, RESOURCE_GROUP
from kubectl_dra.api.served import STABLE_SINCE, version_to_write
from kubectl_dra.diagnosis.records import Missing, ObjectRef
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.likeness import similar
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pod_security import may_refuse_lines, security_lines
from kubectl_dra.output.refusals import refusal_text
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.simulation.queues import queue_clause, quota_lines
from kubectl_dra.output.taints.hits import fate_text, who_text
from kubectl_dra.output.unread import left_out_text
from kubectl_dra.output.words import counted, listed, object_name, plural, shortened, without_names
from kubectl_dra.reports.base import ReadRecord
from kubectl_dra.reports.capacity.capacity import CapacityReport
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.simulation import Effects, ManifestReport, SimulationReport
from kubectl_dra.reports.simulation.records import Role
from kubectl_dra.reports.simulation.stops import GangCount, Misplaced
from kubectl_dra.reports.simulation.trials import PRIORITY_CLASS, RUNTIME_CLASS

#: How the API server begins where it has no such version.
_NO_MATCHES: Final = "no matches for kind"
_CONVERT: Final = "kubectl dra convert -f FILE{} writes the manifest in the version that {}."
#: How admission refuses a pod (plugin/pkg/admission/priority/admission.go).
_NO_PRIORITY_CLASS: Final = "no PriorityClass with name "
_WAS_FOUND: Final = " was found"
_NAMED = 5
_UNKNOWN_NODES: Final = (
    "{}: named by slices of the files, and neither in the cluster nor in the files{}. Its devices are out of reach "
    "until a Node of this name is added with -f."
)
_UNLABELLED: Final = (
    "Admin access is not allowed in namespace {}, which lacks the label {}=true. The rest is told as if it had the "
    "label."
)
_ADMITS_ALL: Final = (
    "A cluster administrator decides that: everybody who may create claims there can then use devices that others hold."
)
_HITS = 20
_ONE_GATE: Final = (Safe("it"), Safe("gate"))
_GATES: Final = (Safe("them"), Safe("gates"))
_WITHOUT: Final = {
    "GenericWorkload": Safe("the server takes no PodGroups"),
    "DRAWorkloadResourceClaims": Safe("each pod gets a claim of its own"),
    "TopologyAwareWorkloadScheduling": Safe("nothing keeps the pods in one domain"),
}
_KUSTOMIZATION: Final = "Kustomization"
_BUILT: Final = Safe(
    "A kustomization is not an object of a cluster: kubectl apply -f fails on it, and what it changes was not tried. "
    "-k DIR reads what it makes."
)

#: Of what makes a rollout not all is held of the cluster's objects.
_SAME_TEMPLATE: Final = (
    "{} has the same template in the cluster. Commands, environment and annotations were not compared: a change of "
    "these {}."
)
_REPLACES: Final = Safe("replaces its pods")
#: Upstream: pkg/apis/batch/validation, ValidateJobSpecUpdate.
_IS_REFUSED: Final = Safe("is refused")


def refusal_lines(report: SimulationReport | CapacityReport) -> Iterator[Safe]:
    """What is wrong in the files, one manifest after the other, and what to do about versions that are gone."""
    manifests = report.manifests
    for manifest in manifests:
        yield from _wrong_lines(manifest)
    yield from _missing_classes(manifests, report.read)
    # Of other groups no version would help: the server does not have the kind at all.
    unknown = [text for each in manifests for text in each.refused if text.startswith(_NO_MATCHES)]
    minor = report.features.minor
    # Where the server has no version of the group, none would help: a note says so.
    none = any("ResourceClaim" in each.lists and each.coverage is Coverage.NOT_SERVED for each in report.read)
    version = "" if none else version_to_write(minor)
    if version and any(RESOURCE_GROUP in text for text in unknown):
        now = minor >= STABLE_SINCE
        to = Safe("") if now else fmt(" --to {}", safe(version))
        has = Safe("servers have now") if now else fmt("Kubernetes 1.{} has", minor)
        yield from wrapped(fmt(_CONVERT, to, has))


def _missing_classes(manifests: Sequence[ManifestReport], read: Iterable[ReadRecord]) -> Iterator[Safe]:
    """Where the PriorityClasses are that the server does not find: later in the files, or left out of the cluster's."""
    lacking = [text.rpartition(_NO_PRIORITY_CLASS) for each in manifests for text in each.refused]
    names = {name.removesuffix(_WAS_FOUND) for _, found, name in lacking if found}
    later = [e.object for e in manifests if e.object.kind == PRIORITY_CLASS and e.object.name in names]
    for each in later:
        yield from wrapped(fmt("{} comes after it: put it first.", object_name(each)))
    assumed = any(PRIORITY_CLASS in each.lists and each.coverage is Coverage.ASSUMED for each in read)
    if names - {each.name for each in later} and assumed:
        yield from wrapped(left_out_text(BY_NAME[PRIORITY_CLASS]))


def _gate_lines(report: SimulationReport) -> Iterator[Safe]:
    """Which gates have to be on for this answer, and what happens otherwise."""
    gates = report.supposed_gates
    if not gates:
        return
    one = len(gates) == 1
    text = "Taken as on, because the files need {}: feature {} {}, off by default in Kubernetes 1.{}."
    told = [fmt(text, *(_ONE_GATE if one else _GATES), listed(gates), report.features.minor)]
    told += [fmt("Without {} {}.", gate, _WITHOUT[gate]) for gate in gates if gate in _WITHOUT]
    told.append(Safe("--feature-gates GATE=false shows the answer without it."))
    yield from wrapped(Safe(" ").join(told))


def note_lines(report: SimulationReport) -> Iterator[Safe]:
    """What was taken as given, one manifest after the other, and objects that have no part in it."""
    yield from _gate_lines(report)
    text = "Left out, because the controllers of other objects in the files create them: {}."
    yield from _named_lines(text, report.owned)
    if report.pods:
        yield from untried_lines(report.manifests)
    for name in report.new_namespaces:
        yield from wrapped(fmt("Namespace {} does not exist; it is taken as created first.", name))
    # Several files may hold the same object, as the class that each of them needs.
    compared = {pod.subject: pod for pod in report.pods if pod.present or pod.replaces or pod.runs_alone}
    for ref in dict.fromkeys(each.object for each in report.manifests if each.exists and not each.differs):
        if ref not in compared:
            yield from wrapped(fmt("{} exists already: {}.", object_name(ref), _existing(ref)))
        elif not (compared[ref].replaces or compared[ref].runs_alone):
            yield from wrapped(fmt(_SAME_TEMPLATE, object_name(ref), _IS_REFUSED if ref.kind == "Job" else _REPLACES))
    yield from _generated_lines(report.manifests)
    yield from _each_lines(report.manifests)
    yield from may_refuse_lines(report.manifests)
    yield from _names("Not applied, and may refuse or change the pods: {}.", report.manifests, Role.NOT_APPLIED)
    text = "Nodes that come after {} are not known yet. --add-node like=NODE supposes one that is like another."
    yield from _names(text, report.manifests, Role.MAKES_NODES)
    left = [each for each in report.manifests if each.role is Role.NO_PART]
    if any(each.object.kind == _KUSTOMIZATION and not each.object.name for each in left):
        left = [each for each in left if each.object.kind != _KUSTOMIZATION or each.object.name]
        yield from wrapped(_BUILT)
    yield from _names("Not involved in scheduling devices: {}.", left, Role.NO_PART)


def _names(text: str, manifests: Iterable[ManifestReport], role: Role) -> Iterator[Safe]:
    """The first objects with a role, in a sentence."""
    yield from _named_lines(text, [each.object for each in manifests if each.role is role])


def _named_lines(text: str, found: Sequence[ObjectRef]) -> Iterator[Safe]:
    if found:
        names = Safe(", ").join(map(object_name, found[:_NAMED]))
        more = fmt(" and {} more", len(found) - _NAMED) if len(found) > _NAMED else Safe("")
        yield from wrapped(fmt(text, names + more))


def _wrong_lines(manifest: ManifestReport) -> Iterator[Safe]:
    name = object_name(manifest.object)
    for (corrected, message), found in groupby(manifest.findings, lambda each: (each.corrected, each.message)):
        how, paths = Safe("corrected" if corrected else "wrong"), listed([each.path for each in found])
        yield from wrapped(fmt("{}: {}: {}: {}", name, how, paths, message))
    if manifest.error:
        yield from wrapped(fmt("{} {}: {}", name, styled(Safe("can't be read"), Style.BAD), manifest.error))
    for refusal in manifest.refused:
        yield from wrapped(fmt("{} {}: {}", name, styled(Safe("would be refused"), Style.BAD), refusal_text(refusal)))
    if manifest.object.kind == "Pod":
        yield from security_lines(manifest.object, manifest.refused)


def _reference_lines(each: Misplaced) -> Iterator[Safe]:
    """What has kustomize rename a template where it is named, too."""
    text = (
        "If kustomize has renamed {} (namePrefix, nameSuffix): it changes resourceClaimTemplateName only if a file "
        "under configurations in kustomization.yaml says so:"
    )
    yield from wrapped(fmt(text, object_name(each.template)))
    yield from map(Safe, ("  nameReference:", "  - kind: ResourceClaimTemplate", "    fieldSpecs:"))
    for reference in each.references:
        yield fmt("    - kind: {}", reference.kind)
        yield fmt("      path: {}", reference.path)
    yield Safe("")


def misplaced_lines(misplaced: Iterable[Misplaced], user: ObjectRef) -> Iterator[Safe]:
    """How what follows of a workload is meant."""
    for each in misplaced:
        if user in each.users and each.references:
            yield from _reference_lines(each)
        if user in each.users and each.as_claim:
            yield from wrapped(fmt("As if {} were named as resourceClaimTemplateName:", object_name(each.template)))
        elif user in each.users and each.name:
            yield from wrapped(fmt("As if {} were named instead of {}:", object_name(each.template), each.name))
        elif user in each.users:
            yield from wrapped(fmt("As if {} were in namespace {}:", object_name(each.template), each.namespace))


def untried_lines(manifests: Iterable[ManifestReport]) -> Iterator[Safe]:
    """What makes pods of which nothing is known."""
    for each in manifests:
        if each.untried:
            yield from wrapped(fmt("{} was not tried: {}.", object_name(each.object), each.untried))
        if each.left_out:
            text = "{} of {} {} not tried: nothing in it describes {} pods."
            verb, its = (Safe("was"), Safe("its")) if len(each.left_out) == 1 else (Safe("were"), Safe("their"))
            yield from wrapped(fmt(text, listed(each.left_out), object_name(each.object), verb, its))


_MADE_UP: Final = (
    "{}: the server generates the end of this name. kubectl apply refuses generateName; use kubectl create -f."
)
_SEVERAL_MADE_UP: Final = (
    "{}: the server generates the ends of these names. kubectl apply refuses generateName; use kubectl create -f."
)


def _generated_lines(manifests: Iterable[ManifestReport]) -> Iterator[Safe]:
    found = [each.object for each in manifests if each.generated]
    yield from _named_lines(_MADE_UP if len(found) == 1 else _SEVERAL_MADE_UP, found)


def _each_lines(manifests: Iterable[ManifestReport]) -> Iterator[Safe]:
    """What is told of single objects; the same of several once."""
    told: dict[str, tuple[list[Safe], list[ObjectRef]]] = {}
    for manifest in manifests:
        if lines := list(_lines(manifest)):
            key = without_names({manifest.object.name}, lines)
            told.setdefault(key, (lines, []))[1].append(manifest.object)
    for lines, (_, *others) in told.values():
        yield from lines
        yield from _named_lines("The same applies to {}.", others)


def _lines(manifest: ManifestReport) -> Iterator[Safe]:
    name = object_name(manifest.object)
    if manifest.made_by:
        yield from wrapped(fmt("{} is made by the controller of {}.", name, manifest.made_by))
    if manifest.suspended:
        tried = Safe("it is tried as if it ran" if manifest.queue else "it takes nothing until it is resumed")
        queue = fmt(" and {}", queue_clause(manifest)) if manifest.queue else Safe("")
        yield from wrapped(fmt("{} is suspended{}; {}.", name, queue, tried))
    elif manifest.queue:
        yield from wrapped(fmt("{} {}.", name, queue_clause(manifest)))
    if manifest.queue:
        yield from quota_lines(manifest)


def _existing(ref: ObjectRef) -> Safe:
    if ref.kind in ("Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule"):
        return Safe("here it is as the file says")
    if ref.kind == "Job":
        return Safe("to apply it neither runs it again nor changes its pods; what is tried here comes on top of it")
    if ref.kind in ("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "CronJob"):
        return Safe("what is tried here comes on top of it")
    return Safe("it is taken as it is in the cluster, its spec can't be changed")


def blocked_text(name: Safe, ref: ObjectRef, *, maker: bool = False) -> Safe:
    """Why the pods of ``name`` can't be tried: an object that they name is refused or does not exist.

    ``maker``: the name is that of what makes them, which the server creates all the same.
    """
    if ref.kind in (PRIORITY_CLASS, RUNTIME_CLASS):
        text = "{}: its pods are refused: {} does not exist." if maker else "{} can't be created: {} does not exist."
        return fmt(text, name, object_name(ref))
    return fmt("{} can't run: {} would be refused.", name, object_name(ref))


def beside_text(beside: Sequence[Missing]) -> Safe:
    """What was not read and may change the pods that are created, or their number."""
    others = [each for each in beside if each.namespace]
    told = [Safe("the RuntimeClass of the pod")] if len(others) < len(beside) else []
    kinds = listed([f"{each.kind}s" for each in others])
    told += [fmt("the {} of namespace {}", kinds, others[0].namespace)] if others else []
    text = fmt("not read, and may change what is created: {}", listed(told))
    return fmt("{}; a RuntimeClass counts when it is in a file of -f, too", text) if len(others) < len(beside) else text


def refused_words(refused: Sequence[str]) -> Safe:
    """What the API server has against pods, so that none is created."""
    return Safe("; ").join(map(refusal_text, refused))


def gang_lines(gangs: Iterable[GangCount]) -> Iterator[Safe]:
    """The gangs that can't start."""
    for each in gangs:
        yield from wrapped(styled(gang_text(each), Style.BOLD))
        if each.least_field and each.maker is None and each.fit:
            at = fmt(" ({})", each.at) if each.at else Safe("")
            text = "If {} are enough: set {}: {} in {}{}."
            pods = counted(each.fit, "pod")
            yield from wrapped(fmt(text, pods, safe(each.least_field), each.fit, each.object, at), indent=2)


def gang_text(gang: GangCount) -> Safe:
    """How many pods it needs at once, and how many fit."""
    if gang.maker is not None:
        return _waiting_text(gang, gang.maker)
    kind, _, name = gang.object.partition(" ")
    text = "{} would start no pod of {} {}/{}: it needs {} at once, and only {} of its {} fit."
    if gang.wanted < gang.least:
        text = "{} would start no pod of {} {}/{}: it needs {} at once, and there {} only {}, of which {} {}."
        are, fit = Safe(plural("is", gang.wanted)), Safe("fits" if gang.fit == 1 else "fit")
        number = counted(gang.wanted, "pod")
        return fmt(text, gang.program, kind, gang.namespace, name, gang.least, are, number, gang.fit, fit)
    pods = counted(gang.wanted, "pod")
    return fmt(text, gang.program, kind, gang.namespace, name, gang.least, gang.fit, pods)


def _waiting_text(gang: GangCount, maker: ObjectRef) -> Safe:
    """That pods of a gang are made only when others of it are ready, and what to write instead."""
    kind, _, name = gang.object.partition(" ")
    are = fmt("{} {}", gang.made, Safe("is" if gang.made == 1 else "are"))
    text = "{} would start no pod of {} {}/{}, whatever is free: it needs {} at once, and only {} ever there, as {} {}."
    why = Safe("makes each pod when the one before it is ready" if gang.field else "makes some when others are ready")
    said = fmt(text, gang.program, kind, gang.namespace, name, gang.least, are, object_name(maker), why)
    if gang.field:
        said += fmt(" Set {}: Parallel.", gang.field)
    if gang.fit < gang.least:
        said += fmt(" Then only {} of its {} pods fit.", gang.fit, gang.wanted)
    return said


def bypassing_text(name: Safe, node: str, *, unknown: bool = False) -> Safe:
    """Why pods that name their node can't start there, and what to write instead."""
    if unknown:
        return fmt("{} can't run: spec.nodeName is {}, and there is no such node.", name, node)
    text = (
        "{} would not start: spec.nodeName bypasses the scheduler, and nothing else allocates devices for its claims. "
        "Write nodeSelector with kubernetes.io/hostname: {} instead."
    )
    return fmt(text, name, node)


def unlabelled_lines(report: SimulationReport, address: Address) -> Iterator[Safe]:
    """Namespaces in which nothing gets admin access yet, and what it means to allow it."""
    written, label = {each.object.name: each for each in report.labels}, report.label
    for name in report.unlabelled:
        yield from wrapped(styled(fmt(_UNLABELLED, name, label), Style.BAD))
        if name in written:
            at = fmt(" ({})", written[name].at) if written[name].at else Safe("")
            text = 'To allow it: add {}: "true" to {} of Namespace {}{}.'
            yield from wrapped(fmt(text, label, safe(written[name].field), name, at))
        else:
            words = kubectl("label", of("namespace", name), f"{label}=true")
            yield from command_line("To allow it: {}", changing(words, address))
        yield from wrapped(Safe(_ADMITS_ALL))


def unknown_node_lines(effects: Effects) -> Iterator[Safe]:
    """The nodes of slices of the files that exist nowhere."""
    if not effects.unknown_nodes:
        return
    named = effects.unknown_nodes[:_NAMED]
    near = dict.fromkeys(each for name in named for each in similar(name, effects.nodes))
    meant = fmt(" (did you mean {}?)", listed(list(near)[:_NAMED], "or")) if near else Safe("")
    yield from wrapped(styled(fmt(_UNKNOWN_NODES, listed(named), meant), Style.BAD))


def effect_lines(effects: Effects) -> Iterator[Safe]:
    """How the files change the cluster in which everything is tried."""
    added = [(effects.nodes, "node"), (effects.slices, "ResourceSlice")]
    parts = [counted(len(names), word) for names, word in added if names]
    if parts:
        known = fmt(", of which {} replaced", _are(len(effects.replaced))) if effects.replaced else Safe("")
        yield from wrapped(fmt("The cluster is taken with {} of the files{}.", Safe(" and ").join(parts), known))
    if effects.daemon_sets:
        shown = shortened(effects.daemon_sets, _NAMED)
        yield from wrapped(fmt("Pods of {} {} run on the new nodes first.", _daemon_sets(effects.daemon_sets), shown))
    if effects.open_daemon_sets:
        text = (
            "Whether {} {} also {} on the new nodes is unknown: it does not run on all nodes, and its affinity was not "
            "read."
        )
        names = effects.open_daemon_sets
        run = Safe("runs" if len(names) == 1 else "run")
        yield from wrapped(fmt(text, _daemon_sets(names), shortened(names, _NAMED), run))
    for each in effects.classes:
        if each.problem:
            yield from wrapped(fmt("DeviceClass {} selects nothing: {}", each.name, each.problem))
            continue
        before = fmt("; the one in the cluster selects {}", each.before.value) if each.before is not None else Safe("")
        number = counted(each.devices.value, "device") if each.devices.value else Safe("no device")
        fails = fmt(", and fails on {}", counted(each.failing, "device")) if each.failing else Safe("")
        yield from wrapped(fmt("DeviceClass {} selects {}{}{}.", each.name, number, fails, before))
    for rule in effects.taints:
        number = counted(rule.devices, "device") if rule.devices else Safe("no device")
        pods = Safe(", which nobody uses") if rule.devices and not rule.hits else Safe("")
        yield from wrapped(fmt("DeviceTaintRule {} selects {}{}.", rule.rule, number, pods))
        yield from (fmt("  {}: {}", who_text(hit), fate_text(hit)) for hit in rule.hits[:_HITS])
        if len(rule.hits) > _HITS:
            yield fmt("  and {} more", len(rule.hits) - _HITS)


def _daemon_sets(names: Sequence[str]) -> Safe:
    return Safe("DaemonSet" if len(names) == 1 else "DaemonSets")


def _are(number: int) -> Safe:
    return fmt("{} {}", number, Safe("is" if number == 1 else "are"))
