"""What differs between the releases: which versions of resource.k8s.io their servers serve, and with which gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Release:
    """A minor: ``versions`` are those of resource.k8s.io to be switched on, ``gates`` go to all programs.

    ``others``: versions of other groups to be switched on, ``GROUP/VERSION``.
    """

    minor: str
    versions: tuple[str, ...]
    gates: Mapping[str, bool] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def runtime_config(self) -> str:
        """The value of the API server's ``--runtime-config``."""
        ours = (f"resource.k8s.io/{version}" for version in self.versions)
        return ",".join(f"{version}=true" for version in (*ours, *self.others))


_ON: Final = {"DynamicResourceAllocation": True}

#: The newest release, for which the product is written.
NEWEST: Final = Release("1.37", ("v1beta2", "v1beta1", "v1alpha3"))

#: The same with pods that are placed together, which is off by default.
GANGS: Final = Release(
    NEWEST.minor,
    NEWEST.versions,
    {"GenericWorkload": True, "DRAWorkloadResourceClaims": True, "TopologyAwareWorkloadScheduling": True},
    ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"),
)

#: Until 1.33 the whole API has to be switched on; up to 1.31 the scheduler also speaks with a driver's controller.
OLD: Final[Mapping[str, Release]] = {
    release.minor: release
    for release in (
        Release("1.30", ("v1alpha2",), _ON),
        Release("1.31", ("v1alpha3",), {**_ON, "DRAControlPlaneController": True}),
        Release("1.32", ("v1beta1", "v1alpha3"), _ON),
        Release(
            "1.33", ("v1beta2", "v1beta1", "v1alpha3"), {**_ON, "DRADeviceTaints": True, "DRAPrioritizedList": True}
        ),
        Release("1.34", ("v1", "v1beta2", "v1beta1", "v1alpha3"), {"DRADeviceTaints": True}),
    )
}
