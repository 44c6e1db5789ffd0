"""taint-device on the demo cluster behind a recording proxy: previews, questions, exactly the writes shown."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from copy import deepcopy
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from kubectl_dra.commands.app import run
from kubectl_dra.source.demo import CLUSTER
from tests.golden_files import check_golden
from tests.kit.clock import PassingClock
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.fake_rules import FakeCluster
from tests.kit.recording_proxy import Fault, Proxy, recording
from tests.terminal import Terminal, forked_terminal, terminal

pytestmark = pytest.mark.one_in(5)

NIC = "nic.example.com/rack-1/nic-3"
GPU = "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0"
NAME = "nic-rack-1-nic-3-link-1c01ba5019"
OBSERVER = "nic-rack-1-nic-3-link-observe-"
STEPS = "[t]wo steps, [a]ll at once, [N]othing?"
YES_NO = "[y/N]"
COUNTS = (
    "1 published device selected. 3 allocated devices selected. 2 pods would be evicted in 2 different namespaces "
    "if the effect was NoExecute. This information will not be updated again."
)
Interactive = Callable[..., AbstractContextManager[Terminal]]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cluster() -> Iterator[FakeCluster]:
    with running(FakeCluster()) as server:
        assert isinstance(server, FakeCluster)
        yield server


@pytest.fixture
def proxy(cluster: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with recording(cluster.url) as recorder:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, recorder.url)))
        yield recorder


@pytest.fixture
def clock() -> PassingClock:
    """Nothing in this process really waits; it is the time at which the demo cluster was recorded."""
    return PassingClock(datetime.fromisoformat(json.loads(CLUSTER.read_bytes())["taken"]))


@pytest.fixture
def call(proxy: Proxy, clock: PassingClock, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def called(*arguments: str) -> tuple[int, str, str]:
        if {"-y", "--yes"} & set(arguments):
            proxy.confirmed()
        code = run(["taint-device", *arguments], clock)
        out, err = capfd.readouterr()
        assert widest(out) <= 80 or "-o" in arguments
        return code, out, err

    return called


@pytest.fixture
def asking(proxy: Proxy) -> Interactive:
    """The command on a pseudo-terminal."""

    def start(*arguments: str, piped: bool = False) -> AbstractContextManager[Terminal]:
        if not piped:
            return forked_terminal(["taint-device", *arguments], os.environ)
        return terminal([sys.executable, "-m", "kubectl_dra", "taint-device", *arguments], os.environ, piped=True)

    return start


def agree(at: Terminal, proxy: Proxy, word: str, question: str = YES_NO) -> str:
    """Wait for a question, note in the log that it is answered with yes, and answer."""
    shown = at.until(question)
    proxy.confirmed()
    at.type(word)
    return shown


def widest(out: str) -> int:
    """The length of the longest line but commands, which are never broken."""
    return max((len(line) for line in out.splitlines() if not line.startswith("  kubectl ")), default=0)


def taint_of(cluster: FakeCluster, name: str = NAME) -> tuple[str, str, str]:
    taint = cluster.rules[name]["spec"]["taint"]
    return taint["key"], taint.get("value", ""), taint["effect"]


def written(proxy: Proxy) -> list[str]:
    return [f"{each.method} {each.path.rpartition('/')[2]}" for each in proxy.writes]


def newcomer(cluster: FakeCluster) -> None:
    """Another pod gets a share of nic-3."""
    claim, pod = deepcopy(cluster.find("ResourceClaim", "serve-1-net")), deepcopy(cluster.find("Pod", "serve-1"))
    claim["metadata"] |= {"name": "late-net", "uid": "late-claim"}
    claim["status"]["reservedFor"] = [{"resource": "pods", "name": "late", "uid": "late-pod"}]
    pod["metadata"] |= {"name": "late", "uid": "late-pod"}
    pod["spec"]["resourceClaims"] = [{"name": "net", "resourceClaimName": "late-net"}]
    pod["status"].pop("resourceClaimStatuses", None)
    cluster.add(claim)
    cluster.add(pod)


# --- plans that are only shown --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shared-device", [NIC, "link=flapping:NoExecute"]),
        ("no-schedule", [NIC, "link=flapping:NoSchedule"]),
        ("extended-resource", ["gpu.example.com/ip-192-168-171-24.ec2.internal/gpu-2", "ecc:NoExecute"]),
        ("claim-without-pod", ["gpu.example.com/ip-192-168-153-160.ec2.internal/gpu-5", "ecc:NoExecute"]),
        ("tainted-already", ["gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-7", "ecc=hot:NoExecute"]),
        ("several", [GPU, "gpu.example.com/gke-prod-h100-5f3a2b1c-x9zk/gpu-0", "ecc:NoExecute"]),
        ("match", ["--match", "device.driver == 'nic.example.com'", "link:NoExecute"]),
        ("failing-match", ["--match", "device.attributes['gpu.example.com'].nvlinkDomain == 1", "ecc:NoSchedule"]),
        ("remove", ["gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-7", "ecc-", "--force"]),
    ],
)
def test_a_plan_of_the_demo_cluster(capfd, name, words):
    assert run(["taint-device", *words, "--dry-run=client", "--from", "demo"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert widest(out) <= 80
    assert out.endswith("Nothing was written: this was a dry run.\n")
    check_golden(f"taint-device/{name}.txt", out)


def test_the_plan_of_a_clients_dry_run_has_the_object(capfd):
    assert (
        run(["taint-device", NIC, "link=flapping:NoExecute", "--dry-run=client", "-o", "yaml", "--from", "demo"]) == 0
    )
    plan = yaml.safe_load(capfd.readouterr().out)
    assert (plan["kind"], plan["outcomes"]) == ("TaintPlan", [])
    assert {hit["pod"] for hit in plan["hits"]} == {"serve-1", "nb", "monitor"}
    (rule,) = plan["objects"]
    assert (rule["apiVersion"], rule["kind"]) == ("resource.k8s.io/v1", "DeviceTaintRule")
    assert rule["metadata"] == {"name": NAME, "labels": {"app.kubernetes.io/managed-by": "kubectl-dra"}}
    assert rule["spec"] == {
        "deviceSelector": {"driver": "nic.example.com", "pool": "rack-1", "device": "nic-3"},
        "taint": {"key": "link", "value": "flapping", "effect": "NoExecute"},
    }


def test_a_live_dry_run_only_reads(call, proxy, cluster):
    before = deepcopy(cluster.rules)
    for mode in ("client", "server"):
        code, out, _ = call(NIC, "link=flapping:NoExecute", f"--dry-run={mode}")
        assert code == 0
        assert out.startswith(f"Context fake ({proxy.url}), user someone\n")
        assert "pod ml/serve-1" in out
    assert cluster.rules == before
    assert proxy.writes == []
    assert [each.method for each in proxy.exchanges if each.dry] == ["POST"], "the server's dry run alone"


def test_the_plan_as_a_document(call, proxy):
    code, out, _ = call(NIC, "link=flapping:NoExecute", "--dry-run=server", "-o", "json", "--text")
    plan = json.loads(out)
    assert (code, plan["kind"]) == (0, "TaintPlan")
    assert plan["target"]["context"] == "fake"
    assert [(write["verb"], write["name"]) for write in plan["writes"]] == [("create", NAME)]
    fates = {f"{hit['namespace']}/{hit['pod']}": (hit["fate"], hit["seconds"]) for hit in plan["hits"]}
    assert fates == {"ml/serve-1": ("evicted", None), "dev/nb": ("evictedLater", 300), "ops/monitor": ("kept", None)}
    assert plan["output"]["text"].startswith("Context fake")
    assert plan["missing"] == []


def test_who_is_impersonated_is_named(call):
    assert (
        ", user someone as alice\n"
        in call(NIC, "link:NoSchedule", "--dry-run=server", "--as", "alice")[1].partition("Will")[0]
    )


# --- writing on a terminal ------------------------------------------------------------------------------------------


def test_yes_writes_what_was_shown_and_nothing_else(asking, proxy, cluster):
    with asking(NIC, "link=flapping:NoSchedule") as at:
        shown = agree(at, proxy, "y")
        assert f"Will create DeviceTaintRule {NAME}" in shown
        assert "link=flapping:NoSchedule" in shown
        code, _, _ = at.end()
    before = [each for each in proxy.log[: proxy.log.index("confirmed")] if each.method != "GET"]
    assert [(each.method, each.dry) for each in before] == [("POST", True)], (
        "the server has seen it before the question"
    )
    assert before[0].body == proxy.writes[0].body
    assert code == 0
    assert written(proxy) == ["POST devicetaintrules"]
    assert proxy.writes[0].query == {"fieldManager": "kubectl-dra", "fieldValidation": "Strict"}
    assert taint_of(cluster) == ("link", "flapping", "NoSchedule")
    assert cluster.rules[NAME]["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "kubectl-dra"}


@pytest.mark.parametrize("word", ["", "n", "no", "x", "Y?"])
def test_anything_but_yes_writes_nothing(asking, proxy, cluster, word):
    before = deepcopy(cluster.rules)
    with asking(NIC, "link:NoSchedule") as at:
        at.until(YES_NO)
        at.type(word)
        code, _, shown = at.end()
    assert code == 1
    assert shown.endswith("Nothing was written.\n")
    assert proxy.writes == []
    assert cluster.rules == before


def test_the_second_reading_comes_after_the_answer(asking, proxy):
    with asking(NIC, "link:NoSchedule") as at:
        agree(at, proxy, "y")
        at.end()
    after = proxy.log[proxy.log.index("confirmed") :]
    paths = [each.path for each in after if not isinstance(each, str) and each.method == "GET"]
    assert {path.rpartition("/")[2] for path in paths} >= {
        "pods",
        "resourceclaims",
        "resourceslices",
        "devicetaintrules",
    }


def test_two_steps(asking, proxy, cluster):
    with asking(NIC, "link=flapping:NoExecute") as at:
        agree(at, proxy, "t", STEPS)
        second = at.until(YES_NO)
        assert taint_of(cluster) == ("link", "flapping", "NoSchedule"), "nobody is evicted before the second answer"
        assert f"Will change DeviceTaintRule {NAME}" in second
        assert "from link=flapping:NoSchedule to" in " ".join(second.split())
        assert "evicted now" in second
        proxy.confirmed()
        at.type("y")
        code, _, _ = at.end()
    assert code == 0
    assert written(proxy) == ["POST devicetaintrules", f"PATCH {NAME}"]
    assert proxy.writes[0].body["spec"]["taint"]["effect"] == "NoSchedule"
    assert proxy.writes[1].body["spec"]["taint"]["effect"] == "NoExecute"
    assert proxy.writes[1].body["metadata"]["resourceVersion"]
    assert taint_of(cluster) == ("link", "flapping", "NoExecute")


def test_two_steps_may_end_after_the_first(asking, proxy, cluster):
    with asking(NIC, "link=flapping:NoExecute") as at:
        agree(at, proxy, "t", STEPS)
        at.until(YES_NO)
        at.type("n")
        code, _, shown = at.end()
    assert code == 1
    assert written(proxy) == ["POST devicetaintrules"]
    assert taint_of(cluster)[2] == "NoSchedule"
    assert f"kubectl dra taint-device {NIC} link-" in shown


def test_an_interruption_between_the_steps_says_what_stays(asking, proxy, cluster):
    with asking(NIC, "link:NoExecute") as at:
        agree(at, proxy, "t", STEPS)
        at.until(YES_NO)
        at.interrupt()
        code, _, shown = at.end()
    assert code == 130
    assert written(proxy) == ["POST devicetaintrules"]
    assert f"kubectl dra taint-device {NIC} link-" in shown
    assert "Traceback" not in shown


def test_all_at_once(asking, proxy, cluster):
    with asking(NIC, "link=flapping:NoExecute") as at:
        agree(at, proxy, "a", STEPS)
        code, _, _ = at.end()
    assert code == 0
    assert written(proxy) == ["POST devicetaintrules"]
    assert taint_of(cluster)[2] == "NoExecute"


def test_nothing_is_the_default_of_the_steps(asking, proxy):
    with asking(NIC, "link=flapping:NoExecute") as at:
        at.until(STEPS)
        at.type("")
        assert at.end()[0] == 1
    assert proxy.writes == []


def test_an_interruption_at_the_question_writes_nothing(asking, proxy, cluster):
    with asking(NIC, "link:NoSchedule") as at:
        at.until(YES_NO)
        at.interrupt()
        code, _, shown = at.end()
    assert code == 130
    assert "Traceback" not in shown
    assert proxy.writes == []


def test_the_end_of_the_input_is_no_consent(asking, proxy):
    with asking(NIC, "link:NoSchedule") as at:
        at.until(YES_NO)
        at.type("\x04")
        assert at.end()[0] == 1
    assert proxy.writes == []


def test_a_pod_that_arrives_before_the_answer_means_a_second_preview(asking, proxy, cluster):
    with asking(NIC, "link=flapping:NoExecute") as at:
        at.until(STEPS)
        newcomer(cluster)
        at.type("a")
        again = at.until(STEPS)
        assert "new: pod ml/late, evicted now" in again
        assert "pod ml/late  " in again.partition("nothing was written")[2]
        assert proxy.writes == []
        proxy.confirmed()
        at.type("a")
        assert at.end()[0] == 0
    assert written(proxy) == ["POST devicetaintrules"]


def test_a_device_that_vanishes_before_the_answer_is_not_tainted(asking, proxy, cluster):
    with asking(NIC, "link:NoSchedule") as at:
        at.until(YES_NO)
        for item in cluster.items:
            if item["kind"] == "ResourceSlice" and item["spec"]["pool"]["name"] == "rack-1":
                item["spec"]["devices"] = [d for d in item["spec"]["devices"] if d["name"] != "nic-3"]
        at.type("y")
        code, _, shown = at.end()
    assert code == 1
    assert 'publishes no device "nic-3"' in shown
    assert proxy.writes == []


def test_several_devices_need_their_number_typed(asking, proxy, cluster):
    other = "nic.example.com/rack-1/nic-2"
    with asking(NIC, other, "link:NoSchedule") as at:
        at.until("to go on:")
        at.type("y")
        assert at.end()[0] == 1
    assert proxy.writes == []
    with asking(NIC, other, "link:NoSchedule") as at:
        agree(at, proxy, "2", "to go on:")
        assert at.end()[0] == 0
    assert written(proxy) == ["POST devicetaintrules"] * 2
    assert {each.body["spec"]["deviceSelector"]["device"] for each in proxy.writes} == {"nic-3", "nic-2"}


def test_a_match_needs_the_number_typed(asking, proxy, cluster):
    with asking("--match", "device.driver == 'nic.example.com'", "link:NoExecute") as at:
        at.until(STEPS)
        at.type("a")
        agree(at, proxy, "8", "to go on:")
        assert at.end()[0] == 0
    # Two pools whose devices all match: a rule for each, and the number is that of the devices.
    pools = [each.body["spec"]["deviceSelector"] for each in proxy.writes]
    assert pools == [{"driver": "nic.example.com", "pool": pool} for pool in ("rack-1", "rack-7")]
    assert all(each.method == "POST" for each in proxy.writes)


def test_another_effect_is_a_patch_with_its_own_preview(asking, proxy, cluster, call):
    assert call(NIC, "link=flapping:NoExecute", "-y")[0] == 0
    proxy.log.clear()
    with asking(NIC, "link=slow:NoSchedule") as at:
        shown = " ".join(agree(at, proxy, "y").split())
        assert "from link=flapping:NoExecute to link=slow:NoSchedule" in shown
        assert "no longer evicted pod dev/nb" in shown
        assert at.end()[0] == 0
    assert written(proxy) == [f"PATCH {NAME}"]
    assert taint_of(cluster) == ("link", "slow", "NoSchedule")


def test_removal(asking, proxy, cluster, call):
    assert call(NIC, "link=flapping:NoExecute", "-y")[0] == 0
    proxy.log.clear()
    with asking(NIC, "link-") as at:
        shown = agree(at, proxy, "y")
        assert f"Will delete DeviceTaintRule {NAME}" in shown
        assert "Pods that were evicted before stay so." in shown
        assert at.end()[0] == 0
    assert written(proxy) == [f"DELETE {NAME}"]
    assert proxy.writes[0].body["preconditions"].keys() == {"uid", "resourceVersion"}
    assert NAME not in cluster.rules


def test_results_in_the_formats_of_scripts(asking, proxy, cluster):
    with asking(NIC, "link:NoSchedule", "-o", "json", piped=True) as at:
        agree(at, proxy, "y")
        code, out, _ = at.end()
    plan = json.loads(out)
    assert (code, plan["kind"]) == (0, "TaintPlan")
    assert plan["outcomes"] == [{"rule": NAME, "verb": "create", "state": "done"}]


# --- without a terminal ---------------------------------------------------------------------------------------------


def test_without_a_terminal_it_refuses(call, proxy):
    code, out, err = call(NIC, "link:NoSchedule")
    assert (code, out) == (2, "")
    assert "no terminal" in err
    assert "-y" in err
    assert proxy.log == [], "not even read"


def test_y_previews_and_writes(call, proxy, cluster):
    code, out, err = call(NIC, "link:NoExecute", "-y")
    assert (code, out) == (0, f"DeviceTaintRule {NAME} created\n")
    assert "evicted now" in err
    assert written(proxy) == ["POST devicetaintrules"]
    assert call(NIC, "link:NoExecute", "-y", "-o", "name")[1] == f"devicetaintrule.resource.k8s.io/{NAME}\n"


def test_the_same_again_is_already_there(call, proxy, cluster):
    call(NIC, "link:NoExecute", "-y")
    proxy.log.clear()
    code, out, err = call(NIC, "link:NoExecute", "-y")
    assert (code, err) == (0, "")
    assert out.startswith(f"DeviceTaintRule {NAME} is already there")
    assert [each.method for each in proxy.exchanges if each.method != "GET"] == []


def test_y_gives_up_on_a_hit_list_that_never_holds_still(call, proxy, cluster):
    state = {"number": 0}
    pods = cluster.routes["/api/v1/pods"]

    def restless(request):
        state["number"] += 1
        cluster.find("Pod", "serve-1")["metadata"]["uid"] = f"uid-{state['number']}"
        cluster.find("ResourceClaim", "serve-1-net")["status"]["reservedFor"][0]["uid"] = f"uid-{state['number']}"
        return pods(request)

    cluster.routes["/api/v1/pods"] = restless
    code, out, err = call(NIC, "link:NoExecute", "-y")
    assert (code, out) == (1, "")
    assert "nothing was written" in err
    assert proxy.writes == []


# --- when writing fails ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Fault.FAILS_AFTER, Fault.CONFLICT_AFTER, Fault.SILENT_AFTER])
def test_an_error_after_the_write_does_not_double_the_rule(call, proxy, cluster, fault):
    proxy.fault = fault
    code, out, err = call(NIC, "link:NoSchedule", "-y", "--request-timeout", "2s")
    assert (code, out) == (0, f"DeviceTaintRule {NAME} created\n")
    assert "warning: " in err
    assert "but it was done" in err
    assert written(proxy) == ["POST devicetaintrules"]
    assert taint_of(cluster) == ("link", "", "NoSchedule")


@pytest.mark.parametrize("fault", [Fault.FAILS_AFTER, Fault.CONFLICT_AFTER, Fault.SILENT_AFTER])
@pytest.mark.parametrize(("word", "result"), [("link:NoExecute", "patched"), ("link-", "deleted")])
def test_an_error_after_a_change_or_deletion_is_found_to_be_done(call, proxy, fault, word, result):
    call(NIC, "link:NoSchedule", "-y")
    proxy.log.clear()
    proxy.fault = fault
    code, out, err = call(NIC, word, "-y", "--request-timeout", "2s")
    assert (code, out) == (0, f"DeviceTaintRule {NAME} {result}\n")
    assert "but it was done" in err
    assert len(proxy.writes) == 1


@pytest.mark.parametrize("word", ["link:NoExecute", "link-"])
def test_an_error_instead_of_a_change_or_deletion_says_what_is_true_now(call, proxy, cluster, word):
    call(NIC, "link:NoSchedule", "-y")
    proxy.log.clear()
    proxy.fault = Fault.FAILS
    code, _, err = call(NIC, word, "-y")
    assert code == 1
    assert f"now rule {NAME} says link:NoSchedule on {NIC}" in err
    assert len(proxy.writes) == 1
    assert taint_of(cluster)[2] == "NoSchedule"


def test_a_server_that_dies_with_the_write_leaves_it_open(call, proxy, cluster):
    proxy.fault = Fault.DIES
    code, _, err = call(NIC, "link:NoSchedule", "-y")
    assert code == 1
    assert f"whether rule {NAME} was written is not known" in err
    assert len(proxy.writes) == 1


@pytest.mark.parametrize(
    ("fault", "truth"),
    [
        (Fault.FAILS, f"now rule {NAME} does not exist"),
        (Fault.SILENT, f"now rule {NAME} does not exist, but the request may still arrive"),
    ],
)
def test_an_error_instead_of_the_write_says_what_is_true_now(call, proxy, cluster, fault, truth):
    proxy.fault = fault
    code, out, err = call(NIC, "link:NoSchedule", "-y", "--request-timeout", "2s")
    assert (code, out) == (1, "")
    assert truth in err
    assert written(proxy) == ["POST devicetaintrules"]
    assert NAME not in cluster.rules


def test_a_conflict_is_read_again_and_shown(asking, proxy, cluster, call):
    call(NIC, "link=flapping:NoSchedule", "-y")
    proxy.log.clear()
    with asking(NIC, "link=flapping:NoExecute") as at:
        at.until(YES_NO)
        cluster.rules[NAME]["spec"]["taint"]["value"] = "dead"
        proxy.fault = Fault.CONFLICT
        at.type("y")
        again = at.until(YES_NO)
        assert f"rule {NAME}: now link=dead:NoSchedule" in again
        assert proxy.writes == [], "a changed rule is seen by the second reading"
        proxy.confirmed()
        at.type("y")
        at.until("The rules were changed by someone else first: rule")
        agree(at, proxy, "y")
        assert at.end()[0] == 0
    assert written(proxy) == [f"PATCH {NAME}"] * 2, "the first met the conflict"
    assert taint_of(cluster) == ("link", "flapping", "NoExecute")


def test_a_failure_in_the_middle_of_several_says_how_far_it_came(asking, proxy, cluster):
    with asking(NIC, "nic.example.com/rack-1/nic-2", "link:NoSchedule") as at:
        at.until("to go on:")
        proxy.fault = Fault.FAILS
        proxy.confirmed()
        at.type("2")
        code, _, shown = at.end()
    assert code == 1
    assert "0 of 2 rules written" in " ".join(shown.split())
    assert written(proxy) == ["POST devicetaintrules"]


def test_the_server_refuses_in_the_dry_run(call, proxy, cluster):
    cluster.forbid(cluster.base, 'User "someone" cannot create resource "devicetaintrules"')
    code, out, err = call(NIC, "link:NoSchedule", "-y")
    assert (code, out) == (1, "")
    assert "devicetaintrules" in err
    assert proxy.writes == []


# --- whose rules ----------------------------------------------------------------------------------------------------


def test_rules_of_others_are_removed_only_by_force(call, proxy, cluster):
    gpu = "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-7"
    code, _, err = call(gpu, "ecc-", "-y")
    assert code == 1
    assert "rule ecc-errors, which this program did not make" in err
    assert proxy.writes == []
    code, out, err = call(gpu, "ecc-", "-y", "--force")
    assert (code, out) == (0, "DeviceTaintRule ecc-errors deleted\n")
    assert "another owner's DeviceTaintRule ecc-errors" in err


def test_a_wider_rule_of_somebody_else_names_everybody_that_it_frees(call, cluster):
    selector = cluster.rules["ecc-errors"]["spec"]["deviceSelector"]
    del selector["device"]
    code, _, err = call("gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-7", "ecc-", "--force", "-y")
    shown = " ".join(err.split())
    assert code == 0
    assert "every device of driver gpu.example.com, pool gke-prod-h100-5f3a2b1c-k4tq" in shown
    assert "(8 of 8 in gke-prod-h100-5f3a2b1c-k4tq) are open to new claims again" in shown
    assert "pod ml/serve-0" in shown


def test_a_rule_of_somebody_else_under_our_name_is_left_alone(call, proxy, cluster):
    cluster.rules[NAME] = deepcopy(cluster.rules["ecc-errors"])
    cluster.rules[NAME]["metadata"]["name"] = NAME
    code, _, err = call(NIC, "link:NoSchedule", "-y")
    assert code == 1
    assert NAME in err
    assert proxy.writes == []


def test_a_widened_rule_is_not_ours_any_more(call, proxy, cluster):
    call(NIC, "link:NoSchedule", "-y")
    proxy.log.clear()
    del cluster.rules[NAME]["spec"]["deviceSelector"]["device"]
    assert call(NIC, "link:NoExecute", "-y")[0] == 1
    assert call(NIC, "link-", "-y")[0] == 1
    assert proxy.writes == []


def test_removal_of_one_effect_only(call, cluster):
    call(NIC, "link:NoSchedule", "-y")
    assert call(NIC, "link:NoExecute-", "-y")[0] == 1
    assert NAME in cluster.rules
    assert call(NIC, "link:NoSchedule-", "-y")[0] == 0
    assert NAME not in cluster.rules


# --- observing and waiting ------------------------------------------------------------------------------------------


def test_observe_adds_a_rule_with_effect_none_and_its_deletion(asking, proxy, cluster):
    cluster.counts = COUNTS
    with asking(NIC, "link=flapping:NoExecute", "--observe") as at:
        shown = agree(at, proxy, "y")
        assert "link=flapping:None" in shown
        at.until("The controller counts the same")
        assert list(cluster.rules) == ["ecc-errors"], "removed before the next question"
        agree(at, proxy, "a", STEPS)
        assert at.end()[0] == 0
    methods = [each.method for each in proxy.writes]
    assert methods == ["POST", "DELETE", "POST"]
    assert [each.body["spec"]["taint"]["effect"] for each in proxy.writes if each.method == "POST"] == [
        "None",
        "NoExecute",
    ]
    assert proxy.writes[1].path.rpartition("/")[2].startswith(OBSERVER)
    assert set(cluster.rules) == {"ecc-errors", NAME}


def test_observe_can_be_declined(asking, proxy):
    with asking(NIC, "link:NoExecute", "--observe") as at:
        at.until(YES_NO)
        at.type("n")
        assert at.end()[0] == 1
    assert proxy.writes == []


def test_a_controller_that_counts_otherwise_stops_an_unattended_call(call, proxy, cluster):
    cluster.counts = COUNTS.replace(
        "2 pods would be evicted in 2 different namespaces", "3 pods would be evicted in 1 namespace"
    )
    code, out, err = call(NIC, "link:NoExecute", "--observe", "-y")
    assert (code, out) == (1, "")
    assert "The controller counts otherwise than this plan" in err
    assert [each.method for each in proxy.writes] == ["POST", "DELETE"]
    assert list(cluster.rules) == ["ecc-errors"]


def test_an_interruption_while_counting_still_removes_the_rule(asking, proxy, cluster):
    with asking(NIC, "link:NoExecute", "--observe") as at:
        agree(at, proxy, "y")
        while not any(name.startswith(OBSERVER) for name in list(cluster.rules)):
            time.sleep(0.01)
        at.interrupt()
        assert at.end()[0] == 130
    assert list(cluster.rules) == ["ecc-errors"]


def test_wait_follows_the_pods(asking, proxy, cluster):
    with asking(NIC, "link:NoExecute", "--wait") as at:
        agree(at, proxy, "a", STEPS)
        at.until("0 of 2 pods gone, 2 not evicted yet")
        cluster.find("Pod", "serve-1")["metadata"]["deletionTimestamp"] = "2026-11-21T12:00:00Z"
        at.until("0 of 2 pods gone, 1 being deleted, 1 not evicted yet")
        cluster.items.remove(cluster.find("Pod", "serve-1"))
        cluster.find("Pod", "nb")["metadata"]["uid"] = "a successor of the same name"
        at.until("2 of 2 pods gone")
        assert at.end()[0] == 0


def test_a_controller_that_does_not_count_is_waited_for_in_vain(call, proxy, cluster, clock):
    cluster.counts = None
    code, out, err = call(NIC, "link:NoExecute", "--observe", "-y")
    assert (code, out) == (1, "")
    assert 20 <= clock.slept < 21
    assert "The controller has not counted: is it running" in err
    assert [each.method for each in proxy.writes] == ["POST", "DELETE"]
    assert list(cluster.rules) == ["ecc-errors"]


def test_wait_times_out_with_who_is_left(call, cluster, clock):
    cluster.find("Pod", "serve-1")
    code, out, err = call(NIC, "link:NoExecute", "--wait", "--timeout", "1m", "-y")
    assert (code, out) == (1, f"DeviceTaintRule {NAME} created\n")
    assert 60 <= clock.slept < 62
    assert "timed out after 60 s" in err
    assert "dev/nb" in err
    assert "ml/serve-1" in err


# --- old servers and wrong words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1beta2", "v1alpha3"])
def test_older_versions_of_the_rule(version, tmp_path, monkeypatch, capfd):
    with running(FakeCluster(version=version)) as cluster, recording(cluster.url) as proxy:
        assert isinstance(cluster, FakeCluster)
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, proxy.url)))
        if version == "v1alpha3":
            cluster.routes["/version"] = type(cluster.routes["/version"])(
                {"major": "1", "minor": "33", "gitVersion": "v1.33.1"}
            )
        proxy.confirmed()
        assert run(["taint-device", NIC, "link:NoExecute", "-y"]) == 0
        err = capfd.readouterr().err
        assert proxy.writes[0].path == f"/apis/resource.k8s.io/{version}/devicetaintrules"
        assert proxy.writes[0].body["apiVersion"] == f"resource.k8s.io/{version}"
        assert ("neither effect None nor a status" in " ".join(err.split())) is (version == "v1alpha3")
        if version == "v1alpha3":
            assert run(["taint-device", NIC, "ecc:NoExecute", "-y", "--observe", "--dry-run=none"]) == 1
            assert "no effect None" in capfd.readouterr().err
            assert len(proxy.writes) == 1


def test_a_server_without_rules(call, proxy, cluster):
    cluster.serve_versions({"v1": ["resourceclaims", "resourceslices"]})
    code, out, err = call(NIC, "link:NoSchedule", "-y")
    assert (code, out) == (1, "")
    assert "does not serve DeviceTaintRules" in err
    assert proxy.writes == []


@pytest.mark.parametrize("path", ["/api/v1/pods", "/apis/resource.k8s.io/v1/resourceclaims"])
def test_nobody_is_tainted_on_a_partial_view(call, proxy, cluster, path):
    cluster.forbid(path)
    code, out, err = call(NIC, "link:NoExecute", "-y")
    assert (code, out) == (1, "")
    assert path.rpartition("/")[2] in err
    assert proxy.writes == []


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        ([], 2, "name a device and a taint"),
        ([NIC], 2, "no taint"),
        (["link:NoSchedule"], 2, "no device"),
        (["nic-3", "link:NoSchedule"], 1, "it may be nic.example.com/rack-1/nic-3, nic.example.com/rack-7/nic-3"),
        (["rack-1/nic-3", "link:NoSchedule"], 1, "it may be nic.example.com/rack-1/nic-3\n"),
        (["rack-1/nic-3", "link-"], 1, "not the full name"),
        (["nothing", "link:NoSchedule"], 1, "not the full name"),
        (["nic.example.com/rack-1/nic_3", "link:NoSchedule"], 2, "can't be a device"),
        (["nic.example.com/rack-1/nic-33", "link:NoSchedule"], 1, 'publishes no device "nic-33", did you mean "nic-3"'),
        (["nic.example.com/rack-9/nic-3", "link:NoSchedule"], 1, 'pool "nic.example.com/rack-9" not found, did you'),
        (["nic.example.com//nic-3", "link:NoSchedule"], 2, "is not a valid device name"),
        (["/nic-3", "link:NoSchedule"], 2, "is not a valid device name"),
        (["nic.example.com/rack-1/", "link:NoSchedule"], 2, "is not a valid device name"),
        ([NIC, "link"], 2, "names no effect"),
        ([NIC, "link:"], 2, "names no effect"),
        ([NIC, ":NoSchedule"], 2, "can't be the key"),
        ([NIC, "li nk:NoSchedule"], 2, "can't be the key"),
        ([NIC, "link=a b:NoSchedule"], 2, "can't be the value"),
        ([NIC, f"link={'x' * 64}:NoSchedule"], 2, "63"),
        ([NIC, "link:noschedule"], 2, 'did you mean "NoSchedule"'),
        ([NIC, "link:PreferNoSchedule"], 2, "is not a valid effect"),
        ([NIC, "link:None"], 2, "--observe"),
        ([NIC, "a:b:c"], 2, "is not a valid taint"),
        ([NIC, "link-"], 1, 'has no taint "link"'),
        (["nic.example.com/rack-7/nic-3", "link-"], 1, "only the driver can remove it"),
        ([NIC, "link:NoSchedule", "--force"], 2, "--force"),
        ([NIC, "link-", "--wait"], 2, "--wait"),
        ([NIC, "link-", "--observe"], 2, "--observe"),
        ([NIC, "link:NoExecute", "--observe", "--dry-run=server"], 2, "dry run"),
        ([NIC, "link:NoExecute", "--wait", "--dry-run=client"], 2, "dry run"),
        ([NIC, GPU, "link:NoSchedule"], 2, "-y is for one device"),
        ([NIC, GPU, "link:NoSchedule", "--observe"], 2, "one device"),
        (["--match", "true", "link:NoSchedule"], 2, "-y is for one device"),
        (["--match", "true", NIC, "link:NoSchedule"], 2, "cannot be combined"),
        (["--match", "device.nope", "link:NoSchedule", "--dry-run=client"], 2, "--match"),
        (["--match", "false", "link:NoSchedule", "--dry-run=client"], 1, "selects none of"),
        (["--list", NIC], 2, "--list"),
        ([NIC, "link:NoSchedule", "--dry-run=maybe"], 2, "maybe"),
    ],
)
def test_wrong_words_write_nothing(call, proxy, cluster, words, code, what):
    before = deepcopy(cluster.rules)
    got, out, err = call(*words, *([] if "--list" in words or any("dry-run" in word for word in words) else ["-y"]))
    assert (got, out) == (code, "")
    assert err.startswith("error: ")
    assert what in err
    # A selector is shown with the place of its error.
    assert len(err.splitlines()) <= (4 if "device.nope" in words else 2)
    assert proxy.writes == []
    assert cluster.rules == before


@pytest.mark.parametrize(
    "words",
    [
        [NIC, "link:NoSchedule"],
        [NIC, "link:NoSchedule", "-y"],
        [NIC, "link:NoSchedule", "--dry-run=server"],
        [NIC, "link:NoExecute", "-y", "--observe"],
        [NIC, "link:NoExecute", "-y", "--wait"],
        [NIC, "link-", "-y", "--force"],
        ["--match", "true", "link:NoSchedule"],
    ],
)
@pytest.mark.parametrize("source", ["demo", str(CLUSTER)])
def test_from_sends_nothing(call, proxy, words, source):
    code, out, err = call(*words, "--from", source)
    assert (code, out) == (2, "")
    assert "error: " in err
    assert proxy.exchanges == []


def test_hostile_names_are_shown_and_not_obeyed(capfd, tmp_path):
    items = json.loads(CLUSTER.read_bytes())
    for item in items["items"]:
        if item["metadata"]["name"] in ("serve-1", "serve-1-net"):
            item["metadata"]["name"] += "\x1b[2J\u202e"
            for entry in item["spec"].get("resourceClaims", ()):
                if entry.get("resourceClaimName") == "serve-1-net":
                    entry["resourceClaimName"] += "\x1b[2J\u202e"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    for arguments in ([NIC, "link:NoExecute", "--dry-run=client"], ["--list"], [f"{NIC}\x1b", "l:NoExecute"]):
        run(["taint-device", *arguments, "--from", str(path)])
        out, err = capfd.readouterr()
        assert not {"\x1b", "\u202e"} & set(out + err)
    assert run(["taint-device", NIC, "link:NoExecute", "--dry-run=client", "--from", str(path)]) == 0
    assert "serve-1\\u{1b}[2J\\u{202e}" in "".join(capfd.readouterr().out.split())


# --- the list -------------------------------------------------------------------------------------------------------


def test_list(capfd):
    assert run(["taint-device", "--list", "--from", "demo"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    check_golden("taint-device/list.txt", out)


def test_list_of_a_live_cluster_shows_whom_rules_hit_and_what_the_controller_says(call, proxy, cluster):
    call(NIC, "link:NoExecute", "-y")
    condition = {"type": "EvictionInProgress", "status": "True", "reason": "PodsPendingEviction"}
    cluster.rules[NAME]["status"] = {
        "conditions": [{**condition, "message": "2 pods need to be evicted in 2 different namespaces."}]
    }
    proxy.log.clear()
    code, out, _ = call("--list")
    assert code == 0
    assert "PodsPendingEviction" in out
    assert "evicted now" in out
    assert {each.method for each in proxy.exchanges} == {"GET"}
    _, out, _ = call("--list", "-o", "json")
    rows = {row["taint"]["rule"]: row for row in json.loads(out)["items"]}
    assert rows[NAME]["own"] is True
    assert rows["ecc-errors"]["own"] is False
    assert {hit["fate"] for hit in rows[NAME]["hits"]} == {"evicted", "evictedLater", "kept"}
    assert call("--list", "-o", "name")[1].splitlines() == [
        "devicetaintrule.resource.k8s.io/ecc-errors",
        f"devicetaintrule.resource.k8s.io/{NAME}",
    ]
