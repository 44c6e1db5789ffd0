"""Records of what stops pods of the files whatever devices are free: classes and templates they lack, their gangs.

And of DeviceClasses that could not be read, and what is sure all the same.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.base import ReportRecord


class AbsentClass(ReportRecord, frozen=True):
    """A PriorityClass or RuntimeClass that does not exist; ``field``: where the manifest names it, ``known``: others.

    ``left_out``: the file that stands for the cluster has none at all, so that it may only lack them.
    """

    object: ObjectRef
    field: str
    known: tuple[str, ...] = ()
    left_out: bool = False


class NameReference(ReportRecord, frozen=True):
    """A field in which kustomize is to rename what it names: ``path`` of a ``kind`` as its configuration has it."""

    kind: str
    path: str


class Misplaced(ReportRecord, frozen=True):
    """A template of the files that is in another ``namespace`` than the pods that ``users`` make and that name it.

    ``name``: it is in that namespace, and so they call what can only be this one; empty where the name is its own.
    ``as_claim``: they name it as a claim, of which there is none of that name. ``references``: where kustomize has
    renamed the template as it has renamed its users, and not in what names it.
    """

    template: ObjectRef
    namespace: str
    users: tuple[ObjectRef, ...] = ()
    name: str = ""
    as_claim: bool = False
    references: tuple[NameReference, ...] = ()


class GangCount(ReportRecord, frozen=True):
    """A gang of a ``program``: ``least`` of its pods start at once or none, and ``fit`` of ``wanted`` do fit.

    ``maker``: who makes some of them only when others are ready, so that no more than ``made`` are ever there while
    none has started; ``field``: what makes it do so, empty where a role of it waits for another. ``least_field`` of the
    ``object`` says ``least``, and the object stands ``at`` that place of the files.
    """

    program: str
    object: str
    namespace: str
    least: int
    fit: int
    wanted: int
    maker: ObjectRef | None = None
    field: str = ""
    made: int = 0
    least_field: str = ""
    at: str = ""


class Repeated(ReportRecord, frozen=True):
    """An object that differs between the files. ``first``: it can't be changed, so the first one was tried.

    ``at``: where the first one stands, and the first that differs from it.
    """

    object: ObjectRef
    first: bool
    at: tuple[str, ...] = ()


class AtMost(ReportRecord, frozen=True):
    """No more than so many ``copies`` fit, whatever the classes select.

    Only so many ``devices`` are free and match the selectors of ``request``, if ``selected``; each copy takes ``each``.
    """

    copies: int
    devices: int
    each: int
    request: str
    selected: bool


class OpenClasses(ReportRecord, frozen=True):
    """The classes that claims of a pod name; ``at_most`` where less than what was wanted fits."""

    names: tuple[str, ...] = ()
    at_most: AtMost | None = None

    def too_few(self, wanted: int | None) -> bool:
        return self.at_most is not None and self.at_most.copies < (1 if wanted is None else wanted)


class UnreadHolder(ReportRecord, frozen=True):
    """An object that pods lack: maybe in one of ``files``, which could not be read; none: there, and refused."""

    object: ObjectRef
    files: tuple[str, ...]


class DomainFit(ReportRecord, frozen=True):
    """``groups`` of ``size`` pods, each in one domain of ``label``; ``exclusive``: each in one of its own.

    ``program`` demands it by ``annotation``, and chooses the domain. ``best``: the domain in which most pods of one
    group find a node, ``pods`` of them, with ``message`` what the scheduler says of the next one. ``holding``: the
    domains that have room for a whole group, all of ``domains`` without what the files make else.
    """

    program: str
    annotation: str
    label: str
    size: int
    groups: int
    exclusive: bool
    domains: int
    best: str = ""
    pods: int = 0
    message: str = ""
    holding: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether there are domains enough; which of them the program chooses is another question."""
        return len(self.holding) >= (self.groups if self.exclusive else min(self.groups, 1))
