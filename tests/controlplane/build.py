"""Which programs the control planes consist of, and with which version they say that they were built."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.gobuild import GoModule, build

_FOLDER: Final = Path(__file__).parent
_OLD_MINORS: Final = _FOLDER / "minors"
_SHARED: Final = {"etcd": "go.etcd.io/etcd/server/v3", "kubectl": "k8s.io/kubernetes/cmd/kubectl"}
_OWN: Final = {
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
}


def version(folder: Path = _FOLDER) -> str:
    """The Kubernetes version of the go.mod in ``folder``, such as ``v1.37.1``."""
    found = re.search(
        r"^\s*(?:require )?k8s\.io/kubernetes (v\S+)", (folder / "go.mod").read_text(encoding="utf-8"), re.MULTILINE
    )
    if found is None:
        raise ValueError(f"{folder}/go.mod does not require k8s.io/kubernetes")
    return found[1]


def module(minor: str = "") -> GoModule:
    """A control plane's Go module; without ``minor`` that of the newest one, which also has etcd and kubectl."""
    if not minor:
        return _module(_FOLDER, {**_SHARED, **_OWN}, {})
    # The programs of cloud providers, which 1.30 still contains, have no part in any test.
    return _module(_OLD_MINORS / minor, _OWN, {"GOFLAGS": "-tags=providerless"})


def _module(folder: Path, programs: dict[str, str], environment: dict[str, str]) -> GoModule:
    # Without the version flags clients stumble over an unset server version.
    release = version(folder)
    major, minor, _ = release.removeprefix("v").split(".", 2)
    values = {"gitVersion": release, "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items())
    return GoModule(f"controlplane-{release}", folder, programs, f"-s -w {flags}", {"CGO_ENABLED": "0", **environment})


def is_built(minor: str = "") -> bool:
    """Whether all programs of a release are there."""
    return not module().missing() and not (minor and module(minor).missing())


def binaries(minor: str = "") -> Path:
    """The folder with all programs; builds what is missing (cold, on 2 cores, about a quarter of an hour)."""
    if not minor:
        return build(module())
    shared, own = build(module()), build(module(minor))
    for program in _SHARED:
        link = own / program
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(shared / program)
    return own
