"""What ways out do about labels and workloads of pods, and about volumes: records beside those of ``records``."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Evidence, ObjectRef


class EditGroup(Evidence, frozen=True):
    """Another ``field`` of a PodGroup, which can be changed in place; ``waiting`` of its pods find no node then."""

    group: ObjectRef
    field: str
    before: str
    after: str
    waiting: int = 0


class RemoveLabel(Evidence, frozen=True):
    """Take a label off the pod, which can be done in place; ``workload`` gives it to the pods that it makes later."""

    pod: ObjectRef
    label: str
    value: str
    workload: ObjectRef | None = None


class LabelNamespace(Evidence, frozen=True):
    """Set a label on a namespace."""

    namespace: str
    label: str
    value: str


class LabelNode(Evidence, frozen=True):
    """Set a label that a node lacks; ``value`` is one with which the pod fits, and may not be true of the node."""

    node: str
    label: str
    value: str


class ScaleDown(Evidence, frozen=True):
    """Scale a workload from ``replicas`` to fewer; ``pods``: the first few that end, none where any of them may.

    ``frees``: the devices that these hold, and ``amounts`` what else lacks; ``failing``: why none of them runs.
    """

    workload: ObjectRef
    replicas: int
    pods: tuple[ObjectRef, ...]
    frees: tuple[str, ...] = ()
    failing: str = ""
    to: int = 0
    amounts: tuple[str, ...] = ()


class SetDeletionCost(Evidence, frozen=True):
    """Make a pod the first that goes when its ReplicaSet or Deployment is scaled down."""

    pod: ObjectRef


class ClearSelectedNode(Evidence, frozen=True):
    """Remove from a PersistentVolumeClaim that its volume is to be made for ``node``, so that any node is possible.

    ``gone``: that node does not exist, so that nobody is making the volume just now.
    """

    claim: ObjectRef
    node: str
    gone: bool = False


class WidenTopology(Evidence, frozen=True):
    """Another ``value`` for label ``key`` at ``field`` of a StorageClass, which can be changed in place."""

    storage_class: str
    field: str
    key: str
    value: str


class MoveVolume(Evidence, frozen=True):
    """A new claim of ``storage_class``, whose volume is made where the pod goes, in the place of the old one.

    ``volume``, whose data has to be copied, can't be reached from the nodes in question; empty where the claim has none
    yet. ``former``: the class that it had, if another; ``provisioner`` then makes volumes of the new one.
    ``size``: what the new claim requests, in place of ``former_size``; both empty for the same.
    Where none of the claims is made yet, ``template`` of ``workload`` is what they are made from for each of its pods.
    ``lost``: no node reaches the volume any more, so that its data cannot be copied.
    ``made_by``: the StatefulSet that has made this one, and makes those of other pods, from its own template.
    """

    claim: ObjectRef
    volume: str
    storage_class: str
    former: str = ""
    provisioner: str = ""
    template: str = ""
    workload: ObjectRef | None = None
    size: str = ""
    former_size: str = ""
    made_by: ObjectRef | None = None
    lost: bool = False


class AddVolume(Evidence, frozen=True):
    """A PersistentVolume more for ``claim``, of a class that provisions none: of ``size``, on one of ``nodes``.

    ``demands``: what else the claim wants it to have, such as ``label disk=fast`` or ``volumeMode Block``.
    """

    claim: ObjectRef
    storage_class: str
    size: str
    access_modes: tuple[str, ...]
    nodes: tuple[str, ...]
    demands: tuple[str, ...] = ()
