"""Evidence about nodes: what plugins beside DynamicResources say of them."""

from __future__ import annotations

from kubectl_dra.diagnosis.records.objects import Evidence, ObjectRef
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.model.taint_text import remover_of, removes_node


class NodeTaint(Evidence, frozen=True):
    """A taint of nodes that the pod does not tolerate."""

    taint: str


def key_of_taint(taint: str) -> str:
    """The key of ``KEY[=VALUE]:EFFECT``."""
    return taint.partition(":")[0].partition("=")[0]


def tells_of_node(taint: str) -> bool:
    """Whether the taint says that the node is not ready, or goes, so that no pod for devices should tolerate it."""
    key = key_of_taint(taint)
    return remover_of(key) is not None or bool(removes_node(key))


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
    ``by_runtime``: those of ``unmatched`` that the pod's RuntimeClass sets, ``runtime_class``.
    """

    unmatched: tuple[str, ...] = ()
    nowhere: tuple[LabelOnNodes, ...] = ()
    by_runtime: tuple[str, ...] = ()
    runtime_class: str = ""


class AddedRequest(ReportRecord, frozen=True):
    """What admission put into a pod: ``amount`` by a LimitRange, RuntimeClass or VerticalPodAutoscaler (``kind``).

    ``name`` empty: one that is not known. ``container``: whose request it is; with a LimitRange it has none itself.
    """

    kind: str
    name: str
    amount: int
    container: str = ""


class LargestRequest(ReportRecord, frozen=True):
    """Where most of a sum is requested: the pod's own ``spec.resources``, or one of ``containers``, ``initContainers``.

    ``container``: its name in that list. ``amount``: what it requests, in milli-cores or base units.
    """

    field: str
    container: str
    amount: int


class NodeShortage(Evidence, frozen=True):
    """A resource that nodes lack; amounts of the node that is closest, in milli-cores or base units.

    ``others_less``: other nodes of the same outcome have less than this one.
    ``by``: of a single node who has the most. ``taken``: pods that got the nodes in the same answer, as others of
    its group or of the same files, without which none of the nodes would lack it. ``added``: what of it admission
    put into the pod. ``largest``: where most of it is requested, unless the pod's only container does.
    """

    resource: str
    requested: int
    used: int
    allocatable: int
    node: str
    by: tuple[PodsThere, ...] = ()
    taken: tuple[ObjectRef, ...] = ()
    others_less: bool = False
    added: tuple[AddedRequest, ...] = ()
    largest: LargestRequest | None = None


class PodsThere(ReportRecord, frozen=True):
    """Pods on nodes that have what is missing, or are in the way: all of one owner, or one that has none.

    ``pods``: the first few of ``count``, by name; ``nodes``: where all of them are. ``owner`` is the topmost controller
    that is known; ``own``: it is also that of the pod that waits. ``amount``: how much of what is missing they have.
    ``ending`` of them are being deleted; ``coming`` have no node yet, and are nominated for it. ``resizing``: so much
    of the amount they do not have yet: it counts for a resize that their node has no room for.
    """

    pods: tuple[ObjectRef, ...]
    count: int
    nodes: tuple[str, ...]
    owner: ObjectRef | None = None
    own: bool = False
    amount: int = 0
    ending: int = 0
    coming: int = 0
    resizing: int = 0


class TakenPorts(Evidence, frozen=True):
    """Host ports that are taken, ``IP:PORT/PROTOCOL``, and by whom, where that is known."""

    ports: tuple[str, ...]
    by: tuple[PodsThere, ...] = ()


class RepellingTerm(ReportRecord, frozen=True):
    """A required anti-affinity term that is about the pod: whose it is, and the ``labels`` of the pod that it names.

    ``selector`` is empty where it is about every pod of the namespaces.
    """

    topology_key: str
    selector: str
    labels: tuple[str, ...]
    by: tuple[PodsThere, ...]


class KeptAway(Evidence, frozen=True):
    """Pods on nodes keep others away by required anti-affinity: the topology keys by which they do.

    ``terms``: by which of their terms; empty where the nodes are too many to tell.
    """

    topology_keys: tuple[str, ...]
    terms: tuple[RepellingTerm, ...] = ()


class VolumeTrouble(Evidence, frozen=True):
    """A volume of the pod that is in the way; ``reason`` is one of the scheduler's ``VolumeReason``.

    ``entry``: the volume's name in the pod; ``volume``: the PersistentVolume; ``about``: the class, driver, disk or
    node that matters; ``wanted``: what a node would have to be; ``users``: pods (``NAMESPACE/NAME``) that use the
    volume. ``used``, ``asked`` and ``limit`` count volumes or, for ``noSpace``, bytes. ``by``: whose
    volumes count, with their numbers, for ``tooMany``. ``gone``: the node that matters does not exist, or none that can
    reach the volume.
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
    by: tuple[PodsThere, ...] = ()
    gone: bool = False


class Spread(Evidence, frozen=True):
    """A topology spread constraint of the pod that a node does not meet.

    ``selector``: the pods that are counted. ``value``: the node's own for the key, empty if it lacks the label; then
    the numbers are 0. ``pods`` are there already, ``fewest`` in the emptiest domain. ``min_domains``: as many domains
    there have to be, and there are only ``domains``, so that the emptiest counts as one without pods; both 0 else.
    ``by``: the pods that are there already, where they are told.
    """

    topology_key: str
    selector: str = ""
    value: str = ""
    pods: int = 0
    fewest: int = 0
    max_skew: int = 0
    min_domains: int = 0
    domains: int = 0
    by: tuple[PodsThere, ...] = ()


class Company(Evidence, frozen=True):
    """A required term about other pods that a node does not meet; ``selector``: which pods it is about.

    ``nodes``: of those that the pod wants beside it, where the first few of them run. ``by``: those that it must not
    have beside it. ``waiting``: the first few of the wanted ones that have no node themselves; ``nobody``: there is
    none of them at all.
    """

    topology_key: str
    selector: str = ""
    nodes: tuple[str, ...] = ()
    by: tuple[PodsThere, ...] = ()
    waiting: tuple[ObjectRef, ...] = ()
    nobody: bool = False


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
