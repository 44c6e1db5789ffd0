"""Grove's PodCliqueSets: how often each clique comes, and the claims that its pods share.

Upstream: ai-dynamo/grove, operator/api/core/v1alpha1/podcliqueset.go (cliques of a scaling group come once per replica
of the group) and internal/resourceclaim/reconcile.go (RCName, InjectResourceClaimRefs): ``resourceSharing`` of the set,
of a group and of a clique each names a template; one claim is made of it for all pods there, or for each replica. An
annotation of these three makes pods with GPUs members of a ComputeDomain (operator/internal/mnnvl, injection.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.compute_domains import channel_template
from kubectl_dra.api.workloads.templates import MAX_PODS, UNCOUNTED, MadeTemplate

_KIND: Final = "PodCliqueSet"
_TEMPLATE: Final = "spec.template"
#: Of more pieces with claims of their own nobody reads the answers.
MAX_PIECES: Final = 64
_ALL: Final = "AllReplicas"
_SHARING: Final = "resourceSharing"
#: The group of pods that have one ComputeDomain; the innermost one counts.
_FABRIC: Final = "grove.io/mnnvl-group"
_GPU: Final = "nvidia.com/gpu"
#: Versions whose claims look like those that Grove writes.
_V1: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2")


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim of a piece: ``name`` is that of the claim all of its pods share, or of a template for ``each`` pod.

    No ``template``: a channel of a ComputeDomain.
    """

    name: str
    template: str
    each: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """The pods of one clique in one replica of the set and of its group, with the claims that they share."""

    clique: str
    name: str
    claims: tuple[_Claim, ...]


def cliques(tree: Tree, kind: str, templates: Sequence[MadeTemplate]) -> Iterator[MadeTemplate]:
    """The templates with their numbers; those of cliques with shared claims in pieces that share the same."""
    times = {name: number for name, (_, number) in _groups(tree).items()} if kind == _KIND else {}
    by_clique: dict[str, list[_Piece]] = {}
    for piece in _pieces(tree) if kind == _KIND else ():
        by_clique.setdefault(piece.clique, []).append(piece)
    for each in templates:
        copies, factor = each.copies, times.get(each.role, 1)
        by = replace(each.counted_by, pods=each.counted_by.pods * factor)
        whole = each if copies is None else replace(each, copies=min(copies * factor, MAX_PODS), counted_by=by)
        pieces = by_clique.get(each.role, [])
        yield from _in_pieces(whole, pieces) if any(piece.claims for piece in pieces) else (whole,)


def sharing(tree: Tree) -> str:
    """Why the claims that its pods share are not known; empty where they are, or where they share none."""
    templates, claims = _templates(tree), list(_all_shared(tree))
    for each in claims:
        if text_at(each, "namespace") or text_at(each, "name") not in templates:
            what = f"ResourceClaimTemplate {text_at(each, 'name')}"
            where = "which is neither one of its own templates nor in the files"
            return f"its pods share claims that Grove makes of {what}, {where}"
    more = islice(_pieces(tree), MAX_PIECES, None) if claims else ()
    return "its pods share more claims than are tried" if any(True for _ in more) else ""


def with_foreign(tree: dict[str, Any], objects: Iterable[Tree], namespace: str) -> dict[str, Any]:
    """A set with the templates of other ``objects`` that its pods share claims of, as if they were its own.

    ``namespace``: of objects that name none. Upstream: internal/resourceclaim/resolve.go, ResolveTemplateSpec. The same
    tree where there are none.
    """
    if (group_of(tree.get("apiVersion")), tree.get("kind")) != ("grove.io", _KIND):
        return tree
    own = text_at(at(tree, "metadata"), "namespace") or namespace
    wanted = {text_at(each, "name"): text_at(each, "namespace") or own for each in _all_shared(tree)}
    wanted = {name: where for name, where in wanted.items() if name not in _templates(tree)}
    found = {}
    for each in objects if wanted else ():
        meta = at(each, "metadata")
        name, where = text_at(meta, "name"), text_at(meta, "namespace") or namespace
        if each.get("kind") == "ResourceClaimTemplate" and each.get("apiVersion") in _V1 and wanted.get(name) == where:
            found[name] = {"name": name, "templateSpec": mapping(each.get("spec"))}
    return _holding(tree, found) if found else tree


