"""Objects that findings name, what could not be read of them, and the base of all evidence."""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import ConsumerReference, ResourceClaim

_CONSUMERS: Final = {"pods": "Pod", "podgroups": "PodGroup"}


class Evidence(ReportRecord, frozen=True, tag_field="type", tag=True):
    """Base of the kinds of evidence, told apart by ``type``."""


class ObjectRef(ReportRecord, frozen=True):
    """An object; the namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str = ""
    name: str = ""

    @staticmethod
    def of(kind: str, key: Key) -> ObjectRef:
        return ObjectRef(kind, key.namespace, key.name)

    @staticmethod
    def of_claim(claim: ResourceClaim) -> ObjectRef:
        return ObjectRef("ResourceClaim", claim.metadata.namespace, claim.metadata.name)

    @staticmethod
    def of_consumer(namespace: str, consumer: ConsumerReference) -> ObjectRef:
        """What a claim of ``namespace`` is reserved for; a resource that claims are made for as its kind."""
        return ObjectRef(_CONSUMERS.get(consumer.resource, consumer.resource), namespace, consumer.name)

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)


class RbacRule(ReportRecord, frozen=True):
    """A rule of a Role or ClusterRole; ``namespace`` is empty where a ClusterRole is needed.

    ``verbs`` has no default, so that JSON always says them.
    """

    api_group: str
    resource: str
    verbs: tuple[str, ...]
    namespace: str = ""


class Missing(ReportRecord, frozen=True):
    """Something that could not be read: the kind, why, and the right that would give it.

    ``read_in``: the namespaces in which it was read, where it is wanted of the whole cluster. ``user``: who was
    refused, where the server said so; ``reason``: what its authorizer added, such as the permission of a cloud.
    """

    kind: str
    coverage: str
    rule: RbacRule
    namespace: str = ""
    decides: bool = True
    read_in: tuple[str, ...] = ()
    user: str = ""
    reason: str = ""
