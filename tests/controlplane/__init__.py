"""A real control plane without containers: etcd and the Kubernetes programs, built from Go modules, on loopback ports.

There is no kubelet: nodes are objects that tests write, pods are bound and then stay as they are.
"""

from tests.controlplane.build import binaries
from tests.controlplane.client import Client, StatusError
from tests.controlplane.cluster import ADMIN, ControlPlane, StartError, User
from tests.controlplane.releases import NEWEST, OLD, Release

__all__ = [
    "ADMIN",
    "NEWEST",
    "OLD",
    "Client",
    "ControlPlane",
    "Release",
    "StartError",
    "StatusError",
    "User",
    "binaries",
]
