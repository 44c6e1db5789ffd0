"""``kubectl dra taint-device`` with exactly the roles of deploy/rbac: who is evicted, and what is written, for real."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.e2e.conftest import OPERATOR, TENANT
from tests.e2e.roles import grant
from tests.e2e.situations import bound_to, clear, create, node_object, pod_object
from tests.kit.fake_api import write_kubeconfig
from tests.kit.recording_proxy import Fault, Proxy, recording
from tests.terminal import Terminal, terminal

pytestmark = pytest.mark.controlplane

RULES: Final = "resource.k8s.io/v1"
SPACE: Final = "e2e-taints"
DRIVER: Final = "taints.example.com"
DEVICE: Final = f"{DRIVER}/node-1/shared-0"
RESOURCE: Final = "example.com/shared"
NAME: Final = "taints-node-1-shared-0-link-"
STEPS: Final = "[t]wo steps, [a]ll at once, [N]othing?"
YES_NO: Final = "[y/N]"
# A moment in which the controllers would have acted, had they anything to do.
_QUIET_SECONDS: Final = 2.0
_TOLERATIONS: Final[dict[str, list[Object]]] = {
    "victim": [],
    "patient": [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
    "tolerant": [{"key": "link", "operator": "Exists", "effect": "NoExecute"}],
    "trapped": [{"key": "link", "operator": "Exists"}],
    "admin": [],
}
EVICTED: Final = {"victim", "trapped", "admin"}
EVERYBODY: Final = {*_TOLERATIONS, "extended", "bystander"}


def device_class(name: str, kind: str, **spec: Any) -> Object:
    expression = f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].kind == "{kind}"'
    return {
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


def claim(name: str, device_class_name: str, **exactly: Any) -> Object:
    request = {"name": "one", "exactly": {"deviceClassName": device_class_name, **exactly}}
    return {"kind": "ResourceClaim", "metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}


def device(name: str, kind: str, **fields: Any) -> Object:
    return {"name": name, "attributes": {"kind": {"string": kind}}, **fields}


def bring_about(client: Client) -> None:
    """One shared device with users of every kind, and one that somebody else has."""
    clear(client)
    if client.get("Namespace", SPACE) is None:
        label = {"resource.kubernetes.io/admin-access": "true"}
        create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE, "labels": label}}, "")
    create(client, node_object("node-1", cpu="64"), "")
    devices = [device("shared-0", "shared", allowMultipleAllocations=True), device("other-0", "other")]
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": "node-1", "devices": devices}
    create(client, {"kind": "ResourceSlice", "metadata": {"name": "taints-node-1"}, "spec": spec}, "")
    create(client, device_class("shared", "shared", extendedResourceName=RESOURCE), "")
    create(client, device_class("other", "other"), "")
    for name, tolerations in _TOLERATIONS.items():
        more = {"adminAccess": True} if name == "admin" else {}
        create(client, claim(name, "shared", tolerations=tolerations, **more), SPACE)
    create(client, claim("bystander", "other"), SPACE)
    time.sleep(0.5)
    for name in (*_TOLERATIONS, "bystander"):
        create(client, pod_object(name, claims=(name,)), SPACE)
    amounts = {RESOURCE: "1"}
    create(client, pod_object("extended", requests=amounts, limits=amounts), SPACE)
    for name in EVERYBODY:
        wait_for(lambda name=name: bound_to(client, SPACE, name), f"{name} is bound")  # type: ignore[misc]


def going(client: Client) -> set[str]:
    """The pods that somebody has deleted."""
    return {
        pod["metadata"]["name"] for pod in client.list("v1", "Pod", SPACE) if "deletionTimestamp" in pod["metadata"]
    }


def rules(client: Client) -> dict[str, Object]:
    return {rule["metadata"]["name"]: rule for rule in client.list(RULES, "DeviceTaintRule")}


@pytest.fixture(scope="module")
def _roles(plane: ControlPlane) -> None:
    """The operator has both roles, the tenant only that of viewers."""
    grant(plane.client(), "view", OPERATOR.name, TENANT.name)
    grant(plane.client(), "taint", OPERATOR.name)


@pytest.fixture
def staged(client: Client, _roles: None) -> Client:
    bring_about(client)
    return client


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    with recording(plane.server, plane.certificate) as recorder:
        yield recorder


class Plugin:
    """The command as the real kubectl runs it, through the recording proxy."""

    def __init__(self, plane: ControlPlane, proxy: Proxy, folder: Path) -> None:
        self._command = [str(plane.kubectl), "dra", "taint-device"]
        self._plane, self._proxy, self._folder = plane, proxy, folder

    def environment(self, user: str) -> dict[str, str]:
        config = write_kubeconfig(self._folder, self._proxy.url, {"token": self._plane.users[user].token})
        return {**plane_environment(self._plane, user), "KUBECONFIG": str(config), "NO_COLOR": "1"}

    def call(self, *arguments: str, user: str = OPERATOR.name) -> tuple[int, str, str]:
        """Without a terminal; ``-y`` counts as agreement."""
        if "-y" in arguments:
            self._proxy.confirmed()
        command = [*self._command, *arguments]
        environment = self.environment(user)
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL
        )
        return done.returncode, done.stdout, done.stderr

    @contextmanager
    def asking(self, *arguments: str) -> Iterator[Terminal]:
        """On a terminal."""
        with terminal([*self._command, *arguments], self.environment(OPERATOR.name)) as at:
            yield at

    def agree(self, at: Terminal, word: str, question: str = YES_NO) -> str:
        """Answer a question so that something is written."""
        shown = at.until(question)
        self._proxy.confirmed()
        at.type(word)
        return shown


@pytest.fixture
def plugin(plane: ControlPlane, proxy: Proxy, tmp_path: Path) -> Plugin:
    return Plugin(plane, proxy, tmp_path)


@contextmanager
def kubelet(client: Client) -> Iterator[None]:
    """Ends deleted pods, as the kubelet of their node would."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.2):
            for name in going(client):
                client.delete("v1", "Pod", name, SPACE)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def planned(plugin: Plugin, *words: str) -> dict[str, str]:
    """Fates by pod of a server's dry run."""
    code, out, err = plugin.call(*words, "--dry-run=server", "-o", "json")
    assert code == 0, err
    return {hit["pod"]: hit["fate"] for hit in json.loads(out)["hits"]}


