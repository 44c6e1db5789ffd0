"""DeviceClasses that public drivers come with: whose they are, and what they select.

Facts of November 2026 from the charts and manifests of the projects. They only tell what a class would be that a
cluster does not have.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NVIDIA: Final = "NVIDIA's DRA driver (Helm chart dra-driver-nvidia-gpu)"
_INTEL: Final = "Intel's resource drivers (Helm chart intel-{}-resource-driver)"


class PublicClass(NamedTuple):
    """A class as the chart of ``project`` makes it; ``setting``: what the chart has to be told for that."""

    project: str
    driver: str
    selector: str
    setting: str = ""


def _nvidia(driver: str, kind: str, more: str = "") -> PublicClass:
    selector = f'device.driver == "{driver}" && device.attributes["{driver}"].type == "{kind}"{more}'
    setting = "" if driver.startswith("compute-domain") else "gpuResourcesEnabledOverride=true"
    return PublicClass(_NVIDIA, driver, selector, setting)


def _whole(project: str, driver: str) -> PublicClass:
    return PublicClass(project, driver, f'device.driver == "{driver}"')


def _classes() -> Iterator[tuple[str, PublicClass]]:
    for name, kind in (("gpu.nvidia.com", "gpu"), ("mig.nvidia.com", "mig"), ("vfio.gpu.nvidia.com", "vfio")):
        yield name, _nvidia("gpu.nvidia.com", kind)
    domain = "compute-domain.nvidia.com"
    yield "compute-domain-daemon.nvidia.com", _nvidia(domain, "daemon")
    first = f' && device.attributes["{domain}"].id == 0'
    yield "compute-domain-default-channel.nvidia.com", _nvidia(domain, "channel", first)
    yield "gpu.amd.com", _whole("AMD's DRA driver (ROCm/k8s-gpu-dra-driver)", "gpu.amd.com")
    for chart in ("gpu", "gaudi", "qat"):
        yield f"{chart}.intel.com", _whole(_INTEL.format(chart), f"{chart}.intel.com")
    yield "gpu-vfio.intel.com", _whole(_INTEL.format("gpu"), "gpu.intel.com")
    yield "tpu.google.com", _whole("Google's DRA driver for TPUs (Helm chart dra-driver-google-tpu)", "tpu.google.com")
    name = "sriovnetwork.k8snetworkplumbingwg.io"
    yield name, _whole("the SR-IOV DRA driver (Helm chart dra-driver-sriov)", name)
    yield "dra.cpu", _whole("the DRA driver for CPUs (kubernetes-sigs/dra-driver-cpu)", "dra.cpu")


#: By the name of the class.
PUBLIC_CLASSES: Final[Mapping[str, PublicClass]] = MappingProxyType(dict(_classes()))
