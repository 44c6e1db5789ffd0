"""Whose log says more: the commands that print it, or that find whose it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import ContainerWaits, ObjectRef
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.names import is_label
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.besides_devices import image_advice
from kubectl_dra.output.pending.driver_pods import known_cure, rollout_lines, starting_lines, why_words
from kubectl_dra.output.pending.said_advice import is_crash
from kubectl_dra.output.safe import Safe, command, command_line, fmt, safe
from kubectl_dra.output.words import listed
from kubectl_dra.reports.invocations import Words, changing, kubectl, of, of_administrator, reading, within
from kubectl_dra.reports.pending.drivers import DriverOnNode, lacking, silent, tainting
from kubectl_dra.reports.pending.pending import PendingReport

#: Drivers that prepare devices only when an object of theirs is ready: its kind, its resource, what to look at.
_WAITS_FOR: Final = {
    "compute-domain.nvidia.com": (
        "ComputeDomain",
        "computedomains.resource.nvidia.com",
        "status.nodes has to name as many ready nodes as spec.numNodes",
    )
}


def last_words(report: PendingReport, address: Address) -> Iterator[Safe]:
    """The log of a container that ends again and again, or of one that does not end."""
    where, detail = within(report.pod.namespace), report.causes[0].detail
    if not isinstance(detail, ContainerWaits) or not is_label(detail.container):
        return
    if is_crash(detail) or detail.initializes:
        pod, of_before = of("pod", report.pod.name), () if detail.initializes else ("--previous",)
        yield from command_line(
            "  {}", reading(kubectl("logs", pod, where, "-c", detail.container, *of_before), address)
        )


def unwell_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """Where to look for what ails a pod that has been started."""
    detail = report.causes[0].detail
    if not isinstance(detail, ContainerWaits):
        return
    if report.code is Code.DEVICE_NOT_INJECTED:
        yield from _not_injected_again(report, address)
        return
    yield from wrapped(Safe("Devices are not what it waits for."))
    if is_crash(detail) and is_label(detail.container):
        yield Safe("The last words of the container:")
        yield from last_words(report, address)
        return
    described = kubectl("describe", of("pod", report.pod.name, report.pod.namespace))
    yield from command_line("Its events: {}", reading(described, address))


def _not_injected_again(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What helps a container that has had its devices before.

    Upstream: kubernetes#141433, dra-driver-cpu#318: after a restart of the node the kubelet calls NodePrepareResources
    again, and a driver whose own records outlived its files answers that all is prepared.
    """
    text = (
        "What usually helps: Its container ran before. Where {} was restarted since, the files are gone that the "
        "driver wrote for the container runtime (CDI specs in /var/run/cdi), and some drivers do not write them again "
        "for a claim that they have prepared. Delete the pod: {}."
    )
    owner, pod = report.owner, of("pod", report.pod.name, report.pod.namespace)
    again = (
        fmt("{} {} makes another, whose devices are prepared anew", owner.kind, owner.name)
        if owner is not None
        else Safe("nothing makes another, so keep its manifest to create it again")
    )
    yield from wrapped(fmt(text, report.node or "its node", again))
    if owner is None:
        yield from command_line("Its manifest: {}", reading(kubectl("get", pod, "-o", "yaml"), address))
    yield from command_line("To delete the pod: {}", changing(kubectl("delete", pod), address))


def repair_lines(report: PendingReport, address: Address) -> Iterator[Safe]:
    """The first step with a driver that does not run on some node: its devices are more, and nobody has to go."""
    for each in report.failing[:1]:
        told = image_advice(each.state) or known_cure([each]) or Safe("Find out why it does not run.")
        on = fmt(" of {}", each.node) if each.node else Safe("")
        yield from wrapped(fmt("  {} Once it runs, it publishes the devices{}.", told, on), indent=2)
        yield from command_line("    {}", reading(why_words(each), address))
    yield from rollout_lines(report.failing, address)
    if not (report.autoscaler and report.autoscaler.adds):
        yield from starting_lines(report.starting, address)


