"""What runs beside a control plane in place of kubelets: kwok, which takes pods to Running, and upstream's test driver.

Neither needs a container. kwok's stages are our own: pods run as soon as they are bound, and end when they are deleted.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.controlplane.cluster import ControlPlane
from tests.controlplane.process import Process
from tests.gobuild import GoModule, build

_FOLDER: Final = Path(__file__).parent
KWOK: Final = GoModule("kwok", _FOLDER / "kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"})
DRIVER: Final = GoModule(
    "dra-test-driver", _FOLDER / "driver", {"dra-test-driver": "k8s.io/kubernetes/test/e2e/dra/test-driver"}
)
#: The name under which the test driver publishes.
DRIVER_NAME: Final = "test-driver.cdi.k8s.io"
_RUNNING: Final = """
{{ $now := Now }}
conditions:
{{ range $type := list "Initialized" "Ready" "ContainersReady" }}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: {{ $type | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
"""


_READY: Final = """
conditions:
- {lastTransitionTime: {{ Now | Quote }}, status: "True", type: Ready, reason: KubeletReady, message: by kwok}
"""


def _stage(
    name: str, conditions: list[tuple[str, str, list[str]]], then: dict[str, Any], kind: str = "Pod"
) -> dict[str, Any]:
    selector = [
        {"key": key, "operator": operator, **({"values": values} if values else {})}
        for key, operator, values in conditions
    ]
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": selector},
            "next": then,
        },
    }


_STAGES: Final = (
    # Without a stage for nodes kwok looks after no pods either.
    _stage(
        "node-ready",
        [('.status.conditions.[] | select( .type == "Ready" ) | .status', "NotIn", ["True"])],
        {"statusTemplate": _READY},
        kind="Node",
    ),
    _stage(
        "pod-runs",
        [(".metadata.deletionTimestamp", "DoesNotExist", []), (".status.phase", "In", ["Pending"])],
        {"statusTemplate": _RUNNING},
    ),
    # As with a kubelet, a pod has failed or succeeded before it is gone: its Job waits for that.
    _stage(
        "pod-stops",
        [(".metadata.deletionTimestamp", "Exists", []), (".status.phase", "In", ["Pending", "Running"])],
        {"statusTemplate": "phase: Failed"},
    ),
    _stage(
        "pod-ends",
        [(".metadata.deletionTimestamp", "Exists", []), (".status.phase", "In", ["Failed", "Succeeded"])],
        {"delete": True},
    ),
)


def run_kwok(plane: ControlPlane) -> None:
    """Start kwok beside a control plane; it ends with it."""
    program = build(KWOK) / "kwok"
    stages = plane.folder / "stages.yaml"
    stages.write_text("\n---\n".join(json.dumps(stage) for stage in _STAGES), encoding="utf-8")
    flags = {
        "kubeconfig": str(plane.kubeconfig()),
        "manage-all-nodes": "true",
        "cidr": "10.9.0.0/24",
        "node-ip": "10.9.0.1",
        "server-address": "127.0.0.1:0",
        "config": str(stages),
    }
    plane.run(program, [f"--{name}={value}" for name, value in flags.items()])


def run_driver(plane: ControlPlane, node: str, devices: int) -> Process:
    """Start upstream's driver for one node, where it publishes ``devices``."""
    program = build(DRIVER) / "dra-test-driver"
    folder = plane.folder / f"driver-{node}"
    for name in ("reg", f"plugins/{DRIVER_NAME}", "cdi"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    flags = [
        "kubelet-plugin",
        f"--kubeconfig={plane.kubeconfig()}",
        f"--node-name={node}",
        f"--num-devices={devices}",
        f"--plugin-registration-path={folder / 'reg'}",
        f"--datadir={folder / 'plugins'}",
        f"--cdi-dir={folder / 'cdi'}",
    ]
    return plane.run(program, flags, f"dra-test-driver-{node}")
