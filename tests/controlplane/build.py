"""Which programs the control plane consists of, and with which version they say that they were built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.gobuild import GoModule, build

_FOLDER: Final = Path(__file__).parent
_PROGRAMS: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
}


def version() -> str:
    """The Kubernetes version of the go.mod, such as ``v1.37.1``."""
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)", (_FOLDER / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise ValueError("go.mod does not require k8s.io/kubernetes")
    return found[1]


def module() -> GoModule:
    """The control plane's Go module. Without the version flags clients stumble over an unset server version."""
    release = version()
    major, minor, _ = release.removeprefix("v").split(".", 2)
    values = {"gitVersion": release, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items())
    return GoModule(f"controlplane-{release}", _FOLDER, _PROGRAMS, f"-s -w {flags}")


def binaries() -> Path:
    """The folder with all programs; builds what is missing (cold, on 2 cores, about a quarter of an hour)."""
    return build(module())