def driver_faults(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What only the driver can fix, and where it says why: taints that it has set, an attribute that it leaves out."""
    found = _tainting(report)
    if found:
        text = (
            "The taint is set by driver {} itself, which removes it when the device works again (kubectl dra "
            "taint-device cannot). The driver's log says what is wrong."
        )
        yield from wrapped(fmt(text, listed(list(dict.fromkeys(driver.driver for driver in found)))))
        yield from _logs(report, found, address)
    for driver in report.drivers:
        if driver in _silent(report):
            text = "Driver {} runs on {} too, and publishes no devices there: if the node has any, its log may say why."
            yield from wrapped(fmt(text, driver.driver, driver.node))
            yield from _logs(report, [driver], address)
        if names := _lacking(report, driver):
            text = "Driver {} publishes {} on other nodes, and not on {}: its log there may say why."
            yield from wrapped(fmt(text, driver.driver, names[0].rpartition("/")[2], driver.node))
            yield from _logs(report, [driver], address)


def _tainting(report: PendingReport) -> list[DriverOnNode]:
    found = set(tainting(report.nodes))
    return [driver for driver in report.drivers if (driver.driver, driver.node) in found]


def _silent(report: PendingReport) -> list[DriverOnNode]:
    found = set(silent(report.nodes)) if report.code is Code.NO_SINGLE_NODE else set()
    return [driver for driver in report.drivers if (driver.driver, driver.node) in found and driver.likely_pods]


def _lacking(report: PendingReport, driver: DriverOnNode) -> list[str]:
    return [name for who, node, name in lacking(report.nodes) if (who, node) == (driver.driver, driver.node)]


def log_lines(report: PendingReport, address: Address, *, events_named: bool = False) -> Iterator[Safe]:
    """The log of each driver on its node, or how its pod is found; the own events where that is all one may read.

    Drivers of which :func:`driver_faults` tells are left out. ``events_named``: the command that shows them is on the
    page already.
    """
    told = [*_tainting(report), *_silent(report)]
    drivers = [each for each in report.drivers if each not in told and not _lacking(report, each)]
    yield from _logs(report, drivers, address)
    if (
        report.node
        and not events_named
        and not _may_find(report)
        and not all(each.likely_pods for each in report.drivers)
    ):
        events = reading(kubectl("describe", of("pod", report.pod.name, report.pod.namespace)), address)
        yield from command_line("Its events, which you may read: {}", events)


def _logs(report: PendingReport, drivers: Sequence[DriverOnNode], address: Address) -> Iterator[Safe]:
    """Of a pod that fails, the log of the run that ended."""
    failing = {each.pod: each for each in report.failing if each.restarts}
    sought: set[str] = set()
    for driver in drivers:
        yield from _state_of(driver, report.pod.namespace, address)
        where = fmt("{} on {}", driver.driver, driver.node) if driver.node else safe(driver.driver)
        words = (why_words(failing[pod]) if pod in failing else _log(pod) for pod in driver.likely_pods)
        logs = (command(reading(each, address)) for each in words)
        lines = [line for line in logs if line is not None]
        if lines:
            yield fmt("Log of driver {}:", where)
        elif driver.driver not in sought:
            # How its pod is found is the same for each node.
            sought.add(driver.driver)
            yield from _how_to_find(driver, where, address, allowed=_may_find(report))
        yield from (fmt("  {}", line) for line in lines)


def _may_find(report: PendingReport) -> bool:
    """Whether nothing says that pods of all namespaces, among which drivers run, may not be listed."""
    forbidden = (each for each in report.read if each.coverage == Coverage.FORBIDDEN and not each.namespace)
    return not any("Pod" in each.lists for each in forbidden)


def _how_to_find(driver: DriverOnNode, where: Safe, address: Address, *, allowed: bool) -> Iterator[Safe]:
    """The command that shows a driver's pod, for whoever may run it."""
    text, words = Safe("Log of driver {} (find its pod, then kubectl logs):"), _find(driver)
    find = command(reading(words, address))
    if not allowed:
        text = Safe(
            "Log of driver {} (finding its pod takes the right to list pods in all namespaces, so it is for an "
            "administrator; then kubectl logs):"
        )
        find = command(changing(words, of_administrator(address)))
    if find is not None:
        yield from wrapped(fmt(text, where))
        yield fmt("  {}", find)


def _state_of(driver: DriverOnNode, namespace: str, address: Address) -> Iterator[Safe]:
    """The object whose status says how far a driver has come, of drivers that wait for one."""
    found = _WAITS_FOR.get(driver.driver)
    where = within(namespace)
    if found is None or where is None:
        return
    kind, resource, text = found
    yield from command_line(
        "State of the {} ({}): {}",
        reading(kubectl("get", resource, where, "-o", "yaml"), address),
        Safe(kind),
        Safe(text),
    )


def _log(pod: ObjectRef) -> Words | None:
    return kubectl("logs", of("pod", pod.name), within(pod.namespace), "--all-containers", "--since=1h")


def _find(driver: DriverOnNode) -> Words | None:
    if not driver.node:
        # A controller that attaches devices from a fabric runs anywhere.
        return kubectl("get", "daemonsets,deployments", "-A")
    return kubectl("get", "pods", "-A", "-o", "wide", "--field-selector", f"spec.nodeName={driver.node}")
