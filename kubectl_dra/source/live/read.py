"""Reading what a command needs: all kinds at once, with what is refused as evidence instead of an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from kubectl_dra.api.build import InventoryBuilder
from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.kinds import NAMESPACE, POD, RESOURCE_CLAIM, RESOURCE_SLICE, Kind
from kubectl_dra.model.base import Record
from kubectl_dra.model.clock import timestamp
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import BadObject, Coverage, Evidence, Fields, Read
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.model.usage import NodeUsage
from kubectl_dra.source.errors import ClusterError, InvalidNameError
from kubectl_dra.source.live.demand import Demand, at_once
from kubectl_dra.source.live.discovery import Served, discover, discover_more
from kubectl_dra.source.live.errors import (
    BadAnswerError,
    CertificateError,
    ExpiredError,
    NotServedError,
    RefusedError,
    ServerFailedError,
    ThrottledError,
    TooLongListError,
    UnreachableError,
    in_words,
)
from kubectl_dra.source.live.listing import KeepAll, Listed, Sink, list_path, take_list
from kubectl_dra.source.live.parallel import in_parallel
from kubectl_dra.source.live.pods import PodReducer, add_usage
from kubectl_dra.source.live.session import Session
from kubectl_dra.source.live.slices import list_slices, list_slices_for_node, pools_of
from kubectl_dra.source.needs import Needs
from kubectl_dra.source.spec import Told

# The controller takes finished pods out of reservations at once: more than a few never are there.
_MAX_CONSUMERS: Final = 20
# What one list may meet while the server gives all others: with them the question is answered as far as it goes.
_FAILURES: Final = (ServerFailedError, ThrottledError, ExpiredError, BadAnswerError, UnreachableError)
#: Of these the first chunks of a list are an answer in part.
_IN_PART: Final = (ServerFailedError, ThrottledError)
#: Sums of some pods are too small, and pools of some slices look incomplete.
_ONLY_WHOLE: Final = (POD, RESOURCE_SLICE)
# Of these it is the caller's to change something first; and a certificate is that of all lists.
_NOT_OF_ONE_LIST: Final = (TooLongListError, CertificateError)
# A pod has a few claims; who asks about more by name than this has a list to ask for.
_MAX_NAMED: Final = 50


class KindRead(msgspec.Struct):
    """What reading one kind gave.

    ``usage``: only for pods; ``absent``: names of no pod. ``failed``: what became of lists that broke.
    """

    kind: Kind
    records: list[Record] = msgspec.field(default_factory=list)
    reads: list[Read] = msgspec.field(default_factory=list)
    bad_objects: list[BadObject] = msgspec.field(default_factory=list)
    failed: list[ClusterError] = msgspec.field(default_factory=list)
    usage: dict[str, NodeUsage] = msgspec.field(default_factory=dict)
    absent: list[Key] = msgspec.field(default_factory=list)


def read(session: Session, needs: Needs, told: Told | None = None) -> tuple[Inventory, Evidence]:
    """Everything that ``needs`` names, as far as the user may read it. Raises ``ClusterError``.

    ``told`` is called once the first answer is there: before, a credential plugin may have questions of its own.

    What is refused is evidence, even where that is everything; a server that serves none of the kinds is an error.
    A list that the server fails to give is evidence, too, where it gives any other.
    """
    kinds, at_first = needs.wanted(), at_once(needs)
    served = discover(session, at_first, strict=False)
    if told is not None:
        told(None)
    reader = _Reader(session, needs, served)
    later = bool(needs.claims) and RESOURCE_SLICE in kinds
    first = [kind for kind in at_first if not (later and kind is RESOURCE_SLICE)]
    outcomes = in_parallel([lambda k=k: reader.read(k) for k in first])  # type: ignore[misc]
    _add_named_claims(reader, needs, outcomes)
    if later:
        outcomes += _slices_of_claims(reader, needs, outcomes)
    outcomes += _on_demand(reader, needs, outcomes)
    _add_finished_consumers(reader, outcomes)
    reads = tuple(each for outcome in outcomes for each in outcome.reads)
    failed = [error for outcome in outcomes for error in outcome.failed]
    if failed and all(each.coverage in (Coverage.FAILED, Coverage.NOT_SERVED) for each in reads):
        raise failed[0]
    if reads and all(each.coverage is Coverage.NOT_SERVED for each in reads):
        _raise_unserved(session, needs, served)
    evidence = Evidence(
        reads=reads,
        bad_objects=tuple(bad for outcome in outcomes for bad in outcome.bad_objects),
        server_version=served.server_version,
        notes=tuple(dict.fromkeys(map(in_words, failed))),
        origin=session.server,
        address=session.address,
        absent=frozenset((outcome.kind.name, key) for outcome in outcomes for key in outcome.absent),
    )
    return _inventory(outcomes), evidence


def _slices_of_claims(reader: _Reader, needs: Needs, outcomes: Iterable[KindRead]) -> list[KindRead]:
    """The slices that the claims in question lead to: where they hold nothing, none are looked at."""
    selections = pools_of((record for outcome in outcomes for record in outcome.records), needs.claims)
    return [reader.read(RESOURCE_SLICE, selections)] if selections else []


def _on_demand(reader: _Reader, needs: Needs, outcomes: Iterable[KindRead]) -> list[KindRead]:
    """What the pods that were read make matter."""
    of_pods = next((outcome for outcome in outcomes if outcome.kind is POD), None)
    if of_pods is None:
        return []
    pods = [record for record in of_pods.records if isinstance(record, Pod)]
    priorities = {pod.shape.priority for usage in of_pods.usage.values() for pod in usage.placed}
    kinds = Demand(needs).of(pods, priorities, lambda: pods)
    if not kinds:
        return []
    reader.look_for(kinds)
    return in_parallel([lambda k=k: reader.read(k) for k in kinds])  # type: ignore[misc]


def _add_finished_consumers(reader: _Reader, outcomes: Iterable[KindRead]) -> None:
    """Lists leave out finished pods; one that a claim is still reserved for must not pass for one that is gone."""
    by_kind = {outcome.kind.name: outcome for outcome in outcomes}
    pods, claims = by_kind.get(POD.name), by_kind.get(RESOURCE_CLAIM.name)
    if pods is None or claims is None:
        return
    seen = {record.metadata.uid for record in pods.records if isinstance(record, Pod)}
    missing = {
        Key(claim.metadata.namespace, consumer.name)
        for claim in claims.records
        if isinstance(claim, ResourceClaim)
        for consumer in claim.status.reserved_for
        if consumer.resource == POD.plural and not consumer.api_group and consumer.uid not in seen
    }
    for key in sorted(missing)[:_MAX_CONSUMERS]:
        reader.add(pods, key)


def _add_named_claims(reader: _Reader, needs: Needs, outcomes: Iterable[KindRead]) -> None:
    """Claims that the question is about, one by one where no list came: a role may name single objects."""
    by_kind = {outcome.kind.name: outcome for outcome in outcomes}
    claims, pods = by_kind.get(RESOURCE_CLAIM.name), by_kind.get(POD.name)
    if claims is None or not (claims.failed or any(read.coverage is Coverage.FORBIDDEN for read in claims.reads)):
        return
    evidence, wanted = Evidence(reads=tuple(claims.reads)), set(needs.claims)
    for pod in pods.records if pods is not None else ():
        if isinstance(pod, Pod) and key_of(pod.metadata) in needs.pods:
            wanted |= _claims_of(pod)
    for key in sorted(wanted)[:_MAX_NAMED]:
        if not evidence.complete(RESOURCE_CLAIM.name, key.namespace):
            reader.add(claims, key)


def _claims_of(pod: Pod) -> set[Key]:
    direct = {entry.resource_claim_name for entry in pod.spec.resource_claims}
    made = {status.resource_claim_name for status in pod.status.resource_claim_statuses}
    return {Key(pod.metadata.namespace, name) for name in direct | made if name}


class _Reader:
    """Reads kinds in the scopes that ``needs`` names, and in smaller ones where those are refused."""

    def __init__(self, session: Session, needs: Needs, served: Served) -> None:
        self._session = session
        self._needs = needs
        self._served = served

    def look_for(self, kinds: Iterable[Kind]) -> None:
        """Find out how further kinds are served. Raises ``ClusterError``."""
        self._served = discover_more(self._session, self._served, kinds, strict=False)

    def read(self, kind: Kind, slices: frozenset[Fields] = frozenset()) -> KindRead:
        """One kind; ``slices`` are selections instead of those that the needs name."""
        outcome = KindRead(kind)
        api_version = self._served.api_versions.get(kind.name)
        if api_version is None and (error := self._served.failed.get(kind.group)) is not None:
            self._note_failure(outcome, "", Coverage.FAILED, error)
            return outcome
        if api_version is None:
            time, note = timestamp(self._session.clock), self._served.why_not(kind)
            outcome.reads.append(Read(kind.name, coverage=Coverage.NOT_SERVED, time=time, note=note))
            return outcome
        for scope in self._needs.scopes(kind):
            if not self._list(outcome, api_version, scope, slices or self._needs.slices) and not scope:
                self._fall_back(outcome, api_version)
        if kind is POD:
            self._add_named_pods(outcome, api_version)
        return outcome

    def _list(
        self, outcome: KindRead, api_version: str, namespace: str, slices: frozenset[Fields] = frozenset()
    ) -> bool:
        """Whether the list was taken; a refusal, and what the server fails to give, is noted as evidence."""
        kind = outcome.kind
        try:
            lists = self._take(kind, api_version, namespace, slices)
        except (RefusedError, NotServedError) as error:
            coverage = Coverage.FORBIDDEN if isinstance(error, RefusedError) else Coverage.NOT_SERVED
            outcome.reads.append(
                Read(kind.name, namespace, coverage, time=timestamp(self._session.clock), note=error.what)
            )
            return coverage is Coverage.NOT_SERVED
        except _FAILURES as error:
            # The list of a busy server's largest kind should not hide what all others tell.
            if isinstance(error, _NOT_OF_ONE_LIST):
                raise
            self._note_failure(outcome, namespace, Coverage.FAILED, error)
            return False
        for listed in lists:
            outcome.records += listed.sink.kept
            outcome.bad_objects += listed.bad_objects
            outcome.reads.append(listed.read)
            add_usage(outcome.usage, listed.sink.usage)
            outcome.failed += [listed.broken] if listed.broken is not None else []
        return all(listed.broken is None for listed in lists)

    def _note_failure(self, outcome: KindRead, namespace: str, coverage: Coverage, error: ClusterError) -> None:
        time = timestamp(self._session.clock)
        outcome.reads.append(Read(outcome.kind.name, namespace, coverage, time=time, note=error.what))
        outcome.failed.append(error)

    def _take(self, kind: Kind, api_version: str, namespace: str, slices: frozenset[Fields]) -> list[Listed]:
        if kind is RESOURCE_SLICE and slices:
            return list_slices(self._session, api_version, slices)
        if kind is RESOURCE_SLICE and self._needs.node:
            return list_slices_for_node(self._session, api_version, self._needs.node)
        fields = self._needs.field_selector(kind)
        in_part = () if kind in _ONLY_WHOLE else _IN_PART
        sink = self._new_sink(kind)
        return [take_list(self._session, kind, api_version, sink, namespace, fields, in_part=in_part)]

    def _new_sink(self, kind: Kind) -> Callable[[], Sink]:
        if kind is not POD:
            return KeepAll
        return lambda: PodReducer(self._needs.pods, self._needs.all_pods, self._needs.whole_nodes)

    def _fall_back(self, outcome: KindRead, api_version: str) -> None:
        for namespace in self._needs.fallback(outcome.kind):
            self._list(outcome, api_version, namespace)
        if outcome.kind is NAMESPACE:
            for name in self._needs.namespaces:
                self._add_one(outcome, api_version, Key("", name))

    def _add_named_pods(self, outcome: KindRead, api_version: str) -> None:
        """Finished pods are not in the list, and a user may be allowed to get a pod without listing pods."""
        known = {key_of(record.metadata) for record in outcome.records}  # type: ignore[attr-defined]
        for key in sorted(self._needs.pods - known):
            self._add_one(outcome, api_version, key)

    def add(self, outcome: KindRead, key: Key) -> None:
        """One object of the outcome's kind by name, if it exists and may be read; one that fails is not known."""
        api_version = self._served.api_versions.get(outcome.kind.name)
        if api_version is None:
            return
        try:
            self._add_one(outcome, api_version, key)
        except _FAILURES as error:
            self._note_failure(outcome, "", Coverage.PARTIAL, error)

    def _add_one(self, outcome: KindRead, api_version: str, key: Key) -> None:
        try:
            path = list_path(outcome.kind, api_version, key.namespace, key.name)
            data = self._session.get(path, f"get {outcome.kind.singular} {key}")
            outcome.records.append(decode_object(data, api_version, outcome.kind))
        except NotServedError:
            # Of other kinds the path may be one that is not served.
            outcome.absent += [key] if outcome.kind is POD else []
        except (RefusedError, InvalidNameError):
            # A name that the API can't hold is the name of nothing.
            return
        except DecodeError as error:
            outcome.bad_objects.append(BadObject(outcome.kind.name, key.namespace, key.name, str(error)))


def _raise_unserved(session: Session, needs: Needs, served: Served) -> None:
    for kind in needs.wanted():
        if kind.name in served.api_versions:
            scope = needs.fallback(kind)[:1] or ("",)
            session.get(
                list_path(kind, served.api_versions[kind.name], scope[0]), f"list {kind.plural}", {"limit": "1"}
            )
    names = ", ".join(dict.fromkeys(kind.resource for kind in needs.wanted()))
    hint = "check --context; Dynamic Resource Allocation may be switched off there"
    raise ClusterError(f"{session.server} serves none of the kinds that are needed: {names}", hint)


def _inventory(outcomes: Iterable[KindRead]) -> Inventory:
    builder = InventoryBuilder()
    usage: dict[str, NodeUsage] = {}
    for outcome in outcomes:
        if outcome.records:
            builder.extend(outcome.kind, outcome.records)
        usage.update(outcome.usage)
    return builder.inventory(usage)
