"""Pods and their owners, read one by one: where the API has them, for built-in kinds and well-known CRDs."""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.api.decode import DecodeError
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.kinds import WORKLOADS
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject

_FOREIGN: Final = {
    ("jobset.x-k8s.io", "JobSet"): "jobsets",
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "leaderworkersets",
    ("kubeflow.org", "MPIJob"): "mpijobs",
    ("ray.io", "RayCluster"): "rayclusters",
}
#: Plurals by group and kind; an owner reference names the version.
_PLURALS: Final = {
    ("", "Pod"): "pods",
    **{(kind.group, kind.name): kind.plural for kind in WORKLOADS},
    **_FOREIGN,
}
_decoder: Final = make_decoder(WorkloadObject, numbers_as_text=True)


def plural_of(api_version: str, kind: str) -> str:
    """The plural of a kind of owners; empty where it is none whose templates are known."""
    return _PLURALS.get((api_version.rpartition("/")[0], kind), "")


def is_foreign(api_version: str, kind: str) -> bool:
    """Whether it is a kind of owners that is read one by one only: no list of them is ever asked for."""
    return (api_version.rpartition("/")[0], kind) in _FOREIGN


def resource_of(kind: str) -> str:
    """``plural.group`` by the name of a kind of owners, as kubectl takes it; empty where it is not known."""
    found = next((key for key in _PLURALS if key[1] == kind), None)
    return "" if found is None else ".".join(filter(None, (_PLURALS[found], found[0])))


def decode_owner(data: bytes, reference: OwnerReference) -> WorkloadObject:
    """One owner. Raises :class:`~kubectl_dra.api.decode.DecodeError`."""
    try:
        found = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise DecodeError(str(error)) from error
    assert isinstance(found, WorkloadObject)  # noqa: S101 - the decoder's type
    return msgspec.structs.replace(found, api_version=reference.api_version, kind=reference.kind)
