"""Manifests of objects that are about to be created: corrected, decoded, defaulted; and the pods that they make.

What the API server would refuse is ``validate``'s business, whether anything fits is decided elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import msgspec

from kubectl_dra.api import builtin
from kubectl_dra.api.decode import DecodeError, decode_any
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.first_error import place_of, without
from kubectl_dra.api.generated_names import named
from kubectl_dra.api.kinds import BY_NAME, POD, Kind, find_kind
from kubectl_dra.api.lint import Finding, Mistake, lint
from kubectl_dra.api.provisioning import provisioned, scaled
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import at, group_of, in_utf8, list_at, mapping, read_tree, text_at
from kubectl_dra.api.workloads import MadeTemplate, expand
from kubectl_dra.api.workloads.beside import (
    Gang,
    Gangs,
    changes_pods,
    gang_of_runtime,
    kept_together,
)
from kubectl_dra.api.workloads.domains import DomainRule, Spanned, domain_rules, spanned, whole_group
from kubectl_dra.api.workloads.expand import CountSource, Expansion, composes
from kubectl_dra.api.workloads.grove import asked_by, with_foreign
from kubectl_dra.api.workloads.kserve import describes_pods, served
from kubectl_dra.api.workloads.left_out import refused_claims
from kubectl_dra.api.workloads.made import (
    is_job,
    is_train_job,
    job_group,
    made_objects,
    patch_mistakes,
    runtime_for,
    runtime_of,
    train_job,
)
from kubectl_dra.api.workloads.templates import MAX_PODS, UNCOUNTED, AlikePods, CountField, Growth
from kubectl_dra.model.base import Record, with_spec
from kubectl_dra.model.core import Pod, SchedulingGroup
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.queues import QUEUE_LABEL
from kubectl_dra.model.storage import PersistentVolumeClaim

Tree = dict[str, Any]
#: Of one object so many values that can't be read are told.
_WRONG: Final = 20


@dataclass(frozen=True, slots=True)
class PodPlan(AlikePods):
    """``copies`` of ``pod``, one per node where that is None.

    ``volume_claims`` are made for each pod of its own, as a StatefulSet does. ``kept_together``: what asks others than
    the scheduler to keep the pods in one domain of nodes, ``domains``: how many of them together, where that is known.
    ``gang``: another program starts many of them or none. ``flavors`` of its queue are in the pod; ``flavor_open``: one
    of these will be, or what they add was not read. ``spanned``: domains of other objects of the files that they make
    up with others. ``written_in``: the object that has ``spec_at``, if another one. ``refused``: what the server has
    against the claims and amounts of each pod. ``template``: metadata and spec of the pods as they are written; None
    where the controller makes their containers of fields of its own.
    """

    pod: Pod
    spec_at: str = field(default="spec", kw_only=True)
    volume_claims: tuple[PersistentVolumeClaim, ...] = ()
    kept_together: tuple[str, ...] = ()
    gang: Gang | None = None
    domains: tuple[DomainRule, ...] = ()
    flavors: tuple[str, ...] = ()
    flavor_open: tuple[str, ...] = ()
    spanned: tuple[Spanned, ...] = ()
    written_in: tuple[str, str, str] | None = None
    refused: tuple[str, ...] = ()
    template: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One object of a file. ``record`` None: it could not be read (``error``), or its kind is none of ours.

    ``pods`` are those that it makes; ``catalog``: only others make them after it. ``untried`` says why an object that
    makes pods has none here. ``suspended``: its pods wait until it is resumed, by ``queue`` if that is set.
    ``generated``: the server makes the name. ``made_by``: the object whose controller makes this one. ``corrected`` is
    JSON. ``invalid``: what the server refuses of a pod or of a workload's template. ``counts``: it changes the pods of
    others, as autoscalers do. ``group``: how many of each of its ``pods`` are of use together only. ``annotations``
    are its own. ``left_out``: its parts that make pods of which nothing is known. ``rest``: one that could not be
    read for one value, as if that were left out.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    record: Record | None = None
    error: str = ""
    findings: tuple[Finding, ...] = ()
    corrected: bytes | None = None
    pods: tuple[PodPlan, ...] = ()
    api_version: str = ""
    catalog: bool = False
    untried: str = ""
    left_out: tuple[str, ...] = ()
    suspended: bool = False
    queue: str = ""
    generated: bool = False
    made_by: str = ""
    invalid: tuple[str, ...] = ()
    counts: bool = False
    group: tuple[int, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    rest: Planned | None = None

    def scaled(
        self, copies: int, field: str, growth: Growth | None = None, counted_by: CountField = UNCOUNTED
    ) -> Planned:
        """With another number of its pods, which are all alike; ``field`` says so, and ``growth`` what may be more."""
        first = replace(self.pods[0], domains=(), counted_by=counted_by)
        plan = replace(first, copies=copies, count=CountSource.ASSUMED, assumed=(field,), growth=growth)
        return replace(self, pods=(plan,), group=())

    @property
    def key(self) -> Key:
        """Namespace and name; the namespace that a record has got, if it has one."""
        return key_of(self.record.metadata) if self.record is not None else Key(self.namespace, self.name)  # type: ignore[attr-defined]


def read_all(sources: Sequence[Source], namespace: str, *, grouped_jobs: bool = False) -> list[Planned]:
    """All objects of the files, with those that controllers make of them; references are looked up among them.

    ``grouped_jobs``: the server keeps ``spec.scheduling`` of Jobs (feature gate WorkloadWithJob).
    """
    sources, trees = _with_foreign(sources, [_tree(source.data) for source in sources], namespace)
    gangs, known_domains = Gangs(trees, namespace), spanned(trees, namespace)
    runtimes = {index: runtime_for(tree, trees) for index, tree in enumerate(trees) if is_train_job(tree)}
    described = list(filter(describes_pods, trees))
    services = {index: one for index, tree in enumerate(trees) if (one := served(tree, described)) is not None}
    used = {id(each.runtime) for each in services.values()}
    found: list[tuple[Planned, Tree]] = []
    for index, (source, tree) in enumerate(zip(sources, trees, strict=True)):
        planned = read_planned(source, namespace)
        if index in runtimes:
            planned = _with_runtime(planned, tree, runtimes[index], namespace)
        elif any(tree is each for each in runtimes.values()):
            # Its pods are those of the job.
            planned = replace(planned, pods=())
        elif index in services:
            planned = _expanded(planned, services[index].pods, tree, namespace)
        planned = scaled(_beside(planned, tree, gangs, known_domains), tree)
        if id(tree) in used:
            planned = replace(planned, counts=True)
        if index in runtimes:
            planned = _in_gang(planned, runtimes[index])
        group = job_group(tree) if grouped_jobs else None
        found.append((_in_group(planned, group["metadata"]["name"]) if group is not None else planned, tree))
        for made in made_objects(tree, grouped_jobs=grouped_jobs):
            data = json.dumps(made).encode()
            maker = f"{planned.kind} {planned.name}{asked_by(tree, made)}"
            found.append((replace(read_planned(Source(data), namespace), made_by=maker), made))
    return list(provisioned(found, namespace))


def _with_foreign(
    sources: Sequence[Source], trees: Sequence[Tree], namespace: str
) -> tuple[Sequence[Source], Sequence[Tree]]:
    """With what objects use of others as if it were their own."""
    whole = [with_foreign(tree, trees, namespace) for tree in trees]
    changed = [
        source if new is old else source._replace(data=json.dumps(new).encode())
        for source, old, new in zip(sources, trees, whole, strict=True)
    ]
    return changed, whole


def _beside(planned: Planned, tree: Tree, gangs: Gangs, known_domains: Sequence[Spanned]) -> Planned:
    """With what other objects of the files make of its pods."""
    together = kept_together(tree) if planned.pods else ()
    number = sum(plan.copies or 0 for plan in planned.pods)
    made = [gangs.of(tree, plan.pod, number) for plan in planned.pods]
    pods = [replace(plan, kept_together=together, gang=gang) for plan, gang in zip(planned.pods, made, strict=True)]
    pods = [replace(plan, spanned=tuple(each for each in known_domains if each.has(plan.pod))) for plan in pods]
    return replace(planned, pods=tuple(pods), counts=changes_pods(tree))


def _in_gang(planned: Planned, runtime: Mapping[str, Any] | None) -> Planned:
    """With what the runtime of a TrainJob says of all of its pods together."""
    number = sum(plan.copies or 0 for plan in planned.pods)
    gang = gang_of_runtime(mapping(runtime), planned.name, planned.key.namespace, number)
    return replace(planned, pods=tuple(replace(plan, gang=gang) for plan in planned.pods)) if gang else planned


def read_planned(source: Source, namespace: str, wrong: int = _WRONG) -> Planned:
    """One object; those without a namespace are meant for ``namespace``."""
    found = lint(source.data, listed=bool(source.api_version))
    written = found.corrected if found.corrected is not None else source.data
    data, generated = named(written)
    tree = _tree(data)
    api_version = str(tree.get("apiVersion") or source.api_version)
    base = Planned(
        str(tree.get("kind") or source.kind), api_version=api_version, generated=generated, origin=source.origin
    )
    decoded = decode_any(data, source.api_version, source.kind)
    if isinstance(decoded, BadObject):
        rest = _rest(source, tree, decoded.error, namespace, wrong) if wrong else None
        unread = replace(base, kind=decoded.kind, namespace=decoded.namespace, name=decoded.name, rest=rest)
        return replace(unread, error=decoded.error, findings=found.findings)
    meta = mapping(tree.get("metadata"))
    base = replace(
        base,
        findings=found.findings,
        corrected=found.corrected,
        queue=text_at(mapping(meta.get("labels")), QUEUE_LABEL),
    )
    base = replace(base, annotations=_texts(meta.get("annotations")))
    if decoded is None and not api_version:
        unversioned = replace(base, namespace=text_at(meta, "namespace"), name=text_at(meta, "name"))
        return replace(unversioned, error=_no_version(base.kind))
    if decoded is None:
        return _of_pods(
            replace(base, namespace=text_at(meta, "namespace"), name=text_at(meta, "name")), tree, namespace
        )
    kind, record = decoded
    record = _in_namespace(kind, defaulted(record), namespace)
    own = record.metadata  # type: ignore[attr-defined]
    base = replace(base, kind=kind.name, namespace=own.namespace, name=own.name, record=record)
    base = replace(base, invalid=tuple(builtin.refusals(tree, api_version, kind.name)))
    if isinstance(record, Pod):
        return replace(base, pods=(PodPlan(record, template=tree),))
    return _of_pods(base, tree, namespace)


def _rest(source: Source, tree: Tree, error: str, namespace: str, wrong: int) -> Planned | None:
    other = without(tree, place_of(error)) if place_of(error) else None
    return read_planned(source._replace(data=json.dumps(other).encode()), namespace, wrong - 1) if other else None


def _no_version(kind: str) -> str:
    known = BY_NAME.get(kind)
    return f"apiVersion: missing{f'; {kind} has {known.api_version}' if known is not None else ''}"


def _in_namespace(kind: Kind, record: Record, namespace: str) -> Record:
    meta = record.metadata  # type: ignore[attr-defined]
    if meta.namespace or not kind.namespaced:
        return record
    return msgspec.structs.replace(record, metadata=msgspec.structs.replace(meta, namespace=namespace))


# --- pods -------------------------------------------------------------------------------------------------------------


def _of_pods(planned: Planned, tree: Tree, namespace: str) -> Planned:
    """With the pods of an object that is none itself."""
    known = find_kind(planned.api_version, planned.kind)
    if known is not None and not known.workload:
        return planned
    return _expanded(planned, expand(tree, group_of(planned.api_version), planned.kind), tree, namespace)


def _with_runtime(planned: Planned, tree: Tree, runtime: Mapping[str, Any] | None, namespace: str) -> Planned:
    wrong = (Finding(*each, False, Mistake.UNKNOWN_FIELD) for each in patch_mistakes(tree, runtime))
    planned = replace(planned, findings=(*planned.findings, *wrong))
    if runtime is None:
        waits = mapping(tree.get("spec")).get("suspend") is True
        untried = f"its pods are described by {runtime_of(tree)}, which is not among the files"
        return replace(planned, untried=untried, suspended=waits)
    found = _expanded(planned, train_job(tree, runtime), tree, namespace)
    meta = mapping(runtime.get("metadata"))
    where = (str(runtime.get("kind")), text_at(meta, "namespace"), text_at(meta, "name"))
    return replace(found, pods=tuple(replace(plan, written_in=where) for plan in found.pods))


def _problems(made: MadeTemplate) -> Iterator[str]:
    """What keeps the server from reading the object; how kinds that are not known count their pods nobody can tell."""
    if made.problem:
        yield made.problem
    if made.count is CountSource.STATED:
        written = (*made.counted_by.fields, *made.counted_by.bounds)
        yield from (
            f"{path}: must be at most {MAX_PODS} (int32), got {number}" for path, number in written if number > MAX_PODS
        )


def _expanded(planned: Planned, found: Expansion, tree: Tree, namespace: str) -> Planned:
    broken = next((problem for each in found.templates for problem in _problems(each)), "")
    if broken:
        return replace(planned, error=broken)
    where = planned.namespace or namespace
    try:
        pods = tuple(_plan(each, planned.name, where) for each in found.templates)
        if not builtin.is_builtin(planned.api_version, planned.kind):
            # Of kinds of its own the server has checked the template; of others it refuses the pods, one by one.
            pods = tuple(_checked(*each, tree) for each in zip(pods, found.templates, strict=True))
        claims = tuple(_volume_claims(tree, where)) if planned.kind == "StatefulSet" else ()
    except DecodeError as error:
        return replace(planned, error=str(error))
    pods = tuple(replace(each, volume_claims=claims) for each in pods) if claims else pods
    if not composes(group_of(planned.api_version), planned.kind):
        bodies = (None if each.rest_by else each.body for each in found.templates)
        pods = tuple(replace(each, template=body) for each, body in zip(pods, bodies, strict=True))
    rules = domain_rules(tree, found.templates)
    pods = tuple(
        replace(each, domains=tuple(rule for rule in rules if position in dict(rule.pods)))
        for position, each in enumerate(pods)
    )
    makes_pods = found.known and not found.catalog
    untried = found.untried or ("nothing in it describes a pod" if makes_pods and not pods else "")
    group = whole_group(tree, found.templates)
    if _in_turn(tree, found.templates):
        pods = tuple(replace(each, in_turn=True) for each in pods)
    planned = replace(planned, suspended=found.suspended, untried=untried, left_out=found.left_out)
    return replace(planned, pods=pods, catalog=found.catalog, group=group)


def _in_turn(tree: Tree, templates: Sequence[MadeTemplate]) -> bool:
    """Whether the pods of a Job, or of the Jobs of a CronJob, run to their end without each other."""
    cron = (group_of(text_at(tree, "apiVersion")), tree.get("kind")) == ("batch", "CronJob")
    job = {**tree, "kind": "Job", "spec": at(tree, "spec.jobTemplate.spec")} if cron else tree
    return is_job(job) and not whole_group(job, templates)


def _plan(template: MadeTemplate, name: str, namespace: str) -> PodPlan:
    """Raises :class:`DecodeError` for a template that can't be read."""
    meta = mapping(template.body.get("metadata"))
    role = f"{name}-{template.role}" if template.role else name
    own = {"name": role.lower().replace(" ", "-"), "namespace": namespace}
    labels = {"labels": meta["labels"]} if meta.get("labels") else {}
    pod = _decoded({"metadata": {**own, **labels}, "spec": template.body["spec"]}, POD, template.path)
    assert isinstance(pod, Pod)  # noqa: S101
    said = {each.name: getattr(template, each.name) for each in fields(AlikePods)}
    return PodPlan(pod, **{**said, "spec_at": template.spec_path})


