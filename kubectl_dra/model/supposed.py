"""Pods and taints that exist only in an answer about what would be."""

from __future__ import annotations

from typing import Final

from kubectl_dra.model.core import Pod
from kubectl_dra.model.resource import DeviceTaint

#: Servers make uids of hexadecimal digits.
_PREFIX: Final = "simulated-"


def supposed_uid(namespace: str, name: str) -> str:
    """The uid of a pod that is only supposed."""
    return f"{_PREFIX}{namespace}-{name}"


def is_supposed(pod: Pod) -> bool:
    """Whether a pod got its uid from :func:`supposed_uid`."""
    return pod.metadata.uid.startswith(_PREFIX)


class SupposedTaint(DeviceTaint, frozen=True):
    """A taint of a device that nobody has set."""
