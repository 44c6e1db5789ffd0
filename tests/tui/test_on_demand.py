"""Pages of the TUI say what those of the commands say of drivers, of which no watch follows the DaemonSets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui import on_demand
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.model.ids import Key
from kubectl_dra.model.queues import GROUP as QUEUES
from kubectl_dra.output.pending.headline import pending_summary
from kubectl_dra.tui.on_demand import NOTHING_MORE
from kubectl_dra.tui.queries import NodeQuery, PodQuery
from kubectl_dra.tui.report_worker import ReportWorker
from kubectl_dra.tui.work import FAILED_PODS, WORK
from tests.commands.test_waiting_work import work
from tests.kit import build, facts
from tests.kit.fake_api import FakeApi, write_kubeconfig
from tests.kit.state import state_of
from tests.live.conftest import api, no_proxies  # noqa: F401 - fixtures
from tests.output.pending.test_idle_daemons import daemon_set

LIST = "/apis/apps/v1/daemonsets"
DRIVER = daemon_set(nodeSelector={"example.com/gpu": "true"})


def tainted(name):
    node = build.node(name)
    return {**node, "spec": {**node.get("spec", {}), "taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}


def state(*more):
    pod, claim = build.pod(claims=["claim"]), build.claim("claim")
    inventory = facts.inventory([build.device_class(), build.namespace(), pod, claim, *more])
    # As the watches know the cluster.
    return state_of(inventory, facts.evidence("DaemonSet"))


def test_the_page_of_a_pod_names_the_daemon_set_that_runs_nowhere(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[DRIVER])
    worker = ReportWorker(lambda: None)
    cluster = state(build.node())
    assert worker._record(PodQuery(Key(build.NAMESPACE, "pod")), cluster).idle_drivers == ()
    worker.on_demand = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    for remedies in (False, True):
        found = worker._record(PodQuery(Key(build.NAMESPACE, "pod"), remedies), cluster).idle_drivers
        assert [str(each.daemon_set.name) for each in found] == ["gpu-dra-plugin"]
    assert len(api.asked(LIST)) == 1


def test_the_page_of_a_node_names_the_driver_that_its_taint_keeps_off(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
) -> None:
    api.serve_foreign("apps", "v1", daemonsets=[daemon_set()])
    worker = ReportWorker(lambda: None)
    cluster = state(build.node(), build.slice_("node-1", build.device("gpu-0")), tainted("node-2"))
    assert worker._record(NodeQuery("node-2"), cluster).kept_off == ()
    worker.on_demand = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    (kept,) = worker._record(NodeQuery("node-2"), cluster).kept_off
    assert (kept.daemon_set.name, kept.taints) == ("gpu-dra-plugin", ("dedicated:NoSchedule",))
    asked = len(api.asked(LIST))
    assert worker._record(NodeQuery("node-1"), cluster).kept_off == ()
    assert len(api.asked(LIST)) == asked, "nobody asks where devices are published"


def test_what_was_read_is_asked_for_again_after_some_seconds(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(on_demand.time, "monotonic", lambda: now)
    reading = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    cluster = state(build.node())
    api.serve_foreign("apps", "v1", daemonsets=[])
    assert reading.daemon_sets(cluster) is cluster
    api.serve_foreign("apps", "v1", daemonsets=[DRIVER])
    assert reading.daemon_sets(cluster) is cluster
    now += 31
    assert [name for _, _, name in reading.daemon_sets(cluster).inventory.workloads] == ["gpu-dra-plugin"]
    # Who may not read them sees the rest.
    now += 31
    api.forbid(LIST)
    assert reading.drivers(cluster).inventory.workloads == cluster.inventory.workloads


def test_work_in_a_queue_is_listed_and_read_again_after_some_seconds(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(on_demand.time, "monotonic", lambda: now)
    worker, cluster = ReportWorker(lambda: None), state(build.node())
    assert worker._record(WORK, cluster) == ()
    worker.on_demand = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    assert worker._record(WORK, cluster) == ()
    api.serve_foreign(QUEUES, "v1beta2", workloads=[work("a")], localqueues=[], clusterqueues=[])
    now += 31
    assert worker._record(WORK, cluster) == (), "a cluster without queues is asked more rarely"
    now += 600
    assert [each.workload.name for each in worker._record(WORK, cluster)] == ["a"]
    asked = len(api.requests)
    assert worker.on_demand.queues(cluster) is worker.on_demand.queues(cluster)
    api.serve_foreign(QUEUES, "v1beta2", workloads=[work("b")], localqueues=[], clusterqueues=[])
    assert [each.workload.name for each in worker._record(WORK, cluster)] == ["a"]
    assert len(api.requests) == asked
    now += 31
    assert [each.workload.name for each in worker._record(WORK, cluster)] == ["b"]


def test_the_page_of_a_pod_that_a_queue_holds_says_why(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
) -> None:
    held = build.pod(claims=["claim"])
    held["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team"}
    held["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
    its = work("pod", "Pod")
    its["metadata"]["ownerReferences"][0] |= {"apiVersion": "v1", "uid": held["metadata"]["uid"]}
    api.serve_foreign(QUEUES, "v1beta2", workloads=[its], localqueues=[], clusterqueues=[])
    worker = ReportWorker(lambda: None)
    inventory = facts.inventory([build.device_class(), build.namespace(), held, build.claim("claim"), build.node()])
    cluster, query = state_of(inventory, facts.evidence()), PodQuery(Key(build.NAMESPACE, "pod"))
    assert "being drained" not in pending_summary(worker._record(query, cluster))
    worker.on_demand = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    assert "the queue is being drained" in pending_summary(worker._record(query, cluster))


def test_pods_that_their_nodes_did_not_take_are_listed_and_have_a_page(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
) -> None:
    pod = build.pod("taken-by-none", claims=["claim"], node_name="node-1", phase="Failed")
    pod["status"] |= {"reason": "UnexpectedAdmissionError", "message": "Pod was rejected: no devices"}
    api.serve("Pod", [pod])
    worker, cluster = ReportWorker(lambda: None), state(build.node())
    query = PodQuery(Key(build.NAMESPACE, "taken-by-none"))
    assert (worker._record(FAILED_PODS, cluster), worker._record(query, cluster)) == ((), None)
    worker.on_demand = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("")
    (found,) = worker._record(FAILED_PODS, cluster)
    assert [ref.name for ref in found.pods] == ["taken-by-none"]
    assert "no devices" in pending_summary(worker._record(query, cluster))
    assert worker._record(PodQuery(Key(build.NAMESPACE, "nosuch")), cluster) is None


def test_files_hold_all_that_there_is() -> None:
    assert settings_of(Options(from_="demo")).on_demand("") is NOTHING_MORE