def test_dry_runs_change_nothing(staged: Client, plugin: Plugin, proxy: Proxy) -> None:
    assert plugin.call(DEVICE, "link:NoSchedule", "-y")[0] == 0
    before = rules(staged)
    for words in (["ecc:NoExecute"], ["link=bad:NoExecute"], ["link-"]):
        for mode in ("client", "server"):
            code, out, err = plugin.call(DEVICE, *words, f"--dry-run={mode}")
            assert code == 0, err
            assert "Nothing was written" in out
    time.sleep(_QUIET_SECONDS)
    assert {name: rule["spec"] for name, rule in rules(staged).items()} == {n: r["spec"] for n, r in before.items()}
    assert going(staged) == set()
    assert [each.method for each in proxy.exchanges if each.dry] == ["POST", "POST", "PATCH", "DELETE"]
    assert [each.method for each in proxy.writes] == ["POST"]


def test_no_schedule_keeps_pods_and_refuses_new_claims_until_it_is_removed(
    staged: Client, plugin: Plugin, proxy: Proxy
) -> None:
    with plugin.asking(DEVICE, "link=flapping:NoSchedule") as at:
        shown = plugin.agree(at, "y")
        assert shown.startswith(f"Context fake ({proxy.url}), user someone\n")
        assert at.end()[0] == 0
    (rule,) = rules(staged).values()
    assert rule["metadata"]["name"].startswith(NAME)
    assert rule["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "kubectl-dra"}
    assert {entry["manager"] for entry in rule["metadata"]["managedFields"] if "subresource" not in entry} == {
        "kubectl-dra"
    }

    create(staged, claim("later", "shared"), SPACE)
    create(staged, claim("allowed", "shared", tolerations=_TOLERATIONS["trapped"]), SPACE)
    for name in ("later", "allowed"):
        create(staged, pod_object(name, claims=(name,)), SPACE)
    wait_for(lambda: bound_to(staged, SPACE, "allowed"), "a claim that tolerates the taint gets the device")
    time.sleep(_QUIET_SECONDS)
    assert bound_to(staged, SPACE, "later") == ""
    assert going(staged) == set()

    with plugin.asking(DEVICE, "link-") as at:
        plugin.agree(at, "y")
        assert at.end()[0] == 0
    assert rules(staged) == {}
    wait_for(lambda: bound_to(staged, SPACE, "later"), "the device is given away again")
    assert [each.method for each in proxy.writes] == ["POST", "DELETE"]


def test_no_execute_evicts_exactly_the_pods_that_were_named(staged: Client, plugin: Plugin, proxy: Proxy) -> None:
    fates = planned(plugin, DEVICE, "link=flapping:NoExecute")
    assert fates.pop("extended") == "uncertain"
    assert {name for name, fate in fates.items() if fate == "evicted"} == EVICTED
    assert {name: fate for name, fate in fates.items() if fate != "evicted"} == {
        "patient": "evictedLater",
        "tolerant": "kept",
    }
    with plugin.asking(DEVICE, "link=flapping:NoExecute") as at:
        plugin.agree(at, "t", STEPS)
        at.until(YES_NO)
        time.sleep(_QUIET_SECONDS)
        assert going(staged) == set(), "the first step evicts nobody"
        proxy.confirmed()
        at.type("y")
        assert at.end()[0] == 0
    wait_for(lambda: going(staged) == EVICTED, "the named pods are evicted")
    time.sleep(_QUIET_SECONDS)
    assert going(staged) == EVICTED
    victim = staged.get("Pod", "victim", SPACE)
    assert victim is not None
    reasons = {
        condition["reason"] for condition in victim["status"]["conditions"] if condition["type"] == "DisruptionTarget"
    }
    assert reasons == {"DeletionByDeviceTaintManager"}
    assert [each.method for each in proxy.writes] == ["POST", "PATCH"]
    (rule,) = rules(staged).values()
    assert rule["spec"]["taint"]["effect"] == "NoExecute"
    condition = wait_for(lambda: rules(staged)[rule["metadata"]["name"]].get("status"), "the rule has a status")[
        "conditions"
    ][0]
    assert condition["type"] == "EvictionInProgress"
    assert f"({condition['reason']})" in plugin.call("--list")[1]


EVERY_TOLERATION: Final[list[list[Object]]] = [
    [{"operator": "Exists", "effect": "NoExecute"}],
    [{"operator": "Exists"}],
    [{"key": "link", "value": "bad", "effect": "NoExecute"}],
    [{"key": "link", "value": "other", "effect": "NoExecute"}],
    [{"key": "link", "effect": "NoExecute"}],
    [{"key": "ecc", "operator": "Exists", "effect": "NoExecute"}],
    [{"key": "link", "operator": "Exists", "effect": "NoSchedule"}],
    [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
    [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -7}],
    [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 4}],
    [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}],
    [
        {"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600},
        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 4},
    ],
    [
        {"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
        {"operator": "Exists", "effect": "NoExecute"},
    ],
]


