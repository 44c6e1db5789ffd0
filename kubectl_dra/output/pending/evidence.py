"""What is shown under an answer besides the funnel: the failing expression, near names, events, missing rights."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.output.console import page_width
from kubectl_dra.output.devices.misnamed import misnamed_lines
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.asks import caret_lines, place_of
from kubectl_dra.output.pending.autoscalers import no_node_advice
from kubectl_dra.output.pending.driver_pods import last_exit
from kubectl_dra.output.pending.gangs import elsewhere_lines
from kubectl_dra.output.pending.go_errors import innermost, without_uids
from kubectl_dra.output.pending.lingering import OVERDUE
from kubectl_dra.output.pending.made import refused_lines
from kubectl_dra.output.pending.other_schedulers import starting_again, where_it_runs
from kubectl_dra.output.pending.plugin_words import OF_PLUGINS, rule_of
from kubectl_dra.output.pending.reasons.running import DETAIL_TOLD
from kubectl_dra.output.pending.taints import evicting_line, tolerated
from kubectl_dra.output.safe import Safe, Style, command_line, fmt, safe, styled
from kubectl_dra.output.words import ago, counted, first_of, lasting, listed, often, shortened
from kubectl_dra.reports.invocations import kubectl, of, reading, within
from kubectl_dra.reports.pending.descheduled import Turn
from kubectl_dra.reports.pending.events import AutoscalerWords, NamedEvent
from kubectl_dra.reports.pending.failing_pods import FailingPod
from kubectl_dra.reports.pending.same_pools import SamePool
from kubectl_dra.scheduler.reasons import kubelets_refuse, not_simulated

_FINALIZER: Final = Safe("Do not remove its finalizer: the devices could then be allocated twice.")
#: What there is, where the object that is named does not exist.
_KINDS: Final = {
    records.ClassProblem: Safe("Existing classes"),
    records.ExtendedResource: Safe("Resources"),
    records.ParametersProblem: Safe("Existing parameters"),
}
_NAMES: Final = 3
#: A scheduler that runs and has room to look at a pod has written something by then.
_SILENT: Final = timedelta(minutes=5)


def evidence_lines(
    cause: records.Cause,
    namespace: str,
    now: datetime,
    said: str = "",
    requested: Collection[str] = (),
    *,
    address: Address = HERE,
) -> Iterator[Safe]:
    """The lines that prove one cause; none where its sentence, which ``said`` contains, says all.

    ``requested``: the selectors that the page shows already. ``address``: the cluster that commands are for.
    """
    match cause.detail:
        case records.FatalError() as error if error.expression not in requested or _points(error):
            yield from _expression(error)
        case records.ClaimEntry() as entry if cause.code is not Code.TEMPLATE_MISSING:
            yield from _claim_entry(entry, cause.code, now)
        case records.ClassProblem() | records.ExtendedResource() | records.ParametersProblem() as missing:
            yield from _similar(missing)
        case records.GangElsewhere() as gang:
            yield from elsewhere_lines(gang, namespace, address)
        case records.SchedulerName() as scheduler:
            yield from _scheduler(scheduler, now, address)
        case records.GroupWaits(refused=refused) if refused is not None:
            yield from refused_lines(refused, now)
        case records.Negotiation() as negotiation:
            yield from _negotiation(negotiation, cause.claim, now)
        case records.ClassOffer(nodes=published, meant=meant) if meant:
            yield from misnamed_lines(published[0], meant[0], address)
        case records.PoolProblem() as pool:
            yield from _pool(pool, now, said)
        case records.BindingProblem() as binding:
            yield from _binding(binding, now, said)
        case (records.KubeletText() as kubelet) | records.BoundBy(said=records.KubeletText() as kubelet):
            yield from _kubelet(kubelet, cause.code, now, said)
        case records.OpenPlugins(plugins=plugins):
            yield from _open(plugins)
        case records.Departure() as departure:
            yield from _departure(departure, now, said)
        case records.Refusal() as refusal if refusal.earlier and not _is_told(refusal.message, said):
            yield from wrapped(fmt("An earlier attempt, {}: {}", ago(refusal.time, now), refusal.message), indent=2)
        case records.VanishedDevices(pools=pools) if pools:
            yield from wrapped(fmt("Nothing is published of {}: does its driver run?", listed(pools)), indent=2)
        case records.EvictingTaint() as evicting if tolerated(evicting) not in said:
            yield from wrapped(evicting_line(evicting, cause.nodes, now))
        case records.Retry() as retry:
            yield from _retry(retry, now, address)
        case records.ContainerWaits(initializes=True, container=name, since=since) if since:
            yield from wrapped(fmt("Init container {} was started {}.", name, ago(since, now)), indent=2, first=0)


def _similar(missing: records.ClassProblem | records.ExtendedResource | records.ParametersProblem) -> Iterator[Safe]:
    if missing.similar:
        similar = fmt("{} with a similar name: {}", _KINDS[type(missing)], listed(missing.similar))
        yield from wrapped(similar, indent=2)


def _points(error: records.FatalError) -> bool:
    return place_of(error.expression, error) >= 0


def _is_told(message: str, said: str) -> bool:
    """Whether the first line has what a message comes down to, which stands last."""
    last = message.rstrip(".").rpartition(": ")[2]
    return " " in last and last in said


def _scheduler(found: records.SchedulerName, now: datetime, address: Address) -> Iterator[Safe]:
    """How long nobody has written anything, and whether devices are what is missing."""
    since = parse_time(found.silent_since)
    if since is not None and now - since > _SILENT:
        text = "Nothing was written about it since it was created {}: probably no scheduler of this name runs."
        yield from wrapped(fmt(text, ago(found.silent_since, now)), indent=2, first=0)
        if found.stopped is None:
            yield from where_it_runs(found.name, address)
    if found.stopped is not None:
        yield from starting_again(found.stopped, address)
    own = not_simulated(found.words)
    if found.fitting and own:
        told = listed([fmt('"{}" ({})', text, counted(nodes, "node")) for text, nodes in own.items()])
        # Where the default scheduler is no way out, what helps stands as advice.
        helps = OF_PLUGINS.get(rule_of(found.words)) if not kubelets_refuse(found.words) else None
        text = "what keeps it is a rule of its scheduler, {}.{}"
        lead = Safe("By the default scheduler's rules it would find a node now: ")
        yield from wrapped(lead + fmt(text, told, fmt(" {}", helps) if helps else Safe("")), indent=2, first=0)
    elif found.fitting:
        rule = Safe(": what keeps it is that rule of its scheduler" if rule_of(found.words) else "")
        yield from wrapped(fmt("By the default scheduler's rules it would find a node now{}.", rule), indent=2, first=0)


def _departure(departure: records.Departure, now: datetime, said: str) -> Iterator[Safe]:
    if departure.deleted and OVERDUE not in said:
        yield from wrapped(fmt("Deleted {}", ago(departure.deleted, now)), indent=2)
    if departure.message:
        yield from wrapped(fmt("{}, {}: {}", departure.reason, ago(departure.time, now), departure.message), indent=2)


def _kubelet(kubelet: records.KubeletText, code: Code, now: datetime, said: str) -> Iterator[Safe]:
    """How often the kubelet said so, and its words unless the first line has what they come down to."""
    when = often(kubelet.times, kubelet.first, kubelet.time, now)
    if code in DETAIL_TOLD and innermost(kubelet.detail or kubelet.text) in said:
        told = Safe("Reported {}.") if kubelet.reason else Safe("The kubelet said so {}.")
        yield from wrapped(fmt(told, when), indent=2, first=0)
        return
    if kubelet.reason:
        yield from wrapped(fmt("{}, {}: {}", kubelet.reason, when, without_uids(kubelet.text)), indent=2)
        return
    yield from wrapped(fmt("Kubelet, {}: {}", when, without_uids(kubelet.text)), indent=2)


def failing_lines(pods: Sequence[FailingPod]) -> Iterator[Safe]:
    """The pods of drivers that do not run, with the last words of their containers."""
    if pods:
        yield Safe("Pods of the driver that are not ready")
    alike: dict[Safe, list[Safe]] = {}
    for each in pods:
        restarts = fmt(", {}", counted(each.restarts, "restart")) if each.restarts else Safe("")
        how = last_exit(each)
        words = fmt(": {}", each.message) if each.message else fmt(", {}", how) if how else how
        where = fmt("{} on {}", str(each.pod.key), each.node) if each.node else safe(str(each.pod.key))
        alike.setdefault(fmt("{}{}{}", each.state, restarts, words), []).append(where)
    for text, names in alike.items():
        yield from wrapped(fmt("{}: {}", Safe(", ").join(names), text), indent=4, first=2)


def autoscaler_lines(said: AutoscalerWords | None, now: datetime) -> Iterator[Safe]:
    if said is not None:
        name = said.autoscaler.replace("-", " ").capitalize()
        silent = Safe(" (nothing since)") if said.old else Safe("")
        yield from wrapped(fmt("{}, {}{}: {}", name, ago(said.time, now), silent, said.message), indent=2, first=0)
        if not said.adds:
            yield from no_node_advice(said.message)


def _expression(error: records.FatalError) -> Iterator[Safe]:
    """The expression with a caret under the place, if it is known."""
    if not error.expression:
        return
    text, room = " ".join(error.expression.split()), page_width() - 4
    position = place_of(text, error)
    start = 0 if len(text) <= room or position < 0 else max(0, min(position - room // 2, len(text) - room))
    if position < 0:
        yield from wrapped(safe(text), indent=4, first=2)
        yield from wrapped(styled(safe(error.detail), Style.BAD), indent=2)
        return
    yield fmt("  {}", text[start : start + room])
    yield from caret_lines(position - start + 2, error.detail)


def _open(plugins: Sequence[records.OpenPlugin]) -> Iterator[Safe]:
    """The fields of the pod that other plugins decide about, and which those are."""
    for field in dict.fromkeys(field for plugin in plugins for field in plugin.fields):
        names = [plugin.plugin for plugin in plugins if field in plugin.fields]
        yield from wrapped(fmt("{}: {}", field, Safe(", ").join(names)), indent=4, first=2)


def _claim_entry(entry: records.ClaimEntry, code: Code, now: datetime) -> Iterator[Safe]:
    if code is Code.CLAIM_CREATION_FAILED:
        yield from wrapped(fmt("The controller said so {}, and tries again.", ago(entry.event_time, now)), indent=2)
    elif entry.event_message:
        yield from wrapped(fmt("Event, {}: {}", ago(entry.event_time, now), entry.event_message), indent=2)
    elif entry.event_time:
        yield from wrapped(fmt("Deleted {}", ago(entry.event_time, now)), indent=2)
    if entry.consumers:
        names = listed([f"{ref.kind} {ref.key}" for ref in entry.consumers])
        yield from wrapped(fmt("It is still used by {}", names), indent=2)
        if code is Code.CLAIM_BEING_DELETED:
            yield from wrapped(_FINALIZER, indent=2)


def _pool(pool: records.PoolProblem, now: datetime, said: str) -> Iterator[Safe]:
    """What is published of it, and since when: nothing of the pool is newer than its newest slice."""
    if f"pool {pool.pool} " in said:
        if pool.since:
            text = fmt("The newest ResourceSlice of pool {} was created {}.", pool.pool, ago(pool.since, now))
            yield from wrapped(text, indent=2, first=0)
        return
    parts = []
    if pool.expected:
        parts.append(fmt("{} of {} ResourceSlices of generation {}", pool.seen, pool.expected, pool.generation))
    elif pool.detail.startswith("generation "):
        parts.append(fmt("not used, since {} is published", pool.detail))
    elif pool.detail:
        parts.append(Safe("not used"))
    if pool.since:
        parts.append(fmt("its newest slice was created {}", ago(pool.since, now)))
    if parts:
        yield from wrapped(fmt("Pool {}: {}", pool.pool, Safe("; ").join(parts)), indent=4, first=2)


def _binding(binding: records.BindingProblem, now: datetime, said: str) -> Iterator[Safe]:
    told = bool(binding.message) and binding.message in said
    if (binding.message or binding.reason) and not told:
        yield from wrapped(fmt("{}: {} {}", binding.device, binding.reason, binding.message), indent=2)
    if binding.since:
        yield from wrapped(fmt("Allocated {}", ago(binding.since, now)), indent=2)


def _negotiation(negotiation: records.Negotiation, claim: records.ObjectRef | None, now: datetime) -> Iterator[Safe]:
    """What stands in the PodSchedulingContext about one claim; nothing where there is none."""
    if not negotiation.since and not negotiation.potential_nodes:
        return
    parts = [fmt("possible {}", shortened(negotiation.potential_nodes, 5) if negotiation.potential_nodes else "none")]
    if negotiation.selected_node:
        parts.append(fmt("selected {}", negotiation.selected_node))
    refused = shortened(negotiation.unsuitable_nodes, 5) if negotiation.unsuitable_nodes else Safe("none")
    parts.append(fmt("refused {}", refused) if negotiation.answered else Safe("no answer"))
    about = fmt("claim {}, {} at most", claim.name if claim is not None else "", lasting(negotiation.since, now))
    text = fmt("PodSchedulingContext on {}: nodes {}", about, Safe("; ").join(parts))
    yield from wrapped(text, indent=4, first=2)


def _retry(retry: records.Retry, now: datetime, address: Address) -> Iterator[Safe]:
    """When it is tried again; where nothing has tried it, what shows whether the scheduler runs."""
    if retry.untried_since:
        text = (
            "It was created {} and has no condition PodScheduled, which the scheduler sets after each attempt: it "
            "crashes, has lost its lease, or waits for something that it may not read. Its log says which."
        )
        yield from wrapped(fmt(text, ago(retry.untried_since, now)), indent=2, first=0)
        pods = kubectl("get", "pods", within("kube-system"), "-l", "component=kube-scheduler")
        yield from command_line("The scheduler's pods, where the cluster runs it as pods: {}", reading(pods, address))
        lease = kubectl("get", of("lease", "kube-scheduler", "kube-system"), "-o", "yaml")
        yield from command_line("Its lease (renewTime): {}", reading(lease, address))
        return
    minutes = retry.fallback_seconds // 60
    triggers = Safe("")
    if retry.triggers:
        triggers = fmt(", sooner when a {} is added or changed", listed(retry.triggers, "or"))
    yield from wrapped(fmt("The scheduler retries within {} minutes{}.", minutes, triggers), indent=2)


def named_event_lines(found: NamedEvent | None, now: datetime, said: str) -> Iterator[Safe]:
    """``Warning about PersistentVolumeClaim ml/data, 4m ago (7 times): …``; not what is ``said`` already."""
    if found is None or (found.message and found.message in said):
        return
    often = fmt(" ({} times)", found.times) if found.times > 1 else Safe("")
    by = fmt(" of {}", found.by) if found.by else Safe("")
    when = fmt(", {}", ago(found.time, now)) if found.time else Safe("")
    about = fmt("{} {}", found.object.kind, str(found.object.key))
    yield from wrapped(fmt("Warning{} about {}{}{}: {}: {}", by, about, when, often, found.reason, found.message))


def descheduled_lines(turn: Turn | None, pod: str, now: datetime) -> Iterator[Safe]:
    """That the pod is made in place of one that the descheduler ended, which reads no claims, or a scheduler."""
    found = turn.descheduled if turn is not None else None
    if found is None:
        return
    whom = Safe("its predecessor of the same name") if found.pod.name == pod else fmt("pod {}", found.pod.name)
    if found.preempted:
        gainer = found.for_pod
        other = Safe("a pod or group of higher priority")
        has = fmt("pod {}, which has a higher priority ({})", str(gainer.key), found.priority) if gainer else other
        text = (
            "The scheduler ended {} on {} {} to make room for {}. A PriorityClass that is at least "
            "as high keeps that from happening again; it gives this pod no devices."
        )
        yield from wrapped(fmt(text, whom, found.node, ago(found.time, now), has))
        return
    text = (
        "The descheduler evicted {} from {} {} ({}). It does not see devices of claims, and does not ask whether "
        "there are free ones elsewhere: a PodDisruptionBudget keeps it from the pods."
    )
    yield from wrapped(fmt(text, whom, found.node, ago(found.time, now), found.strategy))


def same_pool_lines(pools: Iterable[SamePool]) -> Iterator[Safe]:
    """Who publishes the pool, what follows from that, and who can fix it."""
    for found in pools:
        text = (
            "{} publish a pool of the same name, {}, with devices of the same names ({}): what is in use on one of "
            "these nodes counts as in use on all of them. The driver has to give each node's pool a name of its own."
        )
        yield from wrapped(fmt(text, first_of(found.nodes, _NAMES), found.pool, first_of(found.devices, _NAMES)))
