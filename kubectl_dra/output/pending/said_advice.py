"""What to do where somebody's words name the cause: the kubelet's, a driver's, the API server's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.elsewhere import YUNIKORN
from kubectl_dra.diagnosis.gates.queues import Queued
from kubectl_dra.diagnosis.said.kubelet import is_about_claim, is_not_injected, serves_one_pod
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.besides_devices import image_advice, is_of_devices, mount_advice
from kubectl_dra.output.pending.driver_pods import domain_advice
from kubectl_dra.output.pending.extenders import extender_advice, extender_commands, extender_of
from kubectl_dra.output.pending.gang_words import incomplete_advice, incomplete_commands, mixed_advice, mixed_commands
from kubectl_dra.output.pending.go_errors import LackedRight, lacked_right
from kubectl_dra.output.pending.other_schedulers import (
    allocating_advice,
    fewer_commands,
    gang_advice,
    is_queue_short,
    scheduler_log,
    volcano_queue,
)
from kubectl_dra.output.pending.plugin_words import OF_PLUGINS, SHOWN_BY, rule_of
from kubectl_dra.output.pending.queue_limits import limit_of
from kubectl_dra.output.pending.queues import queue_advice
from kubectl_dra.output.pending.rejections import (
    BY_NODE_TAINT,
    agent_commands,
    node_advice,
    node_commands,
    rejection_advice,
    shortage_advice,
)
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.output.unread import role_name
from kubectl_dra.reports.invocations import changing, kubectl, reading
from kubectl_dra.reports.pending.configurations import ConfiguredIn
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.scheduler.fit_error import SCHEDULER_ERROR
from kubectl_dra.scheduler.reasons import COSCHEDULING, is_of_default_plugins

#: Upstream: the kubelet's pkg/kubelet/kuberuntime/kuberuntime_container.go.
_OBJECTS: Final = ("CreateContainerConfigError",)
_CRASH: Final = ("CrashLoopBackOff",)
#: The driver read the claim's configuration and refused it.
_CONFIGURATION: Final = re.compile(r"config|parameter|decod|unmarshal|unknown field", re.IGNORECASE)
#: The parameters may be right, and the driver not know what they ask for.
_UNKNOWN_TO_IT: Final = re.compile(r"unknown|unsupported|not (?:supported|enabled)|disabled|gate", re.IGNORECASE)
#: Upstream: k8s.io/apimachinery's errors.NewNotFound.
_NOT_FOUND: Final = re.compile(r'(?P<resource>[a-z][a-z0-9.-]*) "(?P<name>[^"]+)" not found')
#: Upstream: NVIDIA's NVML, when a GPU has no room for another instance.
_GPU_INSTANCE: Final = re.compile(r"GPU instance.*Insufficient Resources", re.IGNORECASE | re.DOTALL)
#: Upstream: apiserver's validatingadmissionpolicy and admission/plugin/webhook.
_POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '|admission webhook \"")
#: Upstream: the kubelet's pkg/kubelet/cm/dra/manager.go, GetResources.
_UNPREPARED: Final = re.compile(
    r"unable to get (?:claim info|information) for (?:ResourceClaim|claim) (?P<claim>[^\s:]+)"
)
_ONE_CONTAINER: Final = re.compile(
    r"\bclaim\b.*\balready\b.*\bcontainer\b|\bclaim between containers\b", re.IGNORECASE | re.DOTALL
)
#: What every node has some of.
_EVERYWHERE: Final = ("cpu", "memory", "pods")
#: Upstream: k8s.io/apiserver's serviceaccount.MakeUsername.
_ACCOUNT: Final = re.compile(r"system:serviceaccount:(?P<namespace>[a-z0-9-]+):(?P<name>[a-z0-9.-]+)")
#: Upstream: plugin/pkg/auth/authorizer/node/node_authorizer.go.
_NO_RELATION: Final = "no relationship found between node"
_NODE_AUTHORIZER: Final = Safe(
    "API servers let a kubelet read only the claims of pods on its node, and the one that it asks does not know this "
    "claim as one. If that lasts for minutes, an administrator compares the versions and feature gates of all API "
    "servers: after an upgrade one may be left that is older, or has Dynamic Resource Allocation off. A new pod meets "
    "the same."
)
#: Drivers of network devices, of a pod that shares the node's network (google/dranet, pkg/driver/nri_hooks.go).
_HOST_NETWORK: Final = re.compile(r"host ?network", re.IGNORECASE)


def advice_on_words(report: PendingReport) -> Safe | None:
    """The next step that follows from the words of the first line; None where only the reason's page has one."""
    cause = report.causes[0]
    of_others = _advice_on_others(report)
    if of_others is not None:
        return of_others
    match cause.detail:
        case records.KubeletRejection() as found:
            return rejection_advice(found, report.node)
        case records.ContainerWaits() as waits:
            return _container(report, waits)
        case records.ClaimEntry() as entry if cause.code is Code.CLAIM_CREATION_FAILED:
            return _creation(entry)
        case records.NodeShortage() as shortage if not shortage.allocatable and shortage.resource not in _EVERYWHERE:
            return shortage_advice(shortage, cause.nodes, report.agent, added=bool(report.additions))
        case records.BoundBy() as bound:
            return allocating_advice(report, bound)
        case records.Departure(reason=reason) if reason == BY_NODE_TAINT and report.node:
            return node_advice(report.node)
        case records.GroupError(differing=differing) as error if differing:
            return mixed_advice(error)
        case records.GangElsewhere(present=present) as gang if present:
            return incomplete_advice(gang)
        case records.GangElsewhere(waits=Queued() as waits):
            return queue_advice(waits)
        case records.KubeletText() as said if cause.code is Code.DRIVER_FAILED:
            return _driver(report, said)
        case records.KubeletText(text=text) if _NO_RELATION in text:
            return _NODE_AUTHORIZER
        case records.KubeletText() as said if not is_of_devices(cause):
            return mount_advice(said, report.node)
        case records.KubeletText() as said if cause.code is Code.KUBELET_WARNS and _HOST_NETWORK.search(said.text):
            text = (
                "Remove hostNetwork: true from the pod's template (devices move into the network of the pod, and it "
                "has none of its own), or drop the claim from it."
            )
            return Safe(text)
    if cause.code is Code.CLAIM_NOT_ALLOCATED and not has_way_out(report):
        text = (
            "Delete the pod and create it again without spec.nodeName, so that the scheduler places it and its claim. "
            'The node selector "kubernetes.io/hostname: {}" keeps it on this node.'
        )
        return fmt(text, report.node)
    return None


