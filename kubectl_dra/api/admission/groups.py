"""PodGroups. Upstream: pkg/apis/scheduling/validation, and the declarative rules of scheduling.k8s.io/v1beta1."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.admission import common
from kubectl_dra.api.admission.errors import Field
from kubectl_dra.model import names
from kubectl_dra.model.scheduling import PodGroup, PodGroupResourceClaim, TopologyConstraint

MAX_CLAIMS: Final = 4
MAX_TOPOLOGY: Final = 1
_LARGEST_PRIORITY: Final = 1_000_000_000


def pod_group(record: PodGroup, root: Field) -> None:
    common.metadata(record.metadata, True, root.at("metadata"))
    spec, field = record.spec, root.at("spec")
    if spec.workload_ref is not None:
        reference = field.at("workloadRef")
        _name(spec.workload_ref.workload_name, reference.at("workloadName"))
        _name(spec.workload_ref.template_name, reference.at("templateName"))
    policy, at = spec.scheduling_policy, field.at("schedulingPolicy")
    _one_of(at, {"basic": policy.basic, "gang": policy.gang})
    if policy.gang is not None:
        _min_count(policy.gang.min_count, at.at("gang", "minCount"))
    if spec.scheduling_constraints is not None:
        field.at("schedulingConstraints", "topology").items(
            spec.scheduling_constraints.topology, MAX_TOPOLOGY, _topology
        )
    claims = field.at("resourceClaims")
    claims.items(spec.resource_claims, MAX_CLAIMS, _claim)
    claims.unique(spec.resource_claims, MAX_CLAIMS, lambda each: each.name, lambda each: each)
    mode = spec.disruption_mode
    if mode is not None:
        _one_of(field.at("disruptionMode"), {"single": mode.single, "all": mode.all})
    if spec.priority is not None and spec.priority > _LARGEST_PRIORITY:
        field.at("priority").invalid(spec.priority, f"must be less than or equal to {_LARGEST_PRIORITY}")


def _one_of(field: Field, members: dict[str, object]) -> None:
    """Exactly one member of a union."""
    names = ", ".join(f"`{name}`" for name in members)
    present = [name for name, value in members.items() if value is not None]
    if not present:
        field.invalid("", f"must specify one of: {names}")
    elif len(present) > 1:
        field.invalid(f"{{{', '.join(present)}}}", f"must specify exactly one of: {names}")


def _min_count(count: int, field: Field) -> None:
    if not count:
        field.required()
    elif count < 0:
        field.invalid(count, "must be greater than or equal to 1")


def _topology(constraint: TopologyConstraint, field: Field) -> None:
    if not constraint.key:
        field.at("key").required()
    else:
        field.at("key").invalid_for_each(constraint.key, names.label_key(constraint.key))


def _claim(entry: PodGroupResourceClaim, field: Field) -> None:
    sources = {
        "resourceClaimName": entry.resource_claim_name,
        "resourceClaimTemplateName": entry.resource_claim_template_name,
    }
    _one_of(field, dict(sources))
    if not entry.name:
        field.at("name").required()
    else:
        field.at("name").invalid_for_each(entry.name, names.dns_label(entry.name))
    for name, value in sources.items():
        if value is not None:
            field.at(name).invalid_for_each(value, names.dns_subdomain(value))


def _name(text: str, field: Field) -> None:
    if not text:
        field.required()
    else:
        field.invalid_for_each(text, names.dns_subdomain(text))
