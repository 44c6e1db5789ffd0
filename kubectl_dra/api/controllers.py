"""Pods and their owners, read one by one: where the API has them, for built-in kinds and well-known CRDs."""

from __future__ import annotations

from typing import Final

import msgspec

from kubectl_dra.api.decode import DecodeError
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.kinds import WORKLOADS, Kind
from kubectl_dra.api.replication_controllers import KIND as REPLICATION_CONTROLLER
from kubectl_dra.api.replication_controllers import ReplicationController, to_record
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.model.workloads import WorkloadObject


def _maker(name: str, group: str, *short: str) -> Kind:
    lowered = name.lower()
    return Kind(name, group, (), f"{lowered}s", lowered, short, True, WorkloadObject, workload=True)


_TRAINER: Final = "trainer.kubeflow.org"
#: Kinds of other projects that make pods and are asked for by name. Each server is asked which version it has.
MAKERS: Final = (
    _maker("JobSet", "jobset.x-k8s.io"),
    _maker("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "lws"),
    _maker("DisaggregatedSet", "disaggregatedset.x-k8s.io"),
    *(_maker(f"{each}Job", "kubeflow.org") for each in ("MPI", "PyTorch", "TF", "XGBoost", "Paddle", "JAX", "MX")),
    _maker("TrainJob", _TRAINER),
    *(_maker(f"Ray{each}", "ray.io") for each in ("Cluster", "Job", "CronJob", "Service")),
    _maker("PodCliqueSet", "grove.io", "pcs"),
    _maker("Rollout", "argoproj.io"),
)
#: Those that make other makers, not pods: one of these has to be read to see whose its pods are.
INDIRECT: Final = frozenset({"TrainJob", "RayJob", "RayCronJob", "RayService"})
#: Those whose templates, pod by pod, are where :class:`WorkloadObject` says.
_FOREIGN: Final = {
    (kind.group, kind.name): kind.plural
    for kind in MAKERS
    if kind.name in ("JobSet", "LeaderWorkerSet", "MPIJob", "RayCluster")
}
_MAKERS: Final = frozenset((kind.group, kind.name) for kind in MAKERS)
#: What says what the pods of a TrainJob look like.
RUNTIMES: Final = frozenset((_TRAINER, name) for name in ("ClusterTrainingRuntime", "TrainingRuntime"))
#: Plurals by group and kind; an owner reference names the version.
_PLURALS: Final = {
    ("", "Pod"): "pods",
    **{(kind.group, kind.name): kind.plural for kind in WORKLOADS},
    **_FOREIGN,
}
_decoder: Final = make_decoder(WorkloadObject, numbers_as_text=True)
_plain_decoder: Final = make_decoder(ReplicationController, numbers_as_text=True)


def plural_of(api_version: str, kind: str) -> str:
    """The plural of a kind of owners; empty where it is none whose templates are known."""
    return _PLURALS.get((api_version.rpartition("/")[0], kind), "")


def is_foreign(api_version: str, kind: str) -> bool:
    """Whether it is a kind of owners that is read one by one only: no list of them is ever asked for."""
    return (api_version.rpartition("/")[0], kind) in _FOREIGN


def is_maker(api_version: str, kind: str) -> bool:
    """Whether it is a kind that is asked for by name, or says what the pods of one look like."""
    return (api_version.rpartition("/")[0], kind) in _MAKERS | RUNTIMES


def resource_of(kind: str) -> str:
    """``plural.group`` by the name of a kind of owners, as kubectl takes it; empty where it is not known."""
    found = next((key for key in _PLURALS if key[1] == kind), None)
    return "" if found is None else ".".join(filter(None, (_PLURALS[found], found[0])))


def decode_owner(data: bytes, reference: OwnerReference) -> WorkloadObject:
    """One owner. Raises :class:`~kubectl_dra.api.decode.DecodeError`."""
    try:
        plain = reference.kind == REPLICATION_CONTROLLER
        found = to_record(_plain_decoder.decode(data)) if plain else _decoder.decode(data)
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    assert isinstance(found, WorkloadObject)  # noqa: S101 - the decoder's type
    return msgspec.structs.replace(found, api_version=reference.api_version, kind=reference.kind)
