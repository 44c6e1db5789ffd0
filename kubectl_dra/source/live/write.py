"""The only requests that change a cluster: the writes that a TaintPlan lists, each once, and no others.

No write is ever repeated. Where an answer is an error, the rule is read, so that the caller can say what is true now.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.kinds import DEVICE_TAINT_RULE, POD, Kind
from kubectl_dra.api.taint_rules import check_selector, new_rule
from kubectl_dra.model.base import Record
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.resource import DeviceTaintRule
from kubectl_dra.model.taint_plan import MANAGER, PlanTarget, RuleWrite, TaintPlan, Verb
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.errors import ApiError, BadAnswerError, NotServedError
from kubectl_dra.source.live.listing import list_path
from kubectl_dra.source.live.session import Session
from kubectl_dra.source.spec import Connection

R = TypeVar("R", bound=Record)
_CONFLICT: Final = 409
_METHODS: Final = {Verb.CREATE: "POST", Verb.PATCH: "PATCH", Verb.DELETE: "DELETE"}
_MERGE_PATCH: Final = "application/merge-patch+json"


class WriteState(StrEnum):
    DONE = "done"
    CONFIRMED = "confirmed"  # the answer was an error, but the cluster is as planned
    CONFLICT = "conflict"  # somebody else was faster; nothing was written
    FAILED = "failed"  # the answer was an error, and the cluster is not as planned
    UNKNOWN = "unknown"  # the answer was an error, and the rule can't be read
    SKIPPED = "skipped"  # not tried, because one before it failed


class WriteOutcome(msgspec.Struct, frozen=True):
    """What became of ``write``: the rule as it is ``now`` (None: it does not exist, or nobody knows)."""

    write: RuleWrite
    state: WriteState
    now: DeviceTaintRule | None = None
    error: ClusterError | None = None

    @property
    def done(self) -> bool:
        return self.state in (WriteState.DONE, WriteState.CONFIRMED)


def dry_run(session: Session, plan: TaintPlan) -> None:
    """Ask the server whether it would accept every write; nothing changes. Raises ``ClusterError``."""
    for write in plan.writes:
        _send(session, write, dry=True)


def carry_out(
    session: Session, plan: TaintPlan, tell: Callable[[WriteOutcome], None] = lambda outcome: None
) -> tuple[WriteOutcome, ...]:
    """Do the writes in their order, until one fails. Failures are outcomes; ``tell`` gets each at once."""
    outcomes: list[WriteOutcome] = []
    for write in plan.writes:
        failed = bool(outcomes) and not outcomes[-1].done
        outcomes.append(WriteOutcome(write, WriteState.SKIPPED) if failed else _carry_out_one(session, write))
        tell(outcomes[-1])
    return tuple(outcomes)


def _carry_out_one(session: Session, write: RuleWrite) -> WriteOutcome:
    try:
        data = _send(session, write)
        return WriteOutcome(
            write, WriteState.DONE, None if write.verb is Verb.DELETE else _decode(session, write.api_version, data)
        )
    except ClusterError as error:
        return _truth(session, write, error)


def _truth(session: Session, write: RuleWrite, error: ClusterError) -> WriteOutcome:
    """What the cluster says after a write whose answer was an error."""
    try:
        now = read_rule(session, write.api_version, write.name)
    except ClusterError:
        return WriteOutcome(write, WriteState.UNKNOWN, error=error)
    if _as_planned(write, now):
        return WriteOutcome(write, WriteState.CONFIRMED, now, error)
    conflict = isinstance(error, ApiError) and error.code == _CONFLICT
    return WriteOutcome(write, WriteState.CONFLICT if conflict else WriteState.FAILED, now, error)


def _as_planned(write: RuleWrite, now: DeviceTaintRule | None) -> bool:
    if write.verb is Verb.DELETE:
        return now is None or now.metadata.uid != write.uid or now.metadata.deletion_timestamp is not None
    if now is None or (write.uid and now.metadata.uid != write.uid):
        return False
    taint = now.spec.taint
    same = (taint.key, taint.value, taint.effect) == (write.taint.key, write.taint.value, write.taint.effect)
    return same and now.spec.device_selector == write.selector


def read_rule(session: Session, api_version: str, name: str) -> DeviceTaintRule | None:
    """A rule as it is now; None if it does not exist. Raises ``ClusterError``."""
    path = list_path(DEVICE_TAINT_RULE, api_version, name=name)
    try:
        data = session.get(path, f"get devicetaintrule {name}")
    except NotServedError:
        return None
    return _decode(session, api_version, data)


def _send(session: Session, write: RuleWrite, dry: bool = False) -> bytes:
    name = "" if write.verb is Verb.CREATE else write.name
    path = list_path(DEVICE_TAINT_RULE, write.api_version, name=name)
    query = {"dryRun": "All"} if dry else {}
    if write.verb is not Verb.DELETE:
        query |= {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    what = f"{write.verb} devicetaintrule {write.name}"
    content_type = _MERGE_PATCH if write.verb is Verb.PATCH else "application/json"
    return session.request(_METHODS[write.verb], path, what, query, _body(write, dry), content_type)


def _body(write: RuleWrite, dry: bool) -> bytes:
    match write.verb:
        case Verb.CREATE:
            return new_rule(write)
        case Verb.PATCH:
            return json.dumps(_patch(write)).encode("ascii")
    options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
    versions = {"uid": write.uid, "resourceVersion": write.resource_version}
    options["preconditions"] = {name: version for name, version in versions.items() if version}
    # With a body the server does not look at the query.
    return json.dumps({**options, "dryRun": ["All"]} if dry else options).encode("ascii")


def _patch(write: RuleWrite) -> dict[str, Any]:
    """A merge patch of the taint alone; without timeAdded, tolerations count from now, whatever changes."""
    check_selector(write)
    taint = {"value": write.taint.value or None, "effect": write.taint.effect, "timeAdded": None}
    metadata = {"uid": write.uid, "resourceVersion": write.resource_version}
    return {"metadata": metadata, "spec": {"taint": taint}}


def _decode(session: Session, api_version: str, data: bytes) -> DeviceTaintRule:
    return _decode_as(DeviceTaintRule, session, DEVICE_TAINT_RULE, api_version, data)


def _decode_as(record: type[R], session: Session, kind: Kind, api_version: str, data: bytes) -> R:
    try:
        found = decode_object(data, api_version, kind)
    except DecodeError as error:
        raise BadAnswerError(f"{session.server} sent a broken {kind.name}: {error}", "try again") from error
    if not isinstance(found, record):
        raise BadAnswerError(f"{session.server} does not answer with a {kind.name}", "is this an API server?")
    return found


def read_pod(session: Session, key: Key, uid: str) -> Pod | None:
    """A pod as it is now; None if it is gone, or another one has its name. Raises ``ClusterError``."""
    path = list_path(POD, POD.api_version, key.namespace, key.name)
    try:
        pod = _decode_as(Pod, session, POD, POD.api_version, session.get(path, f"get pod {key}"))
    except NotServedError:
        return None
    return pod if pod.metadata.uid == uid else None


def plan_target(session: Session, connection: Connection) -> PlanTarget:
    """Context, cluster and user of a session, by their names in the kubeconfig."""
    target = session.target
    user = target.user.value if target.user is not None else {}
    return PlanTarget(
        context=target.context,
        cluster=target.cluster.name if target.cluster is not None else "",
        server=session.server,
        user=target.user.name if target.user is not None else "",
        as_user=connection.as_user or str(user.get("as") or ""),
    )
