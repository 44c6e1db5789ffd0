"""Kueue's objects of a live cluster: of one namespace where that is enough, and what may not be read."""

from __future__ import annotations

from pathlib import Path

from kubectl_dra.api.queues import READ as ALL
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.source.live.foreign import ForeignObjects, read_foreign
from tests.kit.fake_api import FakeApi, chunk_of, connection_to, status
from tests.live.test_node_groups import item, names

GROUP = "kueue.x-k8s.io"
READ = {GROUP: ALL[GROUP]}
WITHIN = {"workloads": "ml", "localqueues": "ml"}


def test_of_a_namespace_only_its_queues_and_workloads_are_read(api: FakeApi, tmp_path: Path) -> None:
    api.serve_foreign(GROUP, "v1beta2", workloads=[item("elsewhere")], localqueues=[], clusterqueues=[item("research")])
    for plural, found in (("workloads", [item("job-a")]), ("localqueues", [item("team")])):
        api.routes[f"/apis/{GROUP}/v1beta2/namespaces/ml/{plural}"] = lambda request, items=found: chunk_of(
            request, "Any", items, f"{GROUP}/v1beta2"
        )
    found = read_foreign(connection_to(tmp_path, api), READ, WITHIN)
    assert names(found) == [("Workload", "job-a"), ("LocalQueue", "team"), ("ClusterQueue", "research")]
    assert found.complete == ("Workload", "LocalQueue", "ClusterQueue")


def test_queues_that_only_an_administrator_may_read(api: FakeApi, tmp_path: Path) -> None:
    api.serve_foreign(GROUP, "v1beta1", workloads=[item("a")], localqueues=[], clusterqueues=[item("research")])
    api.forbid(f"/apis/{GROUP}/v1beta1/clusterqueues")
    found = read_foreign(connection_to(tmp_path, api), READ)
    assert found.complete == ("Workload", "LocalQueue")
    assert [each.kind for each in found.unread] == ["ClusterQueue"]


def test_a_kind_whose_conversion_fails_leaves_the_others(api: FakeApi, tmp_path: Path) -> None:
    api.serve_foreign(GROUP, "v1beta2", workloads=[], localqueues=[item("team")], clusterqueues=[])
    why = 'Post "https://kueue-webhook.kueue-system.svc:443/convert?timeout=30s": connection refused'
    words = f"conversion webhook for kueue.x-k8s.io/v1beta1, Kind=Workload failed: {why}"
    api.routes[f"/apis/{GROUP}/v1beta2/workloads"] = status(500, words)
    found = read_foreign(connection_to(tmp_path, api), READ)
    assert names(found) == [("LocalQueue", "team")]
    assert found.complete == ("LocalQueue", "ClusterQueue")
    assert [(each.kind, each.coverage) for each in found.unread] == [("Workload", Coverage.FAILED)]
    told = "the pods behind its service kueue-webhook have to run: kubectl get pods -n kueue-system"
    assert found.unread[0].what.endswith(f"{words}; {told}")


def test_a_cluster_without_kueue(api: FakeApi, tmp_path: Path) -> None:
    assert read_foreign(connection_to(tmp_path, api), READ, WITHIN) == ForeignObjects()
