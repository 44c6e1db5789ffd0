"""Evidence about claims: how they come to be, where they can be used, who uses them."""

from __future__ import annotations

from kubectl_dra.diagnosis.records.objects import Evidence, ObjectRef
from kubectl_dra.model.base import ReportRecord


class ClaimEntry(Evidence, frozen=True):
    """An entry of ``spec.resourceClaims`` and the scheduler's words about it (which it only logs).

    ``event_time``: of ``event_message``; without one, when the claim was deleted. ``label``: what the namespace lacks.
    ``overdue``: it is not made for longer than the controller ever needs; ``kept``: a claim that is still reserved for
    a pod that is gone, which the same controller would have ended.
    """

    entry: str
    scheduler_text: str = ""
    template: str = ""
    similar: tuple[ObjectRef, ...] = ()
    owner: ObjectRef | None = None
    consumers: tuple[ObjectRef, ...] = ()
    event_message: str = ""
    event_time: str = ""
    label: str = ""
    overdue: bool = False
    kept: ObjectRef | None = None


class QuotaUse(ReportRecord, frozen=True):
    """A claim, and what it is charged of one resource of a quota."""

    claim: ObjectRef
    amount: int


class PodUse(ReportRecord, frozen=True):
    """A pod, and what it requests of a resource; ``enough``: without it there would be room for the one that waits."""

    pod: ObjectRef
    amount: str
    enough: bool


class QuotaShortage(Evidence, frozen=True):
    """A quota that an object of this ``kind`` (a claim or a pod) would exceed.

    ``users``: the claims that are charged for it, those with most first; ``pods``: the same of pods, the first few.
    """

    quota: str
    resource: str
    hard: str
    used: str
    requested: str
    users: tuple[QuotaUse, ...] = ()
    kind: str = "ResourceClaim"
    pods: tuple[PodUse, ...] = ()


class QuotaLimit(Evidence, frozen=True):
    """Quotas admit no more than so many ``copies`` of a pod; ``shortage``: what keeps out one more.

    ``needed``: the limit that lets in all that are wanted.
    """

    copies: int
    shortage: QuotaShortage
    needed: str


class MakerRefusal(Evidence, frozen=True):
    """What a controller (``maker``) met when it was to make another pod: the API server's words.

    ``shortages``: what a quota lacks for it, where the words are about one. ``times``: how often it was refused from
    ``first`` to ``time``.
    """

    maker: ObjectRef
    text: str
    shortages: tuple[QuotaShortage, ...] = ()
    times: int = 1
    first: str = ""
    time: str = ""


class Unspecified(Evidence, frozen=True):
    """What a ResourceQuota requires of every container (``cpu``, ``limits.memory``), and those that do not say it.

    With a ``scope`` (``BestEffort``, ``NotBestEffort``): a limit (``pods``) that would be exceeded, of a quota that is
    about the pod or not by what a LimitRange sets; then no containers are named, and so much is ``used`` of ``hard``.
    """

    quota: str
    resource: str
    containers: tuple[str, ...]
    scope: str = ""
    used: str = ""
    hard: str = ""


class ClaimElsewhere(Evidence, frozen=True):
    """An allocated claim: where it can be used (nodes by name, or a selector), for whom it is reserved.

    ``others``: its drivers publish devices for other nodes as well, so that another claim may be allocated there.
    """

    nodes: tuple[str, ...] = ()
    selector: str = ""
    consumers: tuple[ObjectRef, ...] = ()
    others: bool = False


class Consumers(Evidence, frozen=True):
    """``status.reservedFor``: consumers that are there, and those that are gone or finished.

    ``finalizers`` of a claim that is being deleted.
    """

    present: tuple[ObjectRef, ...] = ()
    gone: tuple[ObjectRef, ...] = ()
    finalizers: tuple[str, ...] = ()


class VanishedDevices(Evidence, frozen=True):
    """Devices (``DRIVER/POOL/DEVICE``) that are published no more; ``pools`` of which nothing is published."""

    devices: tuple[str, ...]
    pools: tuple[str, ...] = ()


class EvictingTaint(Evidence, frozen=True):
    """Devices (``DRIVER/POOL/DEVICE``) that the scheduler gives in spite of a taint that evicts who gets them.

    ``rule`` sets the taint; empty where the driver does. ``seconds``: the toleration's time, which is over; None where
    it has no effect, so that only the scheduler heeds it.
    """

    devices: tuple[str, ...]
    taint: str
    rule: str = ""
    since: str = ""
    seconds: int | None = None


class Negotiation(Evidence, frozen=True):
    """What scheduler and driver said to each other about one claim (PodSchedulingContext).

    ``answered``: the driver wrote something about the claim. ``since``: when the context was made, so at most so long
    the driver has been asked.
    """

    driver: str = ""
    selected_node: str = ""
    potential_nodes: tuple[str, ...] = ()
    unsuitable_nodes: tuple[str, ...] = ()
    answered: bool = False
    since: str = ""


class ParametersProblem(Evidence, frozen=True):
    """Parameters of a ``class`` or ``claim`` (``owner``) that do not exist.

    ``generated``: the object named is the vendor's, and its in-tree form is missing. ``similar`` are existing names.
    """

    owner: str
    kind: str
    name: str
    namespace: str = ""
    generated: bool = False
    similar: tuple[str, ...] = ()
