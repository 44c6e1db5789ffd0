"""Controllers of other API groups beside a control plane: JobSet, LeaderWorkerSet, MPIJob, RayCluster.

Each is the released program, built from its Go module, with its own CRDs and, where it has some, its admission
webhooks, which the API server asks on the loopback address. mpi-operator answers health checks on port 8080 of every
address and can't be told otherwise.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane.client import Object, StatusError, wait_for
from tests.controlplane.cluster import ControlPlane, free_ports
from tests.gobuild import GoModule, build, go_command

_FOLDER: Final = Path(__file__).parent / "controllers"
_PATIENCE_SECONDS: Final = 90.0
_AT_ONCE_SECONDS: Final = 4.0


@dataclass(frozen=True)
class Controller:
    """A program: its Go module, what it says in it of itself, and how it is told where to listen.

    ``configuration``: the apiVersion of its configuration file, where it takes one. ``own_pods``: the label of the pods
    that its webhooks are asked about.
    """

    kind: str
    group: str
    version: str
    plural: str
    module: str
    package: str
    crds: str
    webhooks: str = ""
    own_pods: str = ""
    configuration: str = ""
    flags: Sequence[str] = field(default=())

    @property
    def program(self) -> str:
        """The file's name."""
        return self.kind.lower() + "-controller"

    @property
    def go_module(self) -> GoModule:
        """How the program is built."""
        return GoModule(self.program, _FOLDER, {self.program: self.package})

    @property
    def path(self) -> str:
        """The URL path of its API."""
        return f"/apis/{self.group}/{self.version}"


CONTROLLERS: Final[Mapping[str, Controller]] = {
    each.kind: each
    for each in (
        Controller(
            "JobSet",
            "jobset.x-k8s.io",
            "v1alpha2",
            "jobsets",
            "sigs.k8s.io/jobset",
            "sigs.k8s.io/jobset",
            "config/components/crd/bases/*.yaml",
            "config/components/webhook/manifests.yaml",
            "jobset.sigs.k8s.io/jobset-name",
            "config.jobset.x-k8s.io/v1alpha1",
        ),
        Controller(
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io",
            "v1",
            "leaderworkersets",
            "sigs.k8s.io/lws",
            "sigs.k8s.io/lws/cmd",
            "config/crd/bases/*leaderworkersets.yaml",
            "config/webhook/manifests.yaml",
            "leaderworkerset.sigs.k8s.io/name",
            "config.lws.x-k8s.io/v1alpha1",
        ),
        Controller(
            "MPIJob",
            "kubeflow.org",
            "v2beta1",
            "mpijobs",
            "github.com/kubeflow/mpi-operator",
            "github.com/kubeflow/mpi-operator/cmd/mpi-operator",
            "manifests/base/kubeflow.org_mpijobs.yaml",
            flags=("-lock-namespace=kube-system", "-kube-api-qps=100", "-kube-api-burst=200"),
        ),
        Controller(
            "RayCluster",
            "ray.io",
            "v1",
            "rayclusters",
            "github.com/ray-project/kuberay/ray-operator",
            "github.com/ray-project/kuberay/ray-operator",
            "config/crd/bases/*.yaml",
            flags=("--metrics-addr=0", "--health-probe-bind-address=0", "--enable-leader-election=false"),
        ),
    )
}


def run_controller(plane: ControlPlane, kind: str) -> Controller:
    """Install a kind's CRDs, start its controller and register its webhooks; all of it ends with the control plane."""
    controller = CONTROLLERS[kind]
    program = build(controller.go_module) / controller.program
    client, sources = plane.client(), _sources(controller.module)
    for path in sorted(sources.glob(controller.crds)):
        for body in _documents(path):
            client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    wait_for(lambda: _answers(plane, f"{controller.path}/{controller.plural}"), f"{kind} is served")
    _wait_for_garbage_collection(plane, controller.plural)
    flags = list(controller.flags)
    port = free_ports(1)[0]
    if controller.configuration:
        flags.append(f"--config={_configuration(plane, controller, port)}")
    name = "--kubeConfig" if kind == "MPIJob" else "--kubeconfig"
    process = plane.run(program, [*flags, f"{name}={plane.kubeconfig()}"])
    if controller.webhooks:
        for body in _webhooks(plane, controller, sources, port):
            plural = f"{body['kind'].lower()}s"
            client.request("POST", f"/apis/admissionregistration.k8s.io/v1/{plural}", body)
        wait_for(lambda: not process.running() or _listens(port), f"{kind}: webhooks", _PATIENCE_SECONDS)
    if not process.running():
        raise AssertionError(f"{controller.program} ended\n{process.log_tail()}")
    return controller


