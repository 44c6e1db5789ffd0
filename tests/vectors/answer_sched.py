"""Answers rows of whole clusters through the public functions: what is asked for, never what was recorded."""

from __future__ import annotations

from typing import Any

from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.scheduler.attempt import Attempt
from kubectl_dra.scheduler.dry_run import Eviction
from kubectl_dra.scheduler.gangs.decision import GangMember, GroupDecision, GroupOutcome, MemberOutcome, decide_group
from kubectl_dra.scheduler.preemption import PreemptionResult
from kubectl_dra.scheduler.status import Status
from tests.kit.decisions import Decision, Outcome, decide
from tests.scheduler.rows import snapshot_of


def answer(row: dict[str, Any]) -> dict[str, Any]:
    """The answer to one row: one entry per PodGroup if there are any, else per pending pod, in the order of the row."""
    snapshot = snapshot_of(row)
    if row.get("podgroups") and snapshot.features.generic_workload:
        groups = snapshot.inventory.groups.pod_groups.values()
        return {"id": row["id"], "expect": [render_group(decide_group(snapshot, group)) for group in groups]}
    return answer_pods(row)


def answer_pods(row: dict[str, Any]) -> dict[str, Any]:
    """The answer about pods that are scheduled one by one, whatever groups there are."""
    snapshot = snapshot_of(row)
    names = [each["metadata"] for each in row.get("pods", ())]
    pods = [snapshot.inventory.pods[Key(name["namespace"], name["name"])] for name in names]
    entries, start = [], 0
    for pod in pods:
        if pod.spec.node_name or is_terminal(pod):
            continue
        decision = decide(snapshot, pod, start)
        start = (start + decision.processed) % max(len(snapshot.nodes), 1)
        entries.append({"pod": str(key_of(pod.metadata)), **render(decision)})
    return {"id": row["id"], "expect": entries}


def render(decision: Decision) -> dict[str, Any]:
    """A decision in the shape of the recorded answers."""
    if decision.outcome is Outcome.OPEN:
        return {"undecided": "not everything was read"}
    entry: dict[str, Any] = {"outcome": decision.outcome.value, "feasible": []}
    if decision.reason:
        entry["reason"] = decision.reason
    if decision.message:
        entry["message"] = decision.message
    if decision.base:
        entry["messageWithoutPostFilter"] = decision.base
    if decision.outcome is Outcome.GATED:
        entry["gates"] = [_status(status.plugin, status) for status in decision.gates]
    found = decision.attempt
    if found is None:
        return entry
    if found.stop is not None:
        entry["preFilter"] = _status(found.stop.plugin, found.stop)
    elif (nodes := found.selection.nodes) is not None:
        entry["preFilterNodes"] = sorted(nodes)
    if found.stop is None:
        entry |= {"perNode": per_node} if (per_node := _per_node(found)) else {}
    if decision.scores is not None:
        entry["feasible"] = sorted(found.feasible)
        entry["best"] = sorted(decision.scores.best)
        if decision.scores.totals:
            entry["scores"] = dict(decision.scores.totals)
    if decision.preemption is not None and decision.preemption.candidates:
        entry["preemption"] = _preemption(decision.preemption)
    return entry


def render_group(decision: GroupDecision) -> dict[str, Any]:
    """A decision about a group in the shape of the recorded answers."""
    name = str(key_of(decision.group.metadata))
    if decision.outcome is GroupOutcome.OPEN:
        return {"group": name, "undecided": "not everything was read"}
    entry: dict[str, Any] = {"group": name, "outcome": decision.outcome.value}
    if decision.reason:
        status = "True" if decision.outcome is GroupOutcome.SCHEDULED else "False"
        entry["condition"] = {"status": status, "reason": decision.reason, "message": decision.message}
    members = (
        sorted(decision.members, key=lambda each: each.key)
        if decision.outcome is GroupOutcome.GATED
        else decision.members
    )
    entry["members"] = [_member(member) for member in members]
    found = decision.after.preemption if decision.after is not None else None
    if found is not None and found.victims:
        entry["evicted"] = sorted(str(pod.key) for pod in found.victims)
        # Which of equally good nodes is taken decides who is evicted.
        entry |= {"tied": True} if found.tied else {}
    return entry


def _member(member: GangMember) -> dict[str, Any]:
    entry: dict[str, Any] = {"pod": str(member.key), "outcome": member.outcome.value}
    if member.outcome is MemberOutcome.GATED:
        return {**entry, "gates": [_status(each.plugin, each) for each in member.gates]} if member.gates else entry
    texts = {"reason": member.reason, "message": member.message, "nominated": [member.nominated]}
    entry |= {name: value for name, value in texts.items() if value and value != [""]}
    if member.nodes:
        entry["nodes"] = sorted(member.nodes)
    return entry


def _preemption(found: PreemptionResult) -> dict[str, Any]:
    def render_one(each: Eviction) -> dict[str, Any]:
        victims = {"victims": sorted(str(victim.key) for victim in each.victims)}
        return {**victims, "pdbViolations": each.violations} if each.violations else victims

    candidates = {name: render_one(each) for name, each in found.candidates.items()}
    return {"nominated": sorted(found.nominated), "candidates": candidates}


def _per_node(found: Attempt) -> dict[str, Any]:
    refused = ((name, found.status_of(name)) for name in found.cycle.snapshot.nodes)
    return {name: _status(status.plugin, status) for name, status in refused if not status.ok}


def _status(plugin: str, status: Status) -> dict[str, Any]:
    named = {"plugin": plugin} if plugin else {}
    return {**named, "code": status.code.value, "reasons": sorted(status.reasons or filter(None, (status.message,)))}