def _advice_on_others(report: PendingReport) -> Safe | None:
    """The next step where another scheduler, or a plugin that is not of the default profile, decides."""
    cause = report.causes[0]
    match cause.detail:
        case records.GangElsewhere() as gang if cause.code is Code.OTHER_SCHEDULER and (
            limit_of(gang) or (gang.name and (gang.queue_state or _has_written(report)))
        ):
            return gang_advice(gang)
        case records.GangElsewhere(system=YUNIKORN.name) if cause.code is Code.OTHER_SCHEDULER:
            text = (
                "Free or add what its pods lack, or wait until other work of its queue ends: YuniKorn shows what the "
                "queue may use and what it uses. Do not give pods of a task group to the default scheduler one by one."
            )
            return Safe(text)
        case records.SchedulerName(words=words) if cause.code is Code.OTHER_SCHEDULER and (rule := rule_of(words)):
            return OF_PLUGINS[rule]
        case records.SchedulerName(words=words) if len(report.causes) > 1 and is_of_default_plugins(words):
            text = (
                "Its messages are those of kube-scheduler, so the default scheduler would reject the pod as well: "
                "change what is in the way, not schedulerName. Which other plugins its configuration enables cannot be "
                "read from the cluster."
            )
            return Safe(text)
        case records.SchedulerName(words=words) if words and cause.code is Code.OTHER_SCHEDULER:
            text = (
                "It runs, as it has written this; by which rules it decides cannot be read from the cluster. Read its "
                "log, or recreate the pod without schedulerName."
            )
            return Safe(text)
        case records.Refusal() as refusal if (extender := extender_of(refusal)) is not None:
            return extender_advice(extender)
        case records.Refusal(plugin=plugin) if plugin:
            text = (
                "What plugin {} waits for, or decides by, cannot be read from the cluster: read the log of the "
                "scheduler, and ask who added the plugin to its KubeSchedulerConfiguration. The scheduler tries again "
                "by itself."
            )
            return fmt(text, plugin)
        case records.PluginText(plugin=plugin) if plugin in OF_PLUGINS and cause.code is Code.OTHER_PLUGIN:
            return OF_PLUGINS[plugin]
        case records.PluginText(plugin=plugin) if plugin != COSCHEDULING and cause.code is Code.OTHER_PLUGIN:
            text = (
                "No plugin of the default profile writes such words: read the log of the scheduler and its "
                "KubeSchedulerConfiguration, which say whose they are. By which rules that plugin decides cannot be "
                "read from the cluster."
            )
            return Safe(text)
    return None


