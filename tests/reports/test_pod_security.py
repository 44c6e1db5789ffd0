"""Pod Security in simulate and capacity: a controller whose pods its namespace refuses makes none of them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from kubectl_dra.api.admission.pod_security import Level, enforced, violation
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.model.features import features
from kubectl_dra.output.capacity.page import capacity_summary
from kubectl_dra.reports.base import Fits
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.reports.test_admission import room
from tests.reports.test_simulated_files import NS, a_pod, cluster, page, template, thing
from tests.reports.test_strangers import deployment, simulated

LABEL = "pod-security.kubernetes.io/enforce"
#: What level restricted wants of a pod and of its container.
POD_CONTEXT = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CONTEXT = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
PLAIN = (
    'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set '
    'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "main" must set '
    'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "main" must set '
    'securityContext.runAsNonRoot=true), seccompProfile (pod or container "main" must set '
    'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
)


def namespace(**labels: str) -> dict[str, Any]:
    found = {f"{LABEL}{key.replace('_', '-')}": value for key, value in labels.items()}
    return build.namespace(NS, **found)


def restricted(body: dict[str, Any]) -> dict[str, Any]:
    """A pod or a workload whose pods level restricted admits."""
    body = deepcopy(body)
    spec = body["spec"] if body["kind"] == "Pod" else body["spec"]["template"]["spec"]
    spec["securityContext"] = POD_CONTEXT
    for each in spec["containers"]:
        each["securityContext"] = CONTEXT
    return body


JOB = thing("batch/v1", "Job", {"parallelism": 2, "completions": 2, "template": deployment()["spec"]["template"]})
JOB["spec"]["template"] = {
    **JOB["spec"]["template"],
    "spec": {**JOB["spec"]["template"]["spec"], "restartPolicy": "Never"},
}


@pytest.mark.parametrize("body", [JOB, deployment(2)], ids=["Job", "Deployment"])
def test_pods_that_the_namespace_refuses_are_never_made(body: dict[str, Any]) -> None:
    world = cluster(namespace(**{"": "restricted"}))
    report = simulated(template("one"), body, world=world)
    assert report.fits is Fits.NO
    assert report.pods[0].refused == (PLAIN,)
    told = page(report)
    assert f"{body['kind']} ml/w: its pods would be refused: {PLAIN}" in told
    assert f"Change what these words list in the pod template of {body['kind']} w, or ask whoever manages" in told
    assert "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}" in told
    counted = room(template("one"), body, world=world)
    assert counted.bad
    assert f"would be refused: {PLAIN}." in " ".join(capacity_summary(counted).split())
    assert simulated(template("one"), restricted(body), world=world).fits is Fits.YES
    assert simulated(template("one"), body, world=cluster(namespace(**{"": "baseline"}))).fits is Fits.YES
    assert simulated(template("one"), body, world=cluster(namespace(_warn="restricted"))).fits is Fits.YES


def test_a_bare_pod_and_a_namespace_of_the_files() -> None:
    files = namespace(**{"": "restricted"}), template("one"), a_pod("p", templates=["one"])
    report = simulated(*files)
    (refused,) = [each.refused for each in report.manifests if each.object.kind == "Pod"]
    assert refused == (f'pods "p" is forbidden: {PLAIN}',)
    assert "Change what these words list in Pod p, or ask" in page(report)
    assert simulated(*files[:2], restricted(files[2])).fits is Fits.YES


def test_of_pods_whose_containers_a_program_makes_nothing_is_said() -> None:
    """What an operator sets by itself is not known: the pods may be admitted."""
    entries = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    machine = thing("kubevirt.io/v1", "VirtualMachineInstance", {"domain": {}, "resourceClaims": entries})
    report = simulated(template("one"), machine, world=cluster(namespace(**{"": "restricted"})))
    assert [each.refused for each in report.pods] == [()]
    text = "Whether Pod Security admits the pods of VirtualMachineInstance ml/w was not checked: namespace ml enforces"
    assert f"{text} level restricted, and their controller makes their containers." in page(report)
    assert text not in page(simulated(template("one"), machine))


def unread() -> Any:
    """A cluster whose namespaces may not be read."""
    reads = tuple(each for each in facts.evidence().reads if each.kind != "Namespace")
    evidence = Evidence((*reads, Read("Namespace", coverage=Coverage.FORBIDDEN)), server_version=(1, 37))
    gpus = build.slice_("node-1", build.device("gpu-0"), build.device("gpu-1"))
    there = [build.device_class(), build.node(cpu="64"), gpus]
    return ClusterState(facts.inventory(there), evidence, features(), CLOCK)


def test_a_namespace_that_could_not_be_read_may_refuse_the_pods() -> None:
    told = "Namespace ml could not be read: if it enforces level {} of Pod Security, "
    job = page(simulated(template("one"), JOB, world=unread()))
    assert told.format("restricted") + "the pods of Job ml/w are refused." in job
    bare = a_pod("p", templates=["one"], hostPID=True)
    assert told.format("baseline or restricted") + "Pod ml/p is refused." in page(
        simulated(template("one"), bare, world=unread())
    )
    assert "Pod Security" not in page(simulated(template("one"), restricted(JOB), world=unread()))
    assert "Pod Security" not in page(simulated(template("one"), JOB))
    files = namespace(**{"": "baseline"}), template("one"), JOB
    assert "Pod Security" not in page(simulated(*files, world=unread()))


@pytest.mark.parametrize(
    ("labels", "level"),
    [
        ({}, None),
        ({"": "privileged"}, None),
        ({"": "baseline"}, Level("baseline")),
        ({"": "Baseline"}, Level("restricted")),
        ({"": "restricted", "_version": "v1.25"}, Level("restricted", 25)),
        ({"": "restricted", "_version": "v1.025"}, Level("restricted")),
        ({"": "restricted", "_version": "1.25"}, Level("restricted")),
    ],
)
def test_the_level_of_a_namespace(labels: dict[str, str], level: Level | None) -> None:
    """Upstream: api/helpers.go, PolicyToEvaluate: words that it cannot read are the strictest."""
    found = namespace(**labels)["metadata"].get("labels", {})
    assert enforced(found) == level


def pod(context: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A pod that level restricted admits, but for what is given."""
    container = {"name": "main", "image": "x", "securityContext": CONTEXT | (context or {})}
    container |= spec.pop("container", {})
    annotations = spec.pop("annotations", {})
    return {
        "metadata": {"annotations": annotations},
        "spec": {"securityContext": POD_CONTEXT | spec.pop("own", {}), "containers": [container], **spec},
    }