def test_every_toleration_is_read_as_the_controller_reads_it(staged: Client, plugin: Plugin) -> None:
    names = [f"t-{number}" for number in range(len(EVERY_TOLERATION))]
    for name, tolerations in zip(names, EVERY_TOLERATION, strict=True):
        create(staged, claim(name, "shared", tolerations=tolerations), SPACE)
        create(staged, pod_object(name, claims=(name,)), SPACE)
    for name in names:
        wait_for(lambda name=name: bound_to(staged, SPACE, name), f"{name} is bound")  # type: ignore[misc]
    code, out, err = plugin.call(DEVICE, "link=bad:NoExecute", "--dry-run=server", "-o", "json")
    assert code == 0, err
    hits = {hit["pod"]: hit for hit in json.loads(out)["hits"]}
    now = {name for name, hit in hits.items() if hit["fate"] == "evicted"}
    soon = {name for name, hit in hits.items() if hit["fate"] == "evictedLater" and hit["seconds"] == 4}
    assert plugin.call(DEVICE, "link=bad:NoExecute", "-y")[0] == 0
    wait_for(lambda: now <= going(staged), "those without a toleration are evicted")
    wait_for(lambda: now | soon <= going(staged), "those whose toleration ends are evicted")
    time.sleep(_QUIET_SECONDS)
    assert going(staged) == now | soon
    assert (len(now & set(names)), len(soon)) == (7, 2), "the test has cases of every kind"


def test_removal_ends_an_eviction_that_has_not_come_yet(staged: Client, plugin: Plugin) -> None:
    brief = [{"key": "link", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}]
    create(staged, claim("brief", "shared", tolerations=brief), SPACE)
    create(staged, pod_object("brief", claims=("brief",)), SPACE)
    wait_for(lambda: bound_to(staged, SPACE, "brief"), "brief is bound")
    assert plugin.call(DEVICE, "link:NoExecute", "-y")[0] == 0
    wait_for(lambda: going(staged) == EVICTED, "the named pods are evicted")
    code, _, err = plugin.call(DEVICE, "link-", "-y")
    assert code == 0, err
    assert f"no longer evicted  pod {SPACE}/brief" in err
    time.sleep(12)
    assert going(staged) == EVICTED, "what was done stays so, and nothing is added"


def test_who_arrives_between_preview_and_answer_is_shown_first(staged: Client, plugin: Plugin, proxy: Proxy) -> None:
    with plugin.asking(DEVICE, "link:NoExecute") as at:
        at.until(STEPS)
        create(staged, claim("late", "shared"), SPACE)
        create(staged, pod_object("late", claims=("late",)), SPACE)
        wait_for(lambda: bound_to(staged, SPACE, "late"), "late is bound")
        at.type("a")
        assert f"new: pod {SPACE}/late, evicted now" in at.until(STEPS)
        assert proxy.writes == []
        plugin.agree(at, "a", "")
        assert at.end()[0] == 0
    wait_for(lambda: going(staged) == {*EVICTED, "late"}, "also the pod that came late is evicted")