def _holding(tree: Tree, templates: Mapping[str, Tree]) -> dict[str, Any]:
    """A copy with more templates, which what shares them names without a namespace."""
    copied: dict[str, Any] = deepcopy(dict(tree))
    body = at(copied, _TEMPLATE)
    body["resourceClaimTemplates"] = [*list_at(body, "resourceClaimTemplates"), *templates.values()]
    for part in (body, *list_at(body, "podCliqueScalingGroups"), *list_at(body, "cliques")):
        for each in map(mapping, list_at(mapping(part), _SHARING)):
            if text_at(each, "name") in templates:
                each.pop("namespace", None)
    return copied


def shared_claims(tree: Tree) -> Iterator[dict[str, Any]]:
    """The claims that Grove makes, and a template for those of single pods."""
    if (group_of(tree.get("apiVersion")), tree.get("kind")) != ("grove.io", _KIND) or sharing(tree):
        return
    namespace = at(tree, "metadata").get("namespace")
    where = {"namespace": namespace} if isinstance(namespace, str) else {}
    templates = _templates(tree)
    for claim in dict.fromkeys(claim for piece in _pieces(tree) for claim in piece.claims):
        if not claim.template:
            yield channel_template(claim.name, where)
            continue
        spec = at(templates[claim.template], "templateSpec.spec")
        kind = "ResourceClaimTemplate" if claim.each else "ResourceClaim"
        body = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": claim.name, **where}}
        yield {**body, "spec": {"spec": spec} if claim.each else spec}


def asked_by(tree: Tree, made: Tree) -> str:
    """Which annotation of a set has Grove make something of it, in words behind its name; empty for all else."""
    fabrics = {claim.name for piece in _pieces(tree) for claim in piece.claims if not claim.template}
    template = (tree.get("kind"), made.get("kind")) == (_KIND, "ResourceClaimTemplate")
    if not template or text_at(at(made, "metadata"), "name") not in fabrics:
        return ""
    return f" for its annotation {_FABRIC} (the value none leaves it out)"


def _templates(tree: Tree) -> dict[str, Tree]:
    found = list_at(at(tree, _TEMPLATE), "resourceClaimTemplates")
    return {text_at(each, "name"): each for each in map(mapping, found) if text_at(each, "name")}


def _groups(tree: Tree) -> Mapping[str, tuple[Tree, int]]:
    """The scaling group of each clique that has one, and its replicas."""
    groups = [mapping(each) for each in list_at(at(tree, _TEMPLATE), "podCliqueScalingGroups")]
    return {
        name: (group, number_of(group.get("replicas"), 1))
        for group in groups
        for name in list_at(group, "cliqueNames")
        if isinstance(name, str)
    }


def _all_shared(tree: Tree) -> Iterator[Tree]:
    """What is shared in the set, in its groups and in its cliques."""
    template = at(tree, _TEMPLATE)
    for part in (template, *list_at(template, "podCliqueScalingGroups"), *list_at(template, "cliques")):
        yield from map(mapping, list_at(mapping(part), _SHARING))


