"""What is done about volumes that are made, or can be reached, elsewhere than the devices: what ways out say of it."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Evidence, ObjectRef


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
    yet. ``former``: the class that it had, if another; ``provisioner`` then makes volumes of the new one. Where none of
    the claims is made yet, ``template`` of ``workload`` is what they are made from for each of its pods.
    """

    claim: ObjectRef
    volume: str
    storage_class: str
    former: str = ""
    provisioner: str = ""
    template: str = ""
    workload: ObjectRef | None = None