def plugin_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """What shows the objects by which a plugin decides that is known by its words."""
    detail = report.causes[0].detail
    if isinstance(detail, records.GangElsewhere) and report.code is Code.OTHER_SCHEDULER and is_queue_short(detail):
        yield from volcano_queue(detail, address)
    if isinstance(detail, records.GangElsewhere) and detail.present:
        yield from incomplete_commands(detail, report.pod.namespace, address)
    if report.code is Code.OTHER_SCHEDULER:
        yield from fewer_commands(detail, report.pod.namespace, address)
        yield from scheduler_log(detail, report.pod.namespace, address)
    if (
        isinstance(detail, records.Departure)
        and detail.reason == BY_NODE_TAINT
        and report.node
        and not report.lingering
    ):
        yield from node_commands(report.node, address)
    if isinstance(detail, records.GroupError):
        yield from mixed_commands(detail, address)
    if (extender := extender_of(detail)) is not None:
        yield from extender_commands(extender, address)
    if report.agent is not None:
        yield from agent_commands(report.agent, address)
    plugin = detail.plugin if isinstance(detail, records.PluginText) else ""
    shown = SHOWN_BY.get(rule_of(detail.words) if isinstance(detail, records.SchedulerName) else plugin)
    line = command(reading(kubectl(*shown[1]), address)) if shown is not None else None
    if shown is not None and line is not None:
        yield fmt(shown[0], line)


def _has_written(report: PendingReport) -> bool:
    """Whether the pod's own scheduler has refused it, so that it runs."""
    detail = report.causes[0].detail
    return isinstance(detail, records.GangElsewhere | records.SchedulerName) and bool(detail.words)


def right_lacked(report: PendingReport) -> LackedRight | None:
    """What the pod's scheduler may not do, by its last words; None where it was not refused for want of a right."""
    seen = report.observed
    if seen is None or seen.status != "False" or seen.reason != SCHEDULER_ERROR:
        return None
    return lacked_right(seen.message)


def right_advice(right: LackedRight) -> Safe:
    """Whom to give which right."""
    text = 'Give {} the right to {} {} (apiGroups: ["{}"]), in its ClusterRole or in one of its own:'
    return fmt(text, right.user, right.verb, right.resource, right.group)


def right_commands(right: LackedRight, address: Address) -> Iterator[Safe]:
    """A role with the right, and its binding, for a ServiceAccount; subresources are updated and patched."""
    name = _ACCOUNT.fullmatch(right.user)
    if name is None:
        return
    resource, _, part = right.resource.partition("/")
    what = f"{resource}.{right.group}" if right.group else resource
    verbs = "update,patch" if part else right.verb
    role = role_name(right.user, verbs, right.resource)
    made = (
        kubectl("create", "clusterrole", role, f"--verb={verbs}", f"--resource={what}{'/' + part if part else ''}"),
        kubectl(
            "create",
            "clusterrolebinding",
            role,
            f"--clusterrole={role}",
            f"--serviceaccount={name['namespace']}:{name['name']}",
        ),
    )
    lines = [command(changing(words, address)) for words in made if words is not None]
    yield from (fmt("  {}", line) for line in lines if line is not None)


def is_crash(waits: records.ContainerWaits) -> bool:
    """Whether the program in the container ended, and left a log."""
    return waits.reason in _CRASH


def _creation(entry: records.ClaimEntry) -> Safe | None:
    if _POLICY.search(entry.event_message):
        text = (
            "Make a ResourceClaimTemplate that the policy allows (one that exists cannot be changed) and name it in "
            "the pod's template; or ask whoever keeps the policy."
        )
        return Safe(text)
    return None


def _container(report: PendingReport, waits: records.ContainerWaits) -> Safe | None:
    if waits.initializes:
        return Safe("The pod has its node and its devices. Read in its log how far the container is:")
    if is_not_injected(waits):
        text = (
            "The container runtime of {} does not find what the driver wrote about this device (its CDI spec). Read "
            "the driver's log, look into /var/run/cdi and /etc/cdi on the node, and check that the runtime reads the "
            "same folders (cdi_spec_dirs)."
        )
        return fmt(text, report.node)
    if is_about_claim(waits):
        return _of_claim(report, waits)
    image = image_advice(waits.reason, waits.message)
    if image is not None:
        return image
    if waits.reason in _OBJECTS:
        return Safe("Create the Secret or ConfigMap that the message names, or correct its name in the pod.")
    if is_crash(waits):
        return Safe("The devices are there; the program in the container ends. Read its last words:")
    return None