def _pieces(tree: Tree) -> Iterator[_Piece]:
    """Those of a set whose pods get claims; others have none, however many replicas there are."""
    name, template = text_at(at(tree, "metadata"), "name"), at(tree, _TEMPLATE)
    groups, known = _groups(tree), _templates(tree)
    cliques = {text_at(mapping(each), "name"): mapping(each) for each in list_at(template, "cliques")}
    fabrics = {its: _fabric(tree, groups.get(its, ({}, 1))[0], clique) for its, clique in cliques.items()}
    if not (any(_all_shared(tree)) or any(fabrics.values())):
        return
    for its, clique in cliques.items():
        group, many = groups.get(its, ({}, 1))
        for replica in range(min(number_of(at(tree, "spec").get("replicas"), 1), MAX_PIECES + 1)):
            for index in range(min(many, MAX_PIECES + 1)):
                owner = f"{name}-{replica}-{text_at(group, 'name')}" if group else ""
                own = f"{owner}-{index}-{its}" if group else f"{name}-{replica}-{its}"
                claims = [
                    *_shared(template, name, replica, {its, text_at(group, "name")}),
                    *(_shared(group, owner, index, {its}) if group else ()),
                    *_shared(clique, own, None, None),
                ]
                claims = [each for each in claims if each.template in known]
                if fabrics[its]:
                    claims.append(_Claim(f"{name}-{replica}-{fabrics[its]}", "", each=True))
                yield _Piece(its, own.removeprefix(f"{name}-"), tuple(claims))


def _fabric(tree: Tree, group: Tree, clique: Tree) -> str:
    """The group of a clique with GPUs, by the innermost annotation; empty where there is none."""
    layers = (mapping(each.get("annotations")) for each in (clique, group, at(tree, "metadata")))
    said = next((str(each[_FABRIC]) for each in layers if _FABRIC in each), "none")
    spec = at(clique, "spec.podSpec")
    containers = [mapping(each) for name in ("containers", "initContainers") for each in list_at(spec, name)]
    amounts = [at(each, f"resources.{name}").get(_GPU) for each in containers for name in ("limits", "requests")]
    return said if said != "none" and any(str(each or "0") != "0" for each in amounts) else ""


def _shared(part: Tree, owner: str, replica: int | None, names: set[str] | None) -> Iterator[_Claim]:
    """What the pods of a piece share by one level; without a ``replica`` each pod is one."""
    for each in map(mapping, list_at(part, _SHARING)):
        only = mapping(each.get("filter"))
        wanted = [*list_at(only, "childCliqueNames"), *list_at(only, "childScalingGroupNames")]
        if wanted and names is not None and not any(name in wanted for name in names):
            continue
        template = text_at(each, "name")
        if each.get("scope") == _ALL:
            yield _Claim(f"{owner}-all-{template}", template)
        elif replica is not None:
            yield _Claim(f"{owner}-{replica}-{template}", template)
        else:
            yield _Claim(f"{owner}-{template}", template, each=True)


def _in_pieces(whole: MadeTemplate, pieces: Sequence[_Piece]) -> Iterator[MadeTemplate]:
    alike: dict[tuple[_Claim, ...], list[_Piece]] = {}
    for piece in pieces:
        alike.setdefault(piece.claims, []).append(piece)
    for claims, same in alike.items():
        body = _with_claims(whole.body, claims)
        if len(alike) == 1:
            yield replace(whole, body=body)
        else:
            copies = (whole.copies or 0) * len(same) // len(pieces)
            yield replace(whole, body=body, role=same[0].name, copies=copies, counted_by=UNCOUNTED)


def _with_claims(body: Tree, claims: Sequence[_Claim]) -> dict[str, Any]:
    spec = mapping(body.get("spec"))
    entries = [
        {"name": f"shared-{number}", ("resourceClaimTemplateName" if each.each else "resourceClaimName"): each.name}
        for number, each in enumerate(claims)
    ]
    named = [{"name": each["name"]} for each in entries]

    def using(containers: list[Any]) -> list[Any]:
        found = []
        for each in map(mapping, containers):
            resources = mapping(each.get("resources"))
            found.append({**each, "resources": {**resources, "claims": [*list_at(resources, "claims"), *named]}})
        return found

    fields = {name: using(list_at(spec, name)) for name in ("containers", "initContainers") if spec.get(name)}
    return {**body, "spec": {**spec, **fields, "resourceClaims": [*list_at(spec, "resourceClaims"), *entries]}}