def _sources(module: str) -> Path:
    """The folder of a Go module, which holds its manifests beside its code."""
    command = [go_command(), "list", "-m", "-f", "{{.Dir}}", module]
    environment = {**os.environ, "GOWORK": "off"}
    done = subprocess.run(command, cwd=_FOLDER, env=environment, capture_output=True, encoding="utf-8", check=True)
    return Path(done.stdout.strip())


def _documents(path: Path) -> Iterator[Object]:
    return (each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each)


def _answers(plane: ControlPlane, path: str) -> bool:
    try:
        plane.client().request("GET", path)
    except StatusError:
        return False
    return True


def _wait_for_garbage_collection(plane: ControlPlane, name: str) -> None:
    """Until what an object of a new kind owns goes with it at once.

    The garbage collector looks for new kinds every 30 s (upstream: cmd/kube-controller-manager/app,
    startGarbageCollectorController), so that on a new control plane an owner that is replaced leaves its pods behind
    for so long. A kind of our own that came last tells when it has seen them all.
    """
    client, group = plane.client(), f"{name}.probe.example.com"
    names = {"kind": "Probe", "plural": "probes", "singular": "probe"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"probes.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    probes, owned = f"/apis/{group}/v1/namespaces/default/probes", "/api/v1/namespaces/default/configmaps"
    wait_for(lambda: _answers(plane, probes), "the probe is served")
    numbers = iter(range(1_000_000))

    def collected() -> bool:
        own = {"name": f"{name}-{next(numbers)}"}
        made = client.request("POST", probes, {"apiVersion": f"{group}/v1", "kind": "Probe", "metadata": own})
        owner = {"apiVersion": f"{group}/v1", "kind": "Probe", "uid": made["metadata"]["uid"], **own}
        meta = {**own, "ownerReferences": [owner]}
        client.request("POST", owned, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
        time.sleep(1)  # the collector has to have seen it
        client.request("DELETE", f"{probes}/{own['name']}")
        deadline = time.monotonic() + _AT_ONCE_SECONDS
        while time.monotonic() < deadline:
            if not _answers(plane, f"{owned}/{own['name']}"):
                return True
            time.sleep(0.2)
        return False

    wait_for(collected, "the garbage collector knows the new kinds", _PATIENCE_SECONDS)


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _configuration(plane: ControlPlane, controller: Controller, port: int) -> Path:
    """Where it listens, with the control plane's certificate."""
    certificates = plane.folder / "webhook-certificates"
    certificates.mkdir(exist_ok=True)
    for source, target in (("server.crt", "tls.crt"), ("server.key", "tls.key")):
        (certificates / target).write_bytes((plane.folder / source).read_bytes())
        (certificates / target).chmod(0o600)
    body: dict[str, Any] = {
        "apiVersion": controller.configuration,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(certificates)},
    }
    path = plane.folder / f"{controller.program}.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return path


def _webhooks(plane: ControlPlane, controller: Controller, sources: Path, port: int) -> Iterator[Object]:
    """The webhooks of its manifests, with an address instead of a Service; of pods only those that it makes."""
    authority = base64.b64encode(plane.certificate.read_bytes()).decode()
    for body in _documents(sources / controller.webhooks):
        body["metadata"]["name"] = f"{controller.plural}-{body['kind'].lower()}"
        for webhook in body["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
            if any("pods" in rule["resources"] for rule in webhook["rules"]):
                exists = {"key": controller.own_pods, "operator": "Exists"}
                webhook["objectSelector"] = {"matchExpressions": [exists]}
        yield body