def _of_claim(report: PendingReport, waits: records.ContainerWaits) -> Safe:
    """What helps where words about a claim keep a container from being created."""
    missing = _UNPREPARED.search(waits.message)
    if missing is not None:
        text = (
            "The kubelet of {} has not prepared claim {} for this pod. With the bug kubernetes#135901 it prepares no "
            "further claim of a pod once it meets one that it has prepared for another pod. Upgrade the kubelet; until "
            "then start this pod before those that share one of its claims. If none is shared, delete the pod and "
            "create it again."
        )
        return fmt(text, report.node, missing["claim"])
    if _ONE_CONTAINER.search(waits.message):
        text = (
            "Its driver does not share a claim between containers: name the claim under resources.claims of one "
            "container only, or give each container a claim of its own, in whatever makes the pod."
        )
        return Safe(text)
    return Safe("These words are about a claim: the log of its driver at that time says what led to them.")


def has_way_out(report: PendingReport) -> bool:
    """Whether a change was tried that would do."""
    return any(remedy.verified for remedy in report.remedies)


def is_about_configuration(report: PendingReport) -> bool:
    """Whether a driver refuses what it is configured with, and where that stands is known."""
    said = report.causes[0].detail if report.causes else None
    named = isinstance(said, records.KubeletText) and _CONFIGURATION.search(said.detail or said.text)
    return report.configured is not None and bool(named)


def _driver(report: PendingReport, said: records.KubeletText) -> Safe | None:
    words, found = said.detail or said.text, report.configured
    if _GPU_INSTANCE.search(words):
        text = "Look for partitions that were made outside Kubernetes and take the room: nvidia-smi mig -lgi, on {}."
        return fmt("{}{}", fmt(text, report.node), Safe("") if has_way_out(report) else _made_again(report))
    if has_way_out(report):
        return None
    if (waits := domain_advice(report, said)) is not None:
        return waits
    if found is not None and is_about_configuration(report):
        return _corrected(found, words)
    if serves_one_pod(said):
        text = (
            "Give each pod a claim of its own: resourceClaimTemplateName in place of resourceClaimName in the template "
            "of the pods. This driver does not share a claim."
        )
        return Safe(text)
    if _CONFIGURATION.search(words):
        text = (
            "Correct the configuration of the claim, or of its class, that the driver refuses; a claim has to be "
            "created again for it. The kubelet tries again by itself."
        )
        return Safe(text)
    return _read_log()


def _made_again(report: PendingReport) -> Safe:
    """What a new pod in its place would get: the scheduler takes the first device that fits, and reads no events."""
    who = fmt("{} {} makes", report.owner.kind, report.owner.name) if report.owner is not None else Safe("you make")
    text = (
        " No change to the pod repairs it, and the one that {} in its place may get the same device again, as the "
        "scheduler does not know that it fails. Once the device is tainted (kubectl dra taint-device) or {} is "
        "cordoned, a new pod gets another device or node, if one is free."
    )
    return fmt(text, who, report.node)


def _corrected(found: ConfiguredIn, words: str) -> Safe:
    """Where to correct a configuration, and what has to be made anew for it; first what may be meant instead."""
    lead, missing = Safe("Correct"), _NOT_FOUND.search(words)
    if missing is not None:
        created = "Create {} {}; the kubelet tries again by itself. If another one is meant, correct"
        lead = fmt(created, missing["resource"], missing["name"])
    elif not found.field and _UNKNOWN_TO_IT.search(words) is not None:
        lead = Safe("Switch on in the driver what these words name (often a feature gate), or correct")
    what = fmt("{} {} in", lead, found.field) if found.field else lead
    where = fmt("{} {} of {} {}", what, found.path, found.ref.kind, found.ref.name)
    if found.ref.kind == "DeviceClass":
        text = "{}, then delete the pod and its claim and create both again: claims keep what they were given."
        return fmt(text, where)
    both = Safe("the template, then the pod" if found.ref.kind == "ResourceClaimTemplate" else "the pod and the claim")
    return fmt("{}. Specs of claims cannot be changed: delete {}, and create both again.", where, both)


def _read_log() -> Safe:
    text = (
        "Read the driver's log at the time of the event: it says what led to these words. The kubelet tries again by "
        "itself."
    )
    return Safe(text)
