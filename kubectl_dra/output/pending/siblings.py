"""Sentences about the other pods of a pod's own workload: they hold what it needs, or wait as it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.autoscalers import SCALED_OBJECT
from kubectl_dra.diagnosis.pod.siblings import Siblings
from kubectl_dra.diagnosis.records import ObjectRef, StageName, Verdict
from kubectl_dra.diagnosis.remedies.records import DeletePod
from kubectl_dra.model.invocation import Address, Words
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.rollouts import own_rollout
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.output.words import counted, kind_and_name, listed, plural, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport

_NAMES: Final = 3
_TWO: Final = 2
#: What kubectl takes for kinds of other projects.
_RESOURCES: Final = {SCALED_OBJECT: "scaledobject.keda.sh"}
_JOB: Final = "Job"
_CRON_JOB: Final = "CronJob"
_FORBID: Final = "Where the concurrencyPolicy of the CronJob is Allow (the default), Forbid keeps its runs apart."
#: Of these pods the page does not say what they wait for.
_NOT_WAITING: Final = (Verdict.NOT_PENDING, Verdict.ENDED, Verdict.DELETING)
#: What kinds of work that ends are called, those of other projects as well.
_WORKFLOW: Final = "Workflow"
_ENDING: Final = ("Job", "JobSet", "Workflow", "SparkApplication")


def sibling_sentence(report: PendingReport) -> Safe | None:
    """Who holds the devices, behind the sentence that names them, without a full stop; None where there is none."""
    found = report.siblings
    if found is None or own_rollout(report) is not None:
        return None
    workload = kind_and_name(found.workload)
    more = _more(found)
    if not found.holders and found.waiting < _TWO:
        return fmt("{}{}", workload, more) if more else None
    if not found.holders:
        return fmt("{} pods of its own {} wait{}", found.waiting, workload, fmt(", which{}", more) if more else more)
    funnels = (each.funnel for group in report.nodes for each in group.requests if each.funnel is not None)
    tainted = any(funnel.stage(StageName.TAINTS).removed for funnel in funnels)
    alone = report.code is Code.DEVICES_IN_USE and not tainted
    them = Safe("them" if alone else "those in use")
    number = found.placed + found.waiting + found.uncreated
    have = Safe(plural("has", found.placed))
    run = fmt(": {} of its {} pods {} a node", found.placed, number, have) if number else Safe("")
    run += fmt(", and it{}", more) if more else Safe("")
    if found.hold_all:
        return fmt("Its own {} holds all of {}{}", workload, them, run)
    names = [ref.name for ref in found.holders]
    named = listed(names) if len(names) <= _NAMES else shortened(names)
    return fmt("Its own {} holds {} of {} ({}){}", workload, found.devices, them, named, run)


def _more(found: Siblings) -> Safe:
    """`` creates 2 more, one by one as those before are ready``, behind a name for the workload."""
    if not found.uncreated:
        return Safe("")
    how = Safe(", one by one as those before are ready" if found.one_by_one else "")
    return fmt(" is to create {} more{}", found.uncreated, how)


def sibling_advice(found: Siblings) -> Safe:
    """What to do where only their end, fewer of them, or more devices help."""
    workload = kind_and_name(found.workload)
    if found.planned and found.placed and found.workload.kind.endswith(_WORKFLOW):
        text = (
            "Wait: {} at a time, and the others start once these have ended. If all have to run at once, add devices."
        )
        return fmt(text, fmt("{} {}", found.placed, Safe("runs" if found.placed == 1 else "run")))
    if found.planned and found.scaled_by is None:
        # Nothing ends of what does not exist: fewer of them is what is left.
        if found.workload.kind == "Pod":
            return Safe("Create it when one of these pods has ended, or add devices.")
        fit = fmt(" ({} {})", found.placed, Safe("fits" if found.placed == 1 else "fit")) if found.placed else Safe("")
        return fmt("Let {} have fewer pods{}, or add devices.", workload, fit)
    if found.workload.kind == _CRON_JOB:
        return fmt(
            f"These pods are of runs of {{}}: wait until they end, or delete the Job of one. {_FORBID}", workload
        )
    if found.workload.kind.endswith(_ENDING):
        text = (
            "Wait until one of these pods ends. If they wait for this one, as in distributed training, they never do: "
            "let {} run fewer pods at once, or add devices."
        )
        return fmt(text, workload)
    text = "These pods run until they are deleted, and deleting one for another changes nothing: "
    if found.scaled_by is None:
        return fmt(f"{text}let {{}} have fewer pods, or add devices.", workload)
    least, most = found.scaled_by.least, found.scaled_by.most
    bounds = fmt("{}" if least == most else "{} to {}", *dict.fromkeys((least, most)))
    scaler, pods = kind_and_name(found.scaled_by.of), Safe(plural("pod", most))
    told = f"{text}{{}} keeps {{}} at {{}} {{}} and undoes kubectl scale; lower its bounds, or add devices."
    return fmt(told, scaler, workload, bounds, pods)


def sibling_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """How the workload has as many pods as there are devices for, or a run of a CronJob ends."""
    found = report.siblings
    if found is not None and found.workload.kind == _CRON_JOB:
        yield from _run_commands(report, found, address)
        return
    if found is None or not (found.hold_all and found.scalable and found.placed) or report.remedies or report.failing:
        return
    ref, number = found.workload, found.placed
    words = _patch(ref, {"parallelism": number}) if ref.kind == _JOB else _scale(found, number)
    line = command(changing(words, address))
    if line is None:
        return
    yield fmt("For {}{}: {}", counted(number, "pod"), Safe(" at once" if ref.kind == _JOB else ""), line)
    if found.may_be_scaled and not (found.scaled_by or found.autoscalers_known):
        yield from wrapped(Safe("Autoscalers were not read: one that scales it would undo that."), indent=2)


def _scale(found: Siblings, number: int) -> Words | None:
    """Of a workload with an autoscaler its bounds are changed, or it scales it again."""
    ref, bounds = found.workload, found.scaled_by
    if bounds is None:
        return kubectl("scale", of(ref.kind.lower(), ref.name, ref.namespace), f"--replicas={number}")
    fields = {bounds.high: number, **({bounds.low: number} if bounds.least > number else {})}
    return _patch(bounds.of, {field.removeprefix("spec."): value for field, value in fields.items()})


def _patch(ref: ObjectRef, spec: dict[str, int]) -> Words | None:
    target = of(_RESOURCES.get(ref.kind, ref.kind.lower()), ref.name, ref.namespace)
    patch = json.dumps({"spec": spec}, separators=(",", ":"))
    return kubectl("patch", target, "--type=merge", "-p", patch)


def next_run_lines(report: PendingReport) -> Iterator[Safe]:
    """What comes of waiting where a CronJob has one run at a time."""
    found = report.turn.next_run if report.turn is not None else None
    if found is None or report.verdict in _NOT_WAITING:
        return
    texts = {
        "Forbid": "Until this run ends, {} starts no other (concurrencyPolicy Forbid): runs that come due are skipped.",
        "Replace": "When the next run comes due, {} deletes this one for it (concurrencyPolicy Replace).",
    }
    yield from wrapped(fmt(texts[found.policy], kind_and_name(found.cron_job)))


def _run_commands(report: PendingReport, found: Siblings, address: Address) -> Iterator[Safe]:
    """How the other run ends, of which a way out ends only a pod: its Job makes that again."""
    actions = (action for remedy in report.remedies for action in remedy.actions if isinstance(action, DeletePod))
    jobs = (each.recreated_by for each in actions if each.pod in found.holders and each.recreated_by is not None)
    job = next((each for each in jobs if each.kind == _JOB), None)
    line = command(changing(kubectl("delete", of("job", job.name, job.namespace)), address)) if job else None
    if job is not None and line is not None:
        text = "Job {} is another run of {}, and starts its pod again until the Job itself is deleted."
        text += f" {_FORBID}" if report.turn is None or report.turn.next_run is None else ""
        yield from wrapped(fmt(text, job.name, kind_and_name(found.workload)))
        yield fmt("To end that run: {}", line)
