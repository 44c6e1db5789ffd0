"""What an object expands to: pod templates, how many pods of each, and where that number is from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from kubectl_dra.api.trees import Tree

#: No controller makes more; a larger number is a mistake of whoever wrote it, or an attack.
MAX_PODS: Final = 10**7


class CountSource(Enum):
    """Where the number of pods comes from."""

    STATED = "stated"
    PER_NODE = "perNode"
    ASSUMED = "assumed"  # a field of an unknown kind that known kinds use for it
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class MadeTemplate:
    """``body`` has ``metadata`` and ``spec`` of the pods; ``path`` is where it stands.

    ``copies`` None: one per node. ``count`` says where the number is from; unknown: ``copies`` is 1. ``assumed``: the
    fields that were taken for it. ``problem``: what stands at the path is no template. ``after``: the roles of the same
    object whose pods have ended before these start. ``awaits``: those whose pods have to be ready, or to have ended,
    before these are made; ``awaits_any``: each of these awaits one of them. ``rest_by``: who makes all of the pods but
    their claims, which alone are here; empty for whole ones. ``scale``: the field that says how many, empty where none
    does, and how many pods each of its units makes.
    """

    path: str
    body: Tree
    role: str = ""
    copies: int | None = 1
    count: CountSource = CountSource.STATED
    assumed: tuple[str, ...] = ()
    problem: str = ""
    after: tuple[str, ...] = ()
    rest_by: str = ""
    awaits: tuple[str, ...] = ()
    awaits_any: bool = False
    scale: tuple[str, int] = ("", 1)


@dataclass(frozen=True, slots=True)
class Expansion:
    """``known``: the kind's fields are known. ``catalog``: it makes no pods by itself. ``suspended``: its pods wait.

    ``untried`` says why pods of it are not known. No templates, not ``known`` and nothing ``untried``: nothing in the
    object looks like a pod.
    """

    templates: tuple[MadeTemplate, ...] = ()
    known: bool = False
    catalog: bool = False
    suspended: bool = False
    untried: str = ""
