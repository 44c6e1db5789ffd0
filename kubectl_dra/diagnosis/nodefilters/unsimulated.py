"""What a pod asks of plugins that are not simulated: whether its devices are enough to run is open then.

Upstream: the PreFilter of each plugin, which skips pods that ask it nothing. What the configuration of a scheduler adds
(default constraints, plugins and extenders of its own) can't be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.nodefilters.repelled import NOBODY, Repelled
from kubectl_dra.diagnosis.records import OpenPlugin
from kubectl_dra.model.affinity import PodAffinity
from kubectl_dra.model.core import Pod
from kubectl_dra.model.volumes import Volume

_RESTART_ALL: Final = "RestartAllContainers"
_DO_NOT_SCHEDULE: Final = "DoNotSchedule"
# Sources that VolumeRestrictions compares with those of other pods on the node.
_EXCLUSIVE: Final = ("aws_elastic_block_store", "gce_persistent_disk", "iscsi", "rbd")
# Sources of which a CSI driver takes care, so that NodeVolumeLimits counts them.
_MIGRATED: Final = (
    "aws_elastic_block_store",
    "azure_disk",
    "azure_file",
    "cinder",
    "gce_persistent_disk",
    "portworx_volume",
    "vsphere_volume",
)


def open_plugins(pod: Pod, away: Repelled = NOBODY) -> tuple[OpenPlugin, ...]:
    """The plugins that decide about something in the pod's spec, in their order, with the fields that they look at.

    Of ``away`` counts what could not be decided about the anti-affinity of pods that are there.
    """
    found: dict[str, dict[str, None]] = {}
    unsure = (("InterPodAffinity", "metadata.namespace") for _ in away.unsure)
    for plugin, field in (*_volumes(pod), *_other_pods(pod), *unsure, *_features(pod), *_gang(pod)):
        found.setdefault(plugin, {})[field] = None
    return tuple(OpenPlugin(plugin, tuple(fields)) for plugin, fields in found.items())


_Question = tuple[str, str]


def _volumes(pod: Pod) -> Iterator[_Question]:
    for plugin in ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"):
        for volume in pod.spec.volumes:
            if plugin in _plugins_of(volume):
                yield plugin, f"spec.volumes[{volume.name}]"


def _plugins_of(volume: Volume) -> frozenset[str]:
    """PersistentVolumeClaims concern all plugins of volumes, but VolumeZone does not look at ephemeral ones."""
    if volume.persistent_volume_claim is not None:
        return frozenset({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"})
    if volume.ephemeral is not None:
        return frozenset({"NodeVolumeLimits", "VolumeBinding"})
    plugins = {"VolumeRestrictions"} if _has(volume, _EXCLUSIVE) else set()
    return frozenset(plugins | {"NodeVolumeLimits"} if _has(volume, _MIGRATED) else plugins)


def _has(volume: Volume, sources: tuple[str, ...]) -> bool:
    return any(getattr(volume, source) is not None for source in sources)


def _other_pods(pod: Pod) -> Iterator[_Question]:
    for constraint in pod.spec.topology_spread_constraints:
        if constraint.when_unsatisfiable == _DO_NOT_SCHEDULE:
            yield "PodTopologySpread", f"spec.topologySpreadConstraints[{constraint.topology_key}]"
    affinity = pod.spec.affinity
    if affinity is not None and _is_required(affinity.pod_affinity):
        yield "InterPodAffinity", "spec.affinity.podAffinity"
    if affinity is not None and _is_required(affinity.pod_anti_affinity):
        yield "InterPodAffinity", "spec.affinity.podAntiAffinity"


def _is_required(affinity: PodAffinity | None) -> bool:
    return affinity is not None and bool(affinity.required_during_scheduling_ignored_during_execution)


def _features(pod: Pod) -> Iterator[_Question]:
    """What only nodes can run that declare so."""
    plugin = "NodeDeclaredFeatures"
    if pod.spec.host_network and pod.spec.host_users is False:
        yield plugin, "spec.hostUsers"
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    if any(rule.action == _RESTART_ALL for each in containers for rule in each.restart_policy_rules):
        yield plugin, "spec.containers[].restartPolicyRules"
    if any(mount.bind_mount_options for each in containers for mount in each.volume_mounts):
        yield plugin, "spec.containers[].volumeMounts[].bindMountOptions"


def _gang(pod: Pod) -> Iterator[_Question]:
    if pod.spec.scheduling_group is not None:
        yield "GangScheduling", "spec.schedulingGroup"
