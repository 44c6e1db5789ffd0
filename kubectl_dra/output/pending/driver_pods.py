"""Drivers that do not run: pods of theirs that fail, DaemonSets that run on no node or are kept off tainted ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.claim.reserved import STARTING
from kubectl_dra.diagnosis.records import KubeletText
from kubectl_dra.diagnosis.remedies.pod_edits import toleration
from kubectl_dra.model.invocation import Address, Words
from kubectl_dra.model.names import is_subdomain
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.besides_devices import image_advice
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import counted, listed, plural, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of, plain_word, reading, within
from kubectl_dra.reports.pending.failing_pods import FailingPod, StartingDriver
from kubectl_dra.reports.pending.idle_daemons import IdleDaemonSet
from kubectl_dra.reports.pending.pending import PendingReport

#: By the words of libraries. Upstream: NVIDIA's NVML, NVML_ERROR_LIB_RM_VERSION_MISMATCH, NVML_ERROR_DRIVER_NOT_LOADED.
_CURES: Final = (
    (
        re.compile(r"(?:Driver/library|NVML/RM) version mismatch", re.IGNORECASE),
        Safe(
            "The NVIDIA kernel module on that node is of another version than the libraries, as after an update of the "
            "driver: drain and reboot the node, or unload the nvidia modules and load them again."
        ),
    ),
    (
        re.compile(r"\bdriver not loaded\b|couldn't communicate with the NVIDIA driver", re.IGNORECASE),
        Safe("The NVIDIA kernel module is not loaded on that node: install the driver there, or see why it fails."),
    ),
)
#: Upstream: dra-driver-nvidia-gpu, cmd/compute-domain-kubelet-plugin, AssertComputeDomainReady.
_DOMAIN: Final = re.compile(
    r"\bnot (?:yet )?ready in ComputeDomain\b|\bassert(?:ing)? ComputeDomain ready\b", re.IGNORECASE
)
#: So often a kubelet tries in the minute that such a daemon takes to start.
_SOON: Final = 4
_BACKOFF: Final = "BackOff"
_NOT_READY: Final = "not ready"
_SHOWN: Final = 3
_CONSEQUENCE: Final = Safe(
    "The DaemonSet then starts a pod there, which publishes the devices. Where another program sets these labels (node "
    "feature discovery, the vendor's operator), find out why it does not."
)


def failing_clause(pod: FailingPod) -> Safe:
    """``is in CrashLoopBackOff (41 restarts: failed to initialize NVML)``."""
    told = last_words_of(pod)
    return fmt("{} ({})", state_of(pod), told) if told else state_of(pod)


def state_of(pod: FailingPod) -> Safe:
    """``is in CrashLoopBackOff``."""
    if pod.state == _NOT_READY:
        return Safe("is not ready")
    if pod.state in STARTING:
        return fmt("is still starting ({})", pod.state)
    return fmt("is in {}" if pod.state.endswith(_BACKOFF) else "does not run: {}", pod.state)


def last_words_of(pod: FailingPod) -> Safe:
    """``41 restarts: failed to initialize NVML``, ``812 restarts, last exit code 1``; empty where nothing is known."""
    restarts, how = counted(pod.restarts, "restart") if pod.restarts else Safe(""), last_exit(pod)
    if pod.message:
        return fmt("{}: {}", restarts, pod.message) if restarts else safe(pod.message)
    return Safe(", ").join([text for text in (restarts, how) if text])


def failing_sentence(pods: Sequence[FailingPod], whose: str = "its") -> Safe:
    """``its pod dra/plugin-x is in CrashLoopBackOff (41 restarts)``, of all of them."""
    told = [fmt("pod {} {}", str(each.pod.key), failing_clause(each)) for each in pods]
    return fmt("{} {}", Safe(whose), Safe("; ").join(told))


def not_running_sentence(pods: Sequence[FailingPod]) -> Safe:
    """``On node-2 the driver does not run (CrashLoopBackOff)``, of those on nodes without devices."""
    states = listed(list(dict.fromkeys(each.state for each in pods)))
    nodes = listed(list(dict.fromkeys(each.node for each in pods)))
    since = Safe(" since its update" if all(each.rollout is not None for each in pods) else "")
    return fmt("On {} the driver does not run{} ({})", nodes, since, states)


def starting_sentence(found: Sequence[StartingDriver]) -> Iterator[Safe]:
    """Of the first node only: ``node-2 publishes no devices yet: the driver is still starting there (…)``."""
    for each in found[:1]:
        cordoned = Safe(", which is cordoned," if each.cordoned else "")
        text = "{}{} publishes no devices yet: the driver is still starting there ({})"
        yield fmt(text, each.pod.node, cordoned, each.pod.state)


def starting_lines(found: Sequence[StartingDriver], address: Address) -> Iterator[Safe]:
    """Where it stands what the driver's pods wait for; a cordon stays until somebody ends it."""
    if not found:
        return
    names = listed([str(each.pod.pod.key) for each in found])
    nodes = listed(list(dict.fromkeys(each.pod.node for each in found)))
    verb = Safe("runs" if len(found) == 1 else "run")
    yield from wrapped(fmt("Wait until {} {}: the devices of {} are published then.", names, verb, nodes))
    yield from command_line("If it takes long: {}", reading(why_words(found[0].pod), address))
    if any(each.cordoned for each in found):
        yield from wrapped(
            Safe("Whoever cordoned the node (an operator that updates drivers, say) has to uncordon it then.")
        )


