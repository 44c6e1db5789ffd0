"""Small clusters with PodGroups, and questions about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.gangs.groups import diagnose_group
from kubectl_dra.diagnosis.gangs.records import GroupDiagnosis
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import PodDiagnosis
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from tests.kit import build, facts
from tests.kit.state import state_of

GATES: Final = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
GROUP: Final = Key(build.NAMESPACE, "train")
Object = dict[str, Any]


def group(min_count: int | None = 2, name: str = "train", status: Object | None = None, **spec: Any) -> Object:
    """A PodGroup; without ``min_count`` it is no gang."""
    policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    metadata = {"name": name, "namespace": build.NAMESPACE, "uid": f"group-{name}", "resourceVersion": "50"}
    return {
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"schedulingPolicy": policy, **spec},
        "status": status or {},
    }


def member(number: int, *, of: str = "train", devices: int = 0, **fields: Any) -> list[Object]:
    """A pod of a group, with a claim of its own for some devices."""
    name = f"{of}-{number}"
    pod = build.pod(name, claims=[name] if devices else [], schedulingGroup={"podGroupName": of}, **fields)
    return [pod, build.claim(name, build.request(count=devices))] if devices else [pod]


def members(number: int, **fields: Any) -> list[Object]:
    """The pods 0 … ``number`` - 1 and their claims."""
    return [each for index in range(number) for each in member(index, **fields)]


def gpus(node: str, number: int, **allocatable: str) -> list[Object]:
    """A node with some devices."""
    return [build.node(node, **allocatable), build.slice_(node, *(build.device(f"gpu-{i}") for i in range(number)))]


def cluster(*objects: Object, withheld: tuple[str, ...] = (), minor: int = 37, **gates: bool) -> ClusterState:
    """A cluster with these objects and the class of all devices, in which groups are placed together."""
    wanted = {**GATES, **gates} if minor >= 37 else {}
    return state_of(
        facts.inventory([build.device_class(), *objects]), facts.evidence(*withheld), features(minor, wanted)
    )


_VERSIONS: Final = {
    **dict.fromkeys(("Event", "Namespace", "Node", "Pod"), "v1"),
    **dict.fromkeys(("PodGroup", "Workload"), "scheduling.k8s.io/v1beta1"),
    "CompositePodGroup": "scheduling.k8s.io/v1alpha3",
}


def as_file(path: Path, *objects: Object) -> str:
    """A file with these objects and the class of all devices; its name."""
    items = [
        {"apiVersion": _VERSIONS.get(o["kind"], "resource.k8s.io/v1"), **o} for o in (build.device_class(), *objects)
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    return str(path)


def of_pod(state: ClusterState, name: str) -> PodDiagnosis:
    """Why one pod is where it is."""
    return Diagnoser(state).pod(Key(build.NAMESPACE, name))


def of_group(state: ClusterState, name: str = "train") -> GroupDiagnosis:
    """Why one group is where it is."""
    return diagnose_group(Diagnoser(state), Key(build.NAMESPACE, name))
