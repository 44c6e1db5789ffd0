"""In which versions the servers of a release are spoken to, and which kinds a situation there leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_CORE: Final = {
    "Pod": "v1",
    "Node": "v1",
    "Event": "v1",
    "ResourceQuota": "v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
}
CLUSTER_SCOPED: Final = frozenset(
    {"DeviceClass", "ResourceClass", "ResourceSlice", "DeviceTaintRule", "Node", "StorageClass"}
)


@dataclass(frozen=True)
class Dialect:
    """``kinds`` are those of resource.k8s.io that situations create, in an order in which they can be deleted.

    ``others`` names the kinds that have another version than ``resource``. Up to 1.30 a pod's claims stood under
    ``source``: ``nested_claims``.
    """

    resource: str = "resource.k8s.io/v1"
    kinds: tuple[str, ...] = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass")
    others: Mapping[str, str] = field(default_factory=dict)
    nested_claims: bool = False

    def version(self, kind: str) -> str:
        """The ``apiVersion`` of a kind."""
        return _CORE.get(kind) or self.others.get(kind) or self.resource

    def manifest(self, body: Mapping[str, Any], namespace: str) -> dict[str, Any]:
        """An object whose ``apiVersion`` and namespace may have been left out, with both."""
        kind = body["kind"]
        where = {"namespace": namespace} if namespace and kind not in CLUSTER_SCOPED else {}
        return {"apiVersion": self.version(kind), **body, "metadata": {**body["metadata"], **where}}


_TAINT_RULES: Final = {"DeviceTaintRule": "resource.k8s.io/v1alpha3"}
_WITH_TAINT_RULES: Final = ("ResourceClaim", "ResourceClaimTemplate", "DeviceTaintRule", "ResourceSlice", "DeviceClass")

NEWEST: Final = Dialect(kinds=_WITH_TAINT_RULES)
#: By minor.
OLD: Final[Mapping[str, Dialect]] = {
    "1.30": Dialect(
        "resource.k8s.io/v1alpha2",
        (
            "ResourceClaim",
            "ResourceClaimTemplate",
            "PodSchedulingContext",
            "ResourceSlice",
            "ResourceClaimParameters",
            "ResourceClassParameters",
            "ResourceClass",
        ),
        nested_claims=True,
    ),
    "1.31": Dialect(
        "resource.k8s.io/v1alpha3",
        ("ResourceClaim", "ResourceClaimTemplate", "PodSchedulingContext", "ResourceSlice", "DeviceClass"),
    ),
    "1.32": Dialect("resource.k8s.io/v1beta1"),
    "1.33": Dialect("resource.k8s.io/v1beta2", _WITH_TAINT_RULES, _TAINT_RULES),
    "1.34": Dialect("resource.k8s.io/v1", _WITH_TAINT_RULES, _TAINT_RULES),
}
