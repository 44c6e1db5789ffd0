"""Volumes of Kubernetes' own plugins of the past, seen as volumes of the CSI drivers that have replaced them.

Upstream: k8s.io/csi-translation-lib. Only what the scheduler reads of a translated volume: driver, handle, and the
topology that its node affinity asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_dra.model.storage import PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity
from kubectl_dra.model.volumes import AwsElasticBlockStore, AzureDisk, GcePersistentDisk, Volume

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
_MANY_ZONES: Final = "__"
_UNKNOWN: Final = "UNSPECIFIED"
_EBS: Final = re.compile(r"vol-[^/]*")
_MANAGED: Final = "managed"


class TranslationError(ValueError):
    """Raised for a volume that can't be one of the CSI driver; the text is the library's."""


class InTree(msgspec.Struct, frozen=True):
    """One plugin: the ``field`` of its source, its name, its CSI driver, and the driver's label for zones if any.

    ``migrated``: the scheduler counts and translates its volumes (upstream: isCSIMigrationOn).
    """

    field: str
    name: str
    driver: str
    zone_key: str = ""
    migrated: bool = True


_PLUGINS: Final = (
    InTree("gce_persistent_disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
    InTree("aws_elastic_block_store", "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"),
    InTree("cinder", "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"),
    InTree("azure_disk", "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    InTree("azure_file", "kubernetes.io/azure-file", "file.csi.azure.com", migrated=False),
    InTree("vsphere_volume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", migrated=False),
    InTree("portworx_volume", "kubernetes.io/portworx-volume", "pxd.portworx.com"),
)
_BY_NAME: Final = {plugin.name: plugin for plugin in _PLUGINS}


def plugin_of(source: Volume | PersistentVolumeSpec) -> InTree | None:
    """The plugin of an inline volume or of a PersistentVolume; None if it is none of them."""
    return next((plugin for plugin in _PLUGINS if getattr(source, plugin.field) is not None), None)


def plugin_named(provisioner: str) -> InTree | None:
    return _BY_NAME.get(provisioner)


def inline_handle(volume: Volume, plugin: InTree) -> str:
    """The driver's name for an inline volume. Raises :class:`TranslationError`."""
    source = getattr(volume, plugin.field)
    if isinstance(source, GcePersistentDisk):
        return f"projects/{_UNKNOWN}/zones/{_UNKNOWN}/disks/{source.pd_name}"
    return _handle(source)


def volume_handle(volume: PersistentVolume, plugin: InTree) -> str:
    """The driver's name for a PersistentVolume. Raises :class:`TranslationError`."""
    source = getattr(volume.spec, plugin.field)
    if not isinstance(source, GcePersistentDisk):
        return _handle(source)
    labels = volume.metadata.labels
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE, "")).split(_MANY_ZONES)
    if len(zones) > 1:
        return f"projects/{_UNKNOWN}/regions/{_gce_region(zones)}/disks/{source.pd_name}"
    return f"projects/{_UNKNOWN}/zones/{zones[0] or _UNKNOWN}/disks/{source.pd_name}"


def _handle(source: object) -> str:
    if isinstance(source, AwsElasticBlockStore):
        return _ebs_id(source.volume_id)
    if isinstance(source, AzureDisk):
        if source.kind is not None and source.kind.lower() != _MANAGED:
            raise TranslationError(f"kind({source.kind}) is not supported in csi migration")
        return source.disk_uri
    return str(getattr(source, "volume_id", ""))


def _ebs_id(text: str) -> str:
    if not text.startswith("aws://"):
        return text
    found = unquote(urlsplit(text).path).strip("/")
    if not _EBS.fullmatch(found):
        problem = f"Invalid format for AWS volume ({text})"
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return found


def _gce_region(zones: Iterable[str]) -> str:
    regions: set[str] = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            problem = f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            raise TranslationError(f"failed to get region from zones: {problem}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        problem = f"multiple or no regions gotten from zones, got: map[{found}]"
        raise TranslationError(f"failed to get region from zones: {problem}")
    return regions.pop()


# --- topology -------------------------------------------------------------------------------------------------------


def translated_affinity(volume: PersistentVolume, plugin: InTree) -> NodeSelector | None:
    """The nodes that reach the translated volume; None for all. Raises :class:`TranslationError`."""
    volume_handle(volume, plugin)
    affinity = volume.spec.node_affinity or VolumeNodeAffinity()
    terms = affinity.required.node_selector_terms if affinity.required is not None else ()
    if not plugin.zone_key:
        return affinity.required
    zone, region = _topology_labels(volume, terms)
    if any(_values(terms, zone)):
        terms = _renamed(terms, zone, plugin.zone_key)
    else:
        terms = _with_zones(terms, plugin.zone_key, volume.metadata.labels.get(zone, "").split(_MANY_ZONES))
    if region == BETA_REGION and any(_values(terms, region)):
        terms = _renamed(terms, region, REGION)
    return NodeSelector(terms) if terms or affinity.required is not None else None


def _topology_labels(volume: PersistentVolume, terms: tuple[NodeSelectorTerm, ...]) -> tuple[str, str]:
    """The labels for zone and region that this volume is written with."""
    keys = {requirement.key for term in terms for requirement in term.match_expressions}
    labels = volume.metadata.labels
    for known in (keys, labels):
        for zone, region in ((ZONE, REGION), (BETA_ZONE, BETA_REGION)):
            if zone in known:
                return zone, region
    return ZONE, REGION


def _values(terms: tuple[NodeSelectorTerm, ...], key: str) -> Iterator[bool]:
    return (bool(each.values) for term in terms for each in term.match_expressions if each.key == key)


def _renamed(terms: tuple[NodeSelectorTerm, ...], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    def rename(requirement: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return msgspec.structs.replace(requirement, key=new) if requirement.key == old else requirement

    return tuple(
        msgspec.structs.replace(term, match_expressions=tuple(map(rename, term.match_expressions))) for term in terms
    )


def _with_zones(terms: tuple[NodeSelectorTerm, ...], key: str, zones: Iterable[str]) -> tuple[NodeSelectorTerm, ...]:
    """Each term also asks for one of the zones; without any zone nothing is added."""
    found = tuple(sorted({zone.strip() for zone in zones} - {""}))
    if not found:
        return terms
    asked = NodeSelectorRequirement(key, "In", found)
    return tuple(
        msgspec.structs.replace(term, match_expressions=(*term.match_expressions, asked))
        for term in terms or (NodeSelectorTerm(),)
    )