def rollout_lines(pods: Iterable[FailingPod], address: Address) -> Iterator[Safe]:
    """How far the update is that these pods came with, and the way back."""
    for each in dict.fromkeys(pod.rollout for pod in pods if pod.rollout is not None):
        ref = each.daemon_set
        text = "DaemonSet {} is being updated: {} of {} pods have its new template, and the update goes no further."
        yield from wrapped(fmt(text, str(ref.key), each.updated, each.pods))
        back = kubectl("rollout", "undo", of("daemonset", ref.name, ref.namespace))
        yield from command_line("To go back to the template before: {}", changing(back, address))


def known_cure(pods: Iterable[FailingPod]) -> Safe | None:
    """What helps where the last words of a driver's pod have one known cause."""
    words = " ".join(each.message for each in pods)
    return next((cure for pattern, cure in _CURES if pattern.search(words)), None)


def last_exit(pod: FailingPod) -> Safe:
    """How the container ended, where it left no words: ``last exit code 1``."""
    if not pod.ended or pod.ended == pod.state:
        return Safe("")
    return fmt("last {}", pod.ended) if pod.ended.startswith("exit") else fmt("last exit {}", pod.ended)


def driver_advice(failing: FailingPod) -> Iterator[Safe]:
    """What helps a pod of the driver that does not run, before what only follows of it."""
    cure = image_advice(failing.state, failing.message) or Safe("Find out why the driver's pods do not run.")
    text = (
        "What usually helps: {} The pod is scheduled once the driver publishes devices; a change of its claim does "
        "not help."
    )
    yield from wrapped(fmt(text, cure))


def why_words(pod: FailingPod) -> Words | None:
    """The log of the run that ended, or the events of a pod that never ran."""
    where, name = within(pod.pod.namespace), of("pod", pod.pod.name)
    if pod.restarts:
        return kubectl("logs", name, where, "--all-containers", "--previous")
    return kubectl("describe", name, where)


def idle_sentence(found: IdleDaemonSet) -> Safe:
    """``DaemonSet N/D (the driver's, judging by its name) runs on no node: no node matches …``."""
    name = fmt("DaemonSet {} (the driver's, judging by its name)", str(found.daemon_set.key))
    if found.absent_from:
        return _absent_sentence(found, name)
    who = fmt("{} runs on no node", name)
    if found.tainted:
        text = "{}: it does not tolerate {} of {}"
        return fmt(text, who, shortened(found.taints), shortened(found.tainted, _SHOWN))
    return fmt("{}: no node matches {}", who, listed(found.wants, "or"))


def _absent_sentence(found: IdleDaemonSet, name: Safe) -> Safe:
    """``… runs on node-1 but not on node-2, which does not match …``."""
    where = shortened(found.runs_on, _SHOWN)
    if found.running > len(found.runs_on):
        where = fmt("{} and {} more", listed(found.runs_on), found.running - len(found.runs_on))
    lead = fmt("{} runs on {} but not on {}", name, where, found.absent_from)
    unmatched = fmt(", which does not match {}", listed(found.wants, "or")) if found.wants else Safe("")
    if found.taints:
        besides = Safe(", and" if found.wants else ":")
        return fmt("{}{}{} it does not tolerate {}", lead, unmatched, besides, shortened(found.taints))
    return fmt("{}{}", lead, unmatched or Safe(", although it selects that node"))