def _checked(plan: PodPlan, template: MadeTemplate, tree: Tree) -> PodPlan:
    spec, path = mapping(template.body.get("spec")), template.spec_path
    found = (*builtin.claim_refusals(spec, path), *builtin.amount_refusals(spec, path))
    found = (*found, *refused_claims(spec, path, tree))
    return replace(plan, refused=tuple(dict.fromkeys(found)))


def _in_group(planned: Planned, group: str) -> Planned:
    named = SchedulingGroup(group)
    pods = (replace(plan, pod=with_spec(plan.pod, scheduling_group=named)) for plan in planned.pods)
    return replace(planned, pods=tuple(pods))


def _volume_claims(tree: Tree, namespace: str) -> Iterator[PersistentVolumeClaim]:
    """The claims that a StatefulSet makes for each pod. Raises :class:`DecodeError`."""
    kind = find_kind("v1", "PersistentVolumeClaim")
    assert kind is not None  # noqa: S101
    for index, each in enumerate(list_at(mapping(tree.get("spec")), "volumeClaimTemplates")):
        body = mapping(each)
        meta = {**mapping(body.get("metadata")), "namespace": namespace}
        claim = _decoded({**body, "metadata": meta}, kind, f"spec.volumeClaimTemplates[{index}]")
        assert isinstance(claim, PersistentVolumeClaim)  # noqa: S101
        yield claim


def _decoded(body: Mapping[str, Any], kind: Kind, path: str) -> Record:
    whole = {**body, "apiVersion": kind.api_version, "kind": kind.name}
    found = decode_any(json.dumps(whole).encode(), kind.api_version, kind.name)
    if isinstance(found, BadObject):
        raise DecodeError(f"{path}: {found.error}")
    assert found is not None  # noqa: S101 - the kind is known
    return defaulted(found[1])


def _tree(data: bytes) -> Tree:
    return mapping(read_tree(in_utf8(data)))


def _texts(value: object) -> dict[str, str]:
    return {key: text for key, text in mapping(value).items() if isinstance(text, str)}
