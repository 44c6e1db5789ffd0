"""Evidence about nodes: what plugins beside DynamicResources say of them."""

from __future__ import annotations

from kubectl_dra.diagnosis.records.objects import Evidence, ObjectRef
from kubectl_dra.model.base import ReportRecord


class NodeTaint(Evidence, frozen=True):
    """A taint of nodes that the pod does not tolerate."""

    taint: str


def tells_of_node(taint: str) -> bool:
    """Whether Kubernetes set the taint for the state of the node, so that no pod for devices should tolerate it.

    Upstream: staging/src/k8s.io/api/core/v1/well_known_taints.go.
    """
    return taint.startswith(("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"))


class LabelOnNodes(ReportRecord, frozen=True):
    """The values that the nodes of the cluster have for a label; none where no node has it.

    ``similar``: labels (``KEY=VALUE``) that some node has and that may be meant. ``wish``: what asks for the label, as
    it stands in :class:`NodeSelection`.
    """

    label: str
    values: tuple[str, ...]
    similar: tuple[str, ...] = ()
    wish: str = ""


class NodeSelection(Evidence, frozen=True):
    """What of the pod's node selector or affinity does not match.

    ``nowhere``: the labels of its node selector or affinity that no node of the cluster has with a value that will do.
    """

    unmatched: tuple[str, ...] = ()
    nowhere: tuple[LabelOnNodes, ...] = ()


class NodeShortage(Evidence, frozen=True):
    """A resource that nodes lack; amounts of the node that is closest, in milli-cores or base units.

    ``users``: of an extended resource of a single node the pods that have it (``NAMESPACE/NAME``), the largest first.
    """

    resource: str
    requested: int
    used: int
    allocatable: int
    node: str
    users: tuple[str, ...] = ()


class TakenPorts(Evidence, frozen=True):
    """Host ports that are taken, ``IP:PORT/PROTOCOL``."""

    ports: tuple[str, ...]


class KeptAway(Evidence, frozen=True):
    """Pods on nodes keep others away by required anti-affinity: the topology keys by which they do."""

    topology_keys: tuple[str, ...]


class VolumeTrouble(Evidence, frozen=True):
    """A volume of the pod that is in the way; ``reason`` is one of the scheduler's ``VolumeReason``.

    ``entry``: the volume's name in the pod; ``volume``: the PersistentVolume; ``about``: the class, driver, disk or
    node that matters; ``wanted``: what a node would have to be; ``users``: pods (``NAMESPACE/NAME``) that use the
    volume. ``used``, ``asked`` and ``limit`` count volumes or, for ``noSpace``, bytes.
    """

    reason: str
    entry: str = ""
    claim: ObjectRef | None = None
    volume: str = ""
    about: str = ""
    wanted: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    used: int = 0
    asked: int = 0
    limit: int = 0


class Spread(Evidence, frozen=True):
    """A topology spread constraint of the pod that a node does not meet.

    ``selector``: the pods that are counted. ``value``: the node's own for the key, empty if it lacks the label; then
    the numbers are 0. ``pods`` are there already, ``fewest`` in the emptiest domain. ``min_domains``: as many domains
    there have to be, and there are only ``domains``, so that the emptiest counts as one without pods; both 0 else.
    """

    topology_key: str
    selector: str = ""
    value: str = ""
    pods: int = 0
    fewest: int = 0
    max_skew: int = 0
    min_domains: int = 0
    domains: int = 0


class Company(Evidence, frozen=True):
    """A required term about other pods that a node does not meet; ``selector``: which pods it is about.

    ``nodes``: of those that the pod wants beside it, where the first few of them run.
    """

    topology_key: str
    selector: str = ""
    nodes: tuple[str, ...] = ()


class MissingFeatures(Evidence, frozen=True):
    """Features that a node would have to declare in ``status.declaredFeatures``."""

    features: tuple[str, ...]


class OpenPlugin(ReportRecord, frozen=True):
    """A plugin of the scheduler that is not simulated here, and the fields of the pod that it decides about."""

    plugin: str
    fields: tuple[str, ...] = ()


class OpenPlugins(Evidence, frozen=True):
    """What is left open although the devices would be there."""

    plugins: tuple[OpenPlugin, ...]


class PluginText(Evidence, frozen=True):
    """What the scheduler said of a plugin that is not simulated here."""

    plugin: str
    text: str
