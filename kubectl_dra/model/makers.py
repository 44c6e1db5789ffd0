"""Objects of other projects that make pods: what holds these back, and the templates that they are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kubectl_dra.model.core import Pod


@dataclass(frozen=True, slots=True)
class Maker:
    """One object. ``suspended_by``: the field by which its pods are held back; empty where none does.

    ``pods`` has one pod of each template, by the name that its object gives them (empty for the only one).
    ``scaled``: there are to be none. ``untried``: why its pods are not known.
    """

    suspended_by: str = ""
    queue: str = ""
    pods: tuple[tuple[str, Pod], ...] = ()
    scaled: bool = False
    untried: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
