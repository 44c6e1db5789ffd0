"""Work without pods in the terminal UI: that there is some, why, and the words that lead to it."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.tui.typed_words import TypedObject, object_of
from tests.commands.test_waiting_work import ending, refused_set, work
from tests.kit import build
from tests.tui.support import LARGE, SMALL, demo_app, file_app, play

pytestmark = pytest.mark.one_in(3)
NODE = {"apiVersion": "v1", **build.node("node-a")}


def of_workload(pod, kind, name, version="apps/v1"):
    pod["metadata"]["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": name, "controller": True}]
    return {"apiVersion": "v1", **pod}


@pytest.fixture
def app_of(tmp_path):
    def made(*objects):
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}), encoding="utf-8")
        return file_app(path)

    return made


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("trainer-0", ("Pod", "", "trainer-0")),
        ("ml/trainer-0", ("Pod", "ml", "trainer-0")),
        ("trainer-0 -n ml", ("Pod", "ml", "trainer-0")),
        ("-n ml trainer-0", ("Pod", "ml", "trainer-0")),
        ("pod/trainer-0 --namespace=ml", ("Pod", "ml", "trainer-0")),
        ("pod trainer-0 -n=ml", ("Pod", "ml", "trainer-0")),
        ("claim/gpu -n ml", ("ResourceClaim", "ml", "gpu")),
        ("deploy/emb -n ml", ("Deployment", "ml", "emb")),
        ("sts emb", ("StatefulSet", "", "emb")),
        ("jobset/x", ("JobSet", "", "x")),
        ("podgroup/g -n ml", ("PodGroup", "ml", "g")),
        # A namespace may be called like a kind.
        ("job/x", ("Pod", "job", "x")),
        ("job/x -n ml", ("Job", "ml", "x")),
    ],
)
def test_objects_as_commands_name_them(text, meant):
    found = object_of(text, {"ml", "job"})
    assert isinstance(found, TypedObject)
    assert (found.kind.name, found.namespace, found.name) == meant


@pytest.mark.parametrize("size", [SMALL, (120, 36)])
def test_the_overview_and_the_list_of_pods_tell_of_work_without_pods(app_of, size):
    async def script(ui):
        assert "1 workload" in ui.screen
        assert "cannot create pods" in ui.screen
        await ui.press("tab", "enter")
        assert ui.crumbs.startswith("pending › workloads")
        assert not ui.app.offers("yaml")
        assert "Deployment" in ui.screen
        assert "Job" in ui.screen
        await ui.press("enter")
        assert "Deployment ml/llm has no pending pods: ReplicaSet llm-5c9 cannot create" in " ".join(ui.screen.split())
        await ui.press("escape", "escape", "4")
        assert "No pod with device claims is pending." in ui.screen
        said = " ".join(ui.screen.split())
        assert "1 workload cannot create pods with devices; 1 workload without pods yet waits in a queue" in said
        assert ":workloads" in said

    play(app_of(*refused_set("llm", made=1), work("a")), script, size)


def test_only_those_of_the_namespace_in_view(app_of):
    async def script(ui):
        await ui.command("ns other")
        await ui.press("4")
        assert "cannot create" not in ui.screen
        await ui.command("workloads")
        assert "No workload that lacks pods" in ui.screen
        await ui.press("0")
        assert "ml/llm" in ui.screen

    play(app_of(*refused_set("llm"), {**build.pod("x"), "apiVersion": "v1"}), script, LARGE)


@pytest.mark.parametrize("line", ["why-pending deploy/llm -n ml", "pod deployment/llm", "why-pending deploy llm"])
def test_a_workload_that_is_refused_its_pods(app_of, line):
    async def script(ui):
        await ui.command(line)
        assert ui.crumbs.startswith("pending › Deployment ml/llm")
        assert "cannot create more pods" in " ".join(ui.screen.split())

    meta = {"name": "llm", "namespace": "ml", "uid": "of-llm"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"replicas": 2}}
    play(app_of(*refused_set("llm"), deployment), script, LARGE)


def test_a_workload_stands_for_its_pods(app_of):
    pods = [of_workload(build.pod(f"db-{n}", claims=["c"]), "StatefulSet", "db") for n in range(2)]

    async def script(ui):
        await ui.command("why-pending sts/db -n ml")
        assert "StatefulSet ml/db: 0 of 2 pods ready, 2 pending." in ui.screen
        assert "ml/db-0" in ui.screen
        await ui.press("enter")
        assert "db-1" in ui.screen
        await ui.press("enter")
        assert "db-0" in ui.crumbs
        await ui.press("escape", "escape", "escape")
        assert ui.crumbs.startswith("overview")

    play(app_of(*pods), script, LARGE)


def test_a_name_in_several_namespaces(app_of):
    async def script(ui):
        await ui.command("pod a")
        assert "pod “a” is in namespaces dev and ml: -n NAMESPACE chooses one" in ui.crumbs
        await ui.command("pod a -n dev")
        assert "dev/a" in ui.crumbs

    pods = [{"apiVersion": "v1", **build.pod("a", claims=["c"])} for _ in range(2)]
    pods[1]["metadata"] |= {"namespace": "dev", "uid": "another"}
    play(app_of(*pods), script, LARGE)


def test_the_only_pod_is_opened(app_of):
    async def script(ui):
        await ui.command("why-pending sts/db")
        await ui.press("enter")
        assert ui.crumbs.split("   ")[0].endswith("ml/db-0")

    play(app_of(of_workload(build.pod("db-0", claims=["c"]), "StatefulSet", "db")), script, LARGE)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("why-pending deploy/nosuch -n ml", "Deployment “ml/nosuch” not found"),
        ("why-pending deploy/nosuch", "Deployment “nosuch” not found"),
        ("why-pending node/nosuch", "why-pending has no answer for “nodes”"),
    ],
)
def test_workloads_that_are_not_there(line, said):
    async def script(ui):
        await ui.command(line)
        assert said in ui.crumbs

    play(demo_app(), script, LARGE)


def test_names_with_the_flag_of_a_namespace():
    async def script(ui):
        await ui.command("pod trainer-0 -n ml")
        assert ui.crumbs.split("   ")[0].startswith("pending › ml/trainer-0")
        await ui.command("why-pending claim/nb-gpu -n dev")
        assert ui.crumbs.split("   ")[0].startswith("claims › dev/nb-gpu")
        await ui.command("describe claim leftover -n lab")
        assert ui.crumbs.split("   ")[0].endswith("lab/leftover")

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize("size", [SMALL, (120, 36)])
def test_pods_that_do_not_end(app_of, size):
    async def script(ui):
        assert "1 pod" in ui.screen
        assert "should have ended" in ui.screen
        await ui.press("tab", "enter")
        assert ui.crumbs.startswith("pending")
        assert "/DRA-" in ui.crumbs
        assert "1 should have ended" in ui.crumbs
        assert "ml/old  should have ended, but driver gpu.example.com" in ui.screen
        await ui.press("down", "enter")
        said = " ".join(ui.screen.split())
        assert "Pod ml/old should have ended" in said
        assert "publishes them no longer" in said
        await ui.press("escape", "escape")
        assert ui.crumbs.startswith("overview")
        await ui.command("ns other")
        assert "should have ended" not in ui.screen

    other = {**build.pod("x"), "apiVersion": "v1"}
    other["metadata"]["namespace"] = "other"
    play(app_of(*ending("old"), other), script, size)


REJECTED = {"reason": "UnexpectedAdmissionError", "message": "Pod was rejected: Allocate failed due to no devices"}


def rejected(name):
    pod = build.pod(name, claims=["gpu"], node_name="node-a", phase="Failed")
    pod["status"] |= REJECTED
    return {"apiVersion": "v1", **pod}


@pytest.mark.parametrize("number", [1, 2])
def test_pods_that_their_nodes_did_not_take(app_of, number):
    async def script(ui):
        assert "failed: not taken by a node" in ui.screen
        await ui.press("tab", "enter")
        if number > 1:
            assert ui.crumbs.split("   ")[0].endswith("its pods")
            await ui.press("enter")
        assert "Allocate failed due to no devices" in " ".join(ui.screen.split())
        await ui.command("ns other")
        await ui.press("1")
        assert "failed: not taken" not in ui.screen

    other = {"apiVersion": "v1", **build.pod("x")}
    other["metadata"]["namespace"] = "other"
    play(app_of(*(rejected(f"r-{n}") for n in range(number)), other), script, LARGE)


@pytest.mark.parametrize("there", [True, False])
def test_a_taint_rule_that_is_on_no_device(app_of, there):
    async def script(ui):
        assert ("taint rule" in ui.screen) is not there
        if not there:
            assert "on no device" in ui.screen
            await ui.press("tab", "enter")
            assert ui.crumbs.startswith("taints")

    selects = {"driver": "gpu.example.com", "pool": "node-a", "device": "gpu-0" if there else "gpu-9"}
    taint = {"key": "bad", "effect": "NoSchedule"}
    rule = {"kind": "DeviceTaintRule", "metadata": {"name": "bad"}, "spec": {"deviceSelector": selects, "taint": taint}}
    slice_ = build.slice_("node-a", build.device("gpu-0"))
    objects = [{"apiVersion": "resource.k8s.io/v1", **slice_}, {"apiVersion": "resource.k8s.io/v1alpha3", **rule}]
    play(app_of(*objects), script, LARGE)
