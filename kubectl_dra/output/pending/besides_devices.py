"""What keeps a pod from starting on its node beside its devices: volumes and images, and what helps by the words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.records import Cause, ContainerWaits, KubeletText, VolumeHeld
from kubectl_dra.diagnosis.said.mounts import OF_VOLUMES
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed, plural, shortened
from kubectl_dra.reports.pending.pending import PendingReport

_DEVICES: Final = 4
#: Upstream: csi.proto, RESOURCE_EXHAUSTED of ControllerPublishVolume.
_NO_SLOTS: Final = re.compile(r"code = ResourceExhausted|attachment limit", re.IGNORECASE)
#: Upstream: client-go's errors.NewNotFound, by the kubelet's managers of Secrets and ConfigMaps.
_NO_OBJECT: Final = re.compile(r'\b(?P<kind>secret|configmap) "(?P<name>[^"]+)" not found')
_KINDS: Final = {"secret": "Secret", "configmap": "ConfigMap"}
#: Upstream: pkg/volume/csi (csi_drivers_store.go).
_NO_DRIVER: Final = re.compile(r"driver name (?P<name>\S+) not found in the list of registered CSI drivers")
#: Upstream: the kubelet's pkg/kubelet/images/types.go.
_IMAGE: Final = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError")
_IMAGE_NAME: Final = re.compile(r'image "(?P<name>[^"]+)"')
_NO_RIGHT: Final = re.compile(r"\b40[13]\b|unauthorized|forbidden|denied|authoriz|authentication", re.IGNORECASE)
_NO_IMAGE: Final = re.compile(r"not found|manifest unknown|name unknown|invalid reference|no match for", re.IGNORECASE)
_NO_NETWORK: Final = re.compile(
    r"no such host|i/o timeout|connection refused|deadline exceeded|x509|\btls\b", re.IGNORECASE
)


def is_of_devices(cause: Cause) -> bool:
    """Whether what keeps a pod on its node from starting may be about its devices: volumes and images are not."""
    match cause.detail:
        case KubeletText(reason=reason):
            return reason not in OF_VOLUMES
        case ContainerWaits(reason=reason):
            return reason not in _IMAGE
    return True


def kept_meanwhile(report: PendingReport) -> Iterator[Safe]:
    """That its devices are there, and that nobody else has them as long as it waits."""
    if report.devices:
        names = shortened([name.rpartition("/")[2] for name in report.devices], _DEVICES)
        yield from wrapped(fmt("Its devices are not what it waits for: it holds {} meanwhile.", names))


def held_sentence(held: VolumeHeld) -> Safe:
    """``volume pvc-7 (PersistentVolumeClaim data) is still attached to node-1, where pod old uses it``."""
    claim = fmt(" (PersistentVolumeClaim {})", held.claim) if held.claim else Safe("")
    if not held.users:
        return fmt("volume {}{} is still attached to another node", held.volume, claim)
    users, several = listed([each.name for each in held.users]), len(held.users) > 1
    text = "volume {}{} is still attached to {}, where {} {} {} it"
    verb = Safe("use" if several else "uses")
    return fmt(text, held.volume, claim, listed(held.nodes), Safe(plural("pod", len(held.users))), users, verb)


def mount_advice(said: KubeletText, node: str) -> Safe | None:
    """What helps with a volume; None where the words name no known cause."""
    held, driver, missing = said.held, _NO_DRIVER.search(said.text), _NO_OBJECT.search(said.text)
    if held is not None and held.users:
        text = (
            "The volume can be attached to one node at a time, so {} {} to end first. Where a Deployment replaces its "
            "pods, strategy Recreate ends the old pod before the new one starts."
        )
        return fmt(text, listed([each.name for each in held.users]), Safe("has" if len(held.users) == 1 else "have"))
    if held is not None:
        text = (
            "The attach-detach controller detaches it by itself, from a node that is not ready after 6 minutes. If it "
            "stays attached, the VolumeAttachment of {} and the log of the CSI driver's controller say why."
        )
        return fmt(text, held.volume)
    if _NO_SLOTS.search(said.text) is not None:
        text = (
            "{} attaches no more volumes: end a pod there that has one, or keep this one off the node. The scheduler "
            "goes by the CSINode of {} (spec.drivers, allocatable.count), which the driver writes: it may be outdated, "
            "or not count what the node has attached besides."
        )
        return fmt(text, node, node)
    if driver is not None:
        return fmt("CSI driver {} is not registered on {}: see that its pod runs there.", driver["name"], node)
    if missing is not None:
        text = "Create {} {} in the pod's namespace, or correct its name in the pod's volumes."
        return fmt(text, Safe(_KINDS[missing["kind"]]), missing["name"])
    return None


def waiting_for_image(waits: ContainerWaits) -> Safe:
    """`` for image NAME``, where the words of the container's state name it."""
    found = _IMAGE_NAME.search(waits.message) if waits.reason in _IMAGE else None
    return fmt(" for image {}", found["name"]) if found is not None else Safe("")


def image_advice(reason: str, words: str = "") -> Safe | None:
    """What helps where an image cannot be had; None where a container waits for something else."""
    if reason not in _IMAGE:
        return None
    if _NO_RIGHT.search(words):
        return Safe("The registry refuses: name a Secret that it accepts in imagePullSecrets of the pod's template.")
    if _NO_NETWORK.search(words):
        return Safe("The node does not reach the registry: check its name in the image, proxy and certificates.")
    if _NO_IMAGE.search(words):
        return Safe("Correct the name or tag of the image; a registry may also hide what needs a Secret to be read.")
    return Safe("Correct the name of the image, or give the pod the Secret that its registry needs.")