def idle_advice(found: IdleDaemonSet) -> Iterator[Safe]:
    """Who can do what: nodes that seem to have the hardware are named."""
    what = Safe("")
    if found.absent_from and not (found.tainted or found.wants):
        what = Safe("Its events say why it has no pod there.")
    elif found.tainted:
        what = fmt("Add to {}, or remove the taint.", _tolerations_of(found.taints))
        what += Safe(" The node needs the label as well." if found.labels else "")
    elif not found.labels:
        what = Safe("Add nodes that it selects, or change what it selects, with the values of the driver's chart.")
    if what:
        yield from wrapped(fmt("What usually helps: {}", what))
        return
    if found.nodes:
        text = "Label the nodes that have the hardware; {} may, by their label {}"
        what_to_do = fmt(text, listed(found.nodes[:_SHOWN]), listed(found.marks[:1]))
    elif found.absent_from:
        what_to_do = fmt("Label {}, if it has the hardware", found.absent_from)
    else:
        what_to_do = Safe("Label the nodes that have the hardware")
    yield from wrapped(fmt("What usually helps: {}. {}", what_to_do, _CONSEQUENCE))


def idle_commands(found: IdleDaemonSet, address: Address) -> Iterator[Safe]:
    """The labels as they are set, and where the selection of the DaemonSet stands."""
    labels = [plain_word(label) for label in found.labels]
    if labels and None not in labels:
        named = (found.absent_from,) if found.absent_from else found.nodes
        nodes: Words = tuple(filter(is_subdomain, named)) or ("NODE",)
        yield from command_line(
            "To label the {}: {}",
            changing(kubectl("label", "nodes", *nodes, *labels), address),
            Safe(plural("node", len(nodes))),
        )
    ref = found.daemon_set
    if found.absent_from and not (found.tainted or found.wants):
        yield from command_line(
            "Its events: {}", reading(kubectl("describe", of("daemonset", ref.name, ref.namespace)), address)
        )
        return
    yield from command_line(
        "What it selects: {}", reading(kubectl("get", of("daemonset", ref.name, ref.namespace), "-o", "yaml"), address)
    )


def kept_off_driver_lines(found: Iterable[IdleDaemonSet]) -> Iterator[Safe]:
    """``Node gpu-1 publishes no devices of gpu.example.com: DaemonSet N/D … does not tolerate its taint …``."""
    for each in found:
        them = Safe("it has" if len(each.tainted) == 1 else "they have")
        more = fmt(" The pod has to tolerate {} as well.", Safe("it" if len(each.taints) == 1 else "them"))
        text = "{}. If {} such devices, add to {}.{}"
        told = fmt(
            text, _kept_off_sentence(each), them, _tolerations_of(each.taints), more if each.pod_too else Safe("")
        )
        yield from wrapped(told)


def _kept_off_sentence(each: IdleDaemonSet) -> Safe:
    """Where a driver publishes nothing, and which taint its DaemonSet does not tolerate."""
    rest = [fmt("{} more", each.more)] if each.more else []
    one = len(each.tainted) == 1
    nodes = fmt("{} {}", Safe("Node" if one else "Nodes"), listed([*each.tainted, *rest]))
    verb, whose = (Safe("publishes"), Safe("its")) if one else (Safe("publish"), Safe("their"))
    taints = fmt("{} {} {}", whose, Safe(plural("taint", len(each.taints))), listed(each.taints))
    text = "{} {} no devices of {}: DaemonSet {} (the driver's, judging by its name) does not tolerate {}"
    return fmt(text, nodes, verb, each.driver, str(each.daemon_set.key), taints)


def _tolerations_of(taints: Sequence[str]) -> Safe:
    """``the tolerations of the DaemonSet …: {key: dedicated, operator: Exists, effect: NoSchedule}``."""
    shown = Safe(", ").join(map(written_toleration, taints))
    return fmt("the tolerations of the DaemonSet (with the values of the driver's chart) {}", shown)


def written_toleration(taint: str) -> Safe:
    """The toleration of a taint as YAML on one line; a value is a string there whatever it looks like."""
    fields = msgspec.to_builtins(toleration(taint))
    pairs = (fmt('{}: "{}"' if key == "value" else "{}: {}", safe(key), value) for key, value in fields.items())
    return fmt("{{{}}}", Safe(", ").join(pairs))


def domain_advice(report: PendingReport, said: KubeletText) -> Safe | None:
    """What a pod waits for whose ComputeDomain is not ready on its node: nothing of its claim is wrong."""
    if _DOMAIN.search(said.text) is None:
        return None
    again = Safe("The claim needs no change; the kubelet retries by itself.")
    if report.failing:
        text = "The ComputeDomain is ready on {} once its daemon runs there; the log below says why it does not. {}"
        return fmt(text, report.node, again)
    lead = Safe("Wait a minute: the") if said.times <= _SOON else Safe("This should take a minute at most. The")
    text = (
        "{} ComputeDomain is ready on {} once its daemon runs there. The first pod of the domain on the node starts "
        "that daemon, in the namespace of the driver; {}. {}"
    )
    log = Safe("if it lasts longer, its log says why" if said.times <= _SOON else "its log says why it is not ready")
    return fmt(text, lead, report.node, log, again)
