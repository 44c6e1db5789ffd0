"""What a plugin says: a code and literal reasons.

Upstream: k8s.io/kube-scheduler/framework Status and Code. ``UNKNOWN`` is ours: what the plugin reads was not read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.core import Node


class StatusCode(StrEnum):
    """What follows for a node or, of PreFilter, for the attempt."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"  # evicting pods may help
    UNRESOLVABLE = "UnschedulableAndUnresolvable"  # it won't
    SKIP = "Skip"
    UNKNOWN = "Unknown"


class NodeError(ABC):
    """The detail of an error on a node whose text is only made if somebody reads it."""

    @abstractmethod
    def text(self) -> str:
        """What the plugin says."""

    @abstractmethod
    def on(self, node: Node) -> NodeError:
        """The same error on a node that is alike."""


class Status(msgspec.Struct, frozen=True):
    """``plugin`` is set by who calls the plugin. ``detail``: what exactly is in the way, for explanations.

    Of an ``UNKNOWN`` status the reasons are the names of the kinds of objects that had to be read.
    """

    code: StatusCode
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    detail: object = None

    @property
    def ok(self) -> bool:
        return self.code in (StatusCode.SUCCESS, StatusCode.SKIP)

    @property
    def rejected(self) -> bool:
        """Whether pod and node don't go together, as opposed to an error."""
        return self.code in (StatusCode.UNSCHEDULABLE, StatusCode.UNRESOLVABLE)

    @property
    def message(self) -> str:
        """All reasons in one line; of an error on a node the text that its :class:`NodeError` makes."""
        if isinstance(self.detail, NodeError) and not self.reasons:
            return f'running "{self.plugin}" filter plugin: {self.detail.text()}'
        return ", ".join(self.reasons)

    def on(self, node: Node) -> Status:
        """The same of a node that is alike: errors name what is there."""
        return replace(self, detail=self.detail.on(node)) if isinstance(self.detail, NodeError) else self

    def of(self, plugin: str) -> Status:
        """The same, said by ``plugin``."""
        return self if self.plugin or self.code is StatusCode.SUCCESS else replace(self, plugin=plugin)


SUCCESS: Final = Status(StatusCode.SUCCESS)
SKIP: Final = Status(StatusCode.SKIP)


def unschedulable(*reasons: str, detail: object = None) -> Status:
    """Rejected; without some other pods it might not be."""
    return Status(StatusCode.UNSCHEDULABLE, reasons, detail=detail)


def unresolvable(*reasons: str, detail: object = None) -> Status:
    """Rejected whatever pods are there."""
    return Status(StatusCode.UNRESOLVABLE, reasons, detail=detail)


def error(text: str, detail: object = None) -> Status:
    return Status(StatusCode.ERROR, (text,), detail=detail)


def failed(detail: NodeError) -> Status:
    """The same on a node, with a text that is made when somebody reads it."""
    return Status(StatusCode.ERROR, detail=detail)


def unknown(*kinds: str) -> Status:
    """Can't be decided without the objects of ``kinds``."""
    return Status(StatusCode.UNKNOWN, kinds)
