"""metav1: ObjectMeta, owner references, conditions, label and node selectors as records."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import field

from kubectl_dra.model.base import Record


class OwnerReference(Record, frozen=True):
    """``metadata.ownerReferences[]``."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ManagedFields(Record, frozen=True):
    """``metadata.managedFields[]``: who wrote last, when, and where (``status`` or all else, which is empty).

    What was written is not kept.
    """

    time: str | None = None
    manager: str = ""
    subresource: str = ""


class ObjectMeta(Record, frozen=True):
    """``metadata``; times are the exact RFC 3339 texts."""

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: tuple[ManagedFields, ...] = ()

    @property
    def revision(self) -> int | None:
        """The resource version of an API server, which only grows; None if it is not a number."""
        return int(self.resource_version) if self.resource_version.isdecimal() else None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner reference with ``controller: true``. Upstream: metav1.GetControllerOf."""
        for owner in self.owner_references:  # a generator for each of 100,000 pods costs more than all the rest
            if owner.controller:
                return owner
        return None


class Condition(Record, frozen=True):
    """A metav1 or core condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class NodeSelectorRequirement(Record, frozen=True):
    """``{key, operator, values}`` of a node selector term."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Record, frozen=True):
    """A term: all its requirements hold."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Record, frozen=True):
    """``nodeSelectorTerms``: any of the terms holds."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class LabelSelector(Record, frozen=True):
    """A metav1 selector of labels: all its parts hold; without any part it matches everything."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()


class LocalObject(Record, frozen=True):
    """An object of which only identity matters (Namespace, workloads)."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


def is_true(conditions: Iterable[Condition], type_: str) -> bool:
    """Whether a condition of the type is there, and true."""
    return any(each.type == type_ and each.status == "True" for each in conditions)