NFS = {"server": "s", "path": "/p"}
RULES = [
    (
        "baseline",
        pod({"appArmorProfile": {"type": "Unconfined"}}),
        'AppArmor profile (container "main" must not set AppArmor profile type to "Unconfined")',
    ),
    (
        "baseline",
        pod({"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}),
        'non-default capabilities (container "main" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
    ),
    ("baseline", pod(hostPID=True, hostIPC=True), "host namespaces (hostPID=true, hostIPC=true)"),
    ("baseline", pod(volumes=[{"name": "dev", "hostPath": {"path": "/dev"}}]), 'hostPath volumes (volume "dev")'),
    (
        "baseline",
        pod(container={"ports": [{"containerPort": 80, "hostPort": 8080}]}),
        'hostPort (container "main" uses hostPort 8080)',
    ),
    (
        "baseline",
        pod(hostNetwork=True, container={"ports": [{"containerPort": 80}]}),
        'host namespaces (hostNetwork=true), hostPort (container "main" uses hostPort 80)',
    ),
    (
        "baseline",
        pod(container={"livenessProbe": {"httpGet": {"host": "a.b"}}}),
        'probe or lifecycle host (container "main" uses probe or lifecycle host "a.b")',
    ),
    (
        "baseline",
        pod({"privileged": True}),
        'privileged (container "main" must not set securityContext.privileged=true)',
    ),
    (
        "baseline",
        pod({"procMount": "Unmasked"}),
        'procMount (container "main" must not set securityContext.procMount to "Unmasked")',
    ),
    (
        "baseline",
        pod(own={"seLinuxOptions": {"type": "spc_t", "user": "u"}}),
        'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set)',
    ),
    (
        "baseline",
        pod(own={"seccompProfile": {"type": "Unconfined"}}),
        'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
    ("baseline", pod(own={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}), "forbidden sysctls (kernel.msgmax)"),
    (
        "baseline",
        pod({"windowsOptions": {"hostProcess": True}}),
        'hostProcess (container "main" must not set securityContext.windowsOptions.hostProcess=true)',
    ),
    (
        "restricted",
        pod({"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}}),
        'unrestricted capabilities (container "main" must not include "CHOWN" in securityContext.capabilities.add)',
    ),
    (
        "restricted",
        pod(
            volumes=[
                {"name": "n", "nfs": {"server": "s", "path": "/p"}},
                {"name": "e"},
                {"name": "h", "hostPath": {"path": "/d"}},
            ]
        ),
        'restricted volume types (volumes "n", "h" use restricted volume types "hostPath", "nfs")',
    ),
    (
        "restricted",
        pod({"runAsNonRoot": False}),
        'runAsNonRoot != true (container "main" must not set securityContext.runAsNonRoot=false)',
    ),
    ("restricted", pod({"runAsUser": 0}), 'runAsUser=0 (container "main" must not set runAsUser=0)'),
    (
        "restricted",
        pod({"seccompProfile": {"type": "Unconfined"}}),
        'seccompProfile (container "main" must not set securityContext.seccompProfile.type to "Unconfined")',
    ),
]


@pytest.mark.parametrize(("level", "body", "told"), RULES)
def test_each_rule_in_the_words_of_the_server(level: str, body: dict[str, Any], told: str) -> None:
    """Upstream: policy/check_*.go."""
    assert violation(Level(level), 37, body).removeprefix(f'violates PodSecurity "{level}:latest": ').removeprefix(
        "forbidden "
    ) in (told, told.removeprefix("forbidden "))
    if level == "restricted":
        assert not violation(Level("baseline"), 37, body) or "hostPath" in told or "Unconfined" in told


def test_a_pod_that_keeps_all_rules() -> None:
    assert not violation(Level("restricted"), 37, pod())
    assert not violation(Level("restricted"), 37, pod(volumes=[{"name": "e"}, {"name": "c", "configMap": {}}]))


def test_rules_of_a_version_are_those_that_it_had() -> None:
    """Upstream: MinimumVersion of each check; a version that the server does not know yet is its own."""
    user = pod({"runAsUser": 0, "procMount": "Unmasked"}, hostUsers=False)
    assert not violation(Level("baseline"), 37, user)
    assert "procMount" in violation(Level("baseline", 34), 37, user)
    assert "runAsUser" not in violation(Level("restricted"), 37, user)
    assert "runAsUser=0" in violation(Level("restricted", 34), 37, user)
    probe = pod(container={"readinessProbe": {"tcpSocket": {"host": "h"}}})
    assert not violation(Level("baseline", 33), 37, probe)
    assert not violation(Level("baseline", 40), 33, probe)
    slow = pod(own={"sysctls": [{"name": "net.ipv4.tcp_notsent_lowat"}]})
    assert violation(Level("baseline", 36), 37, slow)
    assert not violation(Level("baseline"), 37, slow)
    windows = {"spec": {"os": {"name": "windows"}, "containers": [{"name": "main"}]}}
    assert "runAsNonRoot" in violation(Level("restricted"), 37, windows)
    assert "seccompProfile" not in violation(Level("restricted"), 37, windows)
    assert "seccompProfile" in violation(Level("restricted", 24), 37, windows)


@pytest.mark.parametrize("wrong", [None, 1, "x", [], [1], {"a": 1}, True])
def test_values_of_any_type_are_read(wrong: Any) -> None:
    fields = ("securityContext", "containers", "initContainers", "volumes", "os", "hostUsers")
    for level in ("baseline", "restricted"):
        for field in fields:
            violation(Level(level), 37, {"metadata": wrong, "spec": {**pod()["spec"], field: wrong}})
        for field in ("securityContext", "ports", "livenessProbe", "lifecycle", "name"):
            violation(Level(level), 37, pod(container={field: wrong}))
        contexts = ("capabilities", "seccompProfile", "seLinuxOptions", "procMount", "runAsUser", "windowsOptions")
        for field in (*contexts, "appArmorProfile", "sysctls"):
            json.dumps(violation(Level(level), 37, pod({field: wrong}, own={field: wrong})))