def test_observe_counts_what_the_plan_says_and_leaves_nothing(staged: Client, plugin: Plugin, proxy: Proxy) -> None:
    with plugin.asking(DEVICE, "link=flapping:NoExecute", "--observe") as at:
        plugin.agree(at, "y")
        at.until("The controller counts the same with NoExecute: 1 published device")
        assert rules(staged) == {}
        at.until(STEPS)
        at.type("n")
        assert at.end()[0] == 1
    assert [
        (each.method, (each.body or {}).get("spec", {}).get("taint", {}).get("effect")) for each in proxy.writes
    ] == [
        ("POST", "None"),
        ("DELETE", None),
    ]
    time.sleep(_QUIET_SECONDS)
    assert going(staged) == set()


def test_wait_ends_when_the_pods_are_gone(staged: Client, plugin: Plugin) -> None:
    staged.delete("v1", "Pod", "patient", SPACE)
    with kubelet(staged):
        code, out, err = plugin.call(DEVICE, "link:NoExecute", "-y", "--wait", "--timeout", "60s")
    assert code == 0, err
    assert out.endswith(" created\n")
    assert err.rstrip().endswith("3 of 3 pods gone")
    assert {pod["metadata"]["name"] for pod in staged.list("v1", "Pod", SPACE)} == {"tolerant", "extended", "bystander"}


def test_wait_times_out_and_names_who_is_left(staged: Client, plugin: Plugin) -> None:
    code, _, err = plugin.call(DEVICE, "link:NoExecute", "-y", "--wait", "--timeout", "4s")
    text = " ".join(err.split())
    assert code == 1
    assert "timed out after 4 s" in text
    assert f"{SPACE}/patient not evicted yet (tolerates it for 300 s)" in text
    assert f"{SPACE}/victim being deleted, but not ended by the kubelet" in text or f"{SPACE}/victim" in text


def test_another_value_starts_tolerations_anew(staged: Client, plugin: Plugin) -> None:
    assert plugin.call(DEVICE, "link:NoSchedule", "-y")[0] == 0
    (before,) = rules(staged).values()
    time.sleep(1.1)
    assert plugin.call(DEVICE, "link=worse:NoSchedule", "-y")[0] == 0
    (after,) = rules(staged).values()
    assert after["spec"]["taint"]["value"] == "worse"
    assert after["spec"]["taint"]["timeAdded"] > before["spec"]["taint"]["timeAdded"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


@pytest.mark.parametrize("hidden", [frozenset({"v1"}), frozenset({"v1", "v1beta2"})], ids=["v1beta2", "v1alpha3"])
def test_older_versions_of_the_api(staged: Client, plugin: Plugin, proxy: Proxy, hidden: frozenset[str]) -> None:
    proxy.hidden = hidden
    for words in (["link:NoSchedule"], ["link=bad:NoExecute"]):
        code, _, err = plugin.call(DEVICE, *words, "-y")
        assert code == 0, err
    wait_for(lambda: going(staged) == EVICTED, "the named pods are evicted")
    assert plugin.call(DEVICE, "link-", "-y")[0] == 0
    assert rules(staged) == {}
    version = {each.path.split("/")[3] for each in proxy.writes}
    assert version == {"v1beta2" if "v1beta2" not in hidden else "v1alpha3"}
    assert [each.method for each in proxy.writes] == ["POST", "PATCH", "DELETE"]


@pytest.mark.parametrize("fault", [Fault.SILENT_AFTER, Fault.FAILS_AFTER])
def test_a_lost_answer_does_not_double_the_rule(staged: Client, plugin: Plugin, proxy: Proxy, fault: Fault) -> None:
    proxy.fault = fault
    code, out, err = plugin.call(DEVICE, "link:NoSchedule", "-y", "--request-timeout", "5s")
    assert code == 0, err
    assert out.endswith(" created\n")
    assert "but it was done" in err
    assert len(rules(staged)) == 1
    assert [each.method for each in proxy.writes] == ["POST"]
    assert "is already there" in plugin.call(DEVICE, "link:NoSchedule", "-y")[1]


def test_the_viewers_role_is_not_enough(staged: Client, plugin: Plugin, proxy: Proxy) -> None:
    code, out, err = plugin.call(DEVICE, "link:NoExecute", "-y", user=TENANT.name)
    assert (code, out) == (1, "")
    assert 'cannot create resource "devicetaintrules"' in err
    assert rules(staged) == {}
    assert proxy.writes == []
    assert plugin.call(DEVICE, "link:NoExecute", "--dry-run=client", user=TENANT.name)[0] == 0
