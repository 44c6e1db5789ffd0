"""PodCliqueSets: how often each clique comes, and the claims that pods share."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.api.workloads import grove
from kubectl_dra.api.workloads.grove import MAX_PIECES
from kubectl_dra.reports.base import Fits
from kubectl_dra.scheduler.claims import sources
from tests.kit import build
from tests.reports.test_simulated_files import cluster, page, simulated

POD: dict[str, Any] = {"containers": [{"name": "main", "image": "x"}], "initContainers": [{"name": "i", "image": "x"}]}


def clique(name: str, replicas: int = 1, *shared: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "resourceSharing": list(shared), "spec": {"replicas": replicas, "podSpec": POD}}


def share(scope: str = "AllReplicas", name: str = "pair", **fields: Any) -> dict[str, Any]:
    return {"name": name, "scope": scope, **fields}


def clique_set(*cliques: dict[str, Any], replicas: int = 1, **template: Any) -> dict[str, Any]:
    devices = {"requests": [build.request(count=2)]}
    own = [{"name": "pair", "templateSpec": {"spec": {"devices": devices}}}]
    spec = {"replicas": replicas, "template": {"resourceClaimTemplates": own, "cliques": list(cliques), **template}}
    meta = {"name": "s", "namespace": build.NAMESPACE}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": meta, "spec": spec}


def planned(tree: dict[str, Any]) -> list[Planned]:
    return read_all([Source(json.dumps(tree).encode())], build.NAMESPACE)


def told(tree: dict[str, Any]) -> tuple[list[tuple[str, int | None, list[str]]], list[tuple[str, str]]]:
    """Role, number and claims of the pods, and what is made."""
    whole, *made = planned(tree)
    pods = []
    for plan in whole.pods:
        entries = plan.pod.spec.resource_claims
        pods.append((plan.role, plan.copies, [name for entry in entries for name in sources(entry) if name]))
    return pods, [(each.kind, each.name) for each in made]


def test_all_pods_of_a_clique_share_one_claim_in_all_their_containers() -> None:
    tree = clique_set(clique("a", 3, share()), clique("b", 2))
    assert told(tree) == (
        [("a", 3, ["s-0-a-all-pair"]), ("b", 2, [])],
        [("ResourceClaim", "s-0-a-all-pair")],
    )
    pod = planned(tree)[0].pods[0].pod
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        assert [each.name for each in container.resources.claims] == ["shared-0"]


def test_each_pod_of_a_clique_has_a_claim_of_its_own() -> None:
    pods, made = told(clique_set(clique("a", 3, share("PerReplica"))))
    assert (pods, made) == ([("a", 3, ["s-0-a-pair"])], [("ResourceClaimTemplate", "s-0-a-pair")])


def test_replicas_of_the_set_share_one_or_have_one_each() -> None:
    pods, made = told(clique_set(clique("a", 3), replicas=2, resourceSharing=[share()]))
    assert (pods, made) == ([("a", 6, ["s-all-pair"])], [("ResourceClaim", "s-all-pair")])
    pods, made = told(clique_set(clique("a", 3), replicas=2, resourceSharing=[share("PerReplica")]))
    assert pods == [("0-a", 3, ["s-0-pair"]), ("1-a", 3, ["s-1-pair"])]
    assert len(made) == 2


GPU: dict[str, Any] = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}


def fabric(group: str | None, pod: dict[str, Any] = GPU, name: str = "a") -> dict[str, Any]:
    said = {} if group is None else {"annotations": {"grove.io/mnnvl-group": group}}
    return {"name": name, **said, "spec": {"replicas": 3, "podSpec": pod}}


def test_pods_with_gpus_of_a_group_have_a_channel_of_the_compute_domain() -> None:
    """Upstream: ai-dynamo/grove, operator/internal/mnnvl, and docs/user-guide/auto-mnnvl.md."""
    pods, made = told(clique_set(fabric("w"), fabric("w", POD, "b"), fabric(None, name="c"), replicas=2))
    assert pods == [("0-a", 3, ["s-0-w"]), ("1-a", 3, ["s-1-w"]), ("b", 6, []), ("c", 6, [])]
    assert made == [("ResourceClaimTemplate", "s-0-w"), ("ResourceClaimTemplate", "s-1-w")]
    none = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "0"}}}]}
    assert told(clique_set(fabric("w", none)))[1] == []


def test_the_innermost_group_of_a_compute_domain_counts() -> None:
    tree = clique_set(fabric("own"), fabric("none", name="b"), fabric(None, name="c"), fabric(None, name="d"))
    tree["metadata"]["annotations"] = {"grove.io/mnnvl-group": "all"}
    group = {"name": "g", "cliqueNames": ["c"], "annotations": {"grove.io/mnnvl-group": "mid"}}
    tree["spec"]["template"]["podCliqueScalingGroups"] = [group]
    pods, _ = told(tree)
    assert [(role, claims) for role, _, claims in pods] == [
        ("a", ["s-0-own"]),
        ("b", []),
        ("c", ["s-0-mid"]),
        ("d", ["s-0-all"]),
    ]


def test_a_compute_domain_where_no_node_has_channels() -> None:
    told = page(simulated(clique_set(fabric("w"), clique("b", 2, share("PerReplica")))))
    assert "compute-domain-default-channel.nvidia.com" in told
    why = "for its annotation grove.io/mnnvl-group (the value none leaves it out)"
    assert f"ResourceClaimTemplate ml/s-0-w is made by the controller of PodCliqueSet s {why}." in told
    assert "ResourceClaimTemplate ml/s-0-b-pair is made by the controller of PodCliqueSet s." in told


def test_a_group_shares_over_its_cliques() -> None:
    group = {"name": "g", "replicas": 2, "cliqueNames": ["a", "b"], "resourceSharing": [share("PerReplica")]}
    pods, made = told(clique_set(clique("a"), clique("b", 2), podCliqueScalingGroups=[group]))
    assert pods == [
        ("0-g-0-a", 1, ["s-0-g-0-pair"]),
        ("0-g-1-a", 1, ["s-0-g-1-pair"]),
        ("0-g-0-b", 2, ["s-0-g-0-pair"]),
        ("0-g-1-b", 2, ["s-0-g-1-pair"]),
    ]
    assert [name for _, name in made] == ["s-0-g-0-pair", "s-0-g-1-pair"]
    group["resourceSharing"] = [share(filter={"childCliqueNames": ["b"]})]
    pods, _ = told(clique_set(clique("a"), clique("b", 2), podCliqueScalingGroups=[group]))
    assert pods == [("a", 2, []), ("b", 4, ["s-0-g-all-pair"])]


@pytest.mark.parametrize(
    ("only", "sharing"),
    [({"childCliqueNames": ["a"]}, ["a"]), ({"childScalingGroupNames": ["g"]}, ["b"]), ({}, ["a", "b"])],
)
def test_a_filter_says_who_shares(only: dict[str, Any], sharing: list[str]) -> None:
    group = {"name": "g", "cliqueNames": ["b"]}
    tree = clique_set(
        clique("a"), clique("b"), podCliqueScalingGroups=[group], resourceSharing=[share(filter=only)] if only else []
    )
    if not only:
        tree["spec"]["template"]["resourceSharing"] = [share()]
    pods, _ = told(tree)
    assert [role for role, _, claims in pods if claims] == sharing


@pytest.mark.parametrize("name", [[], {}, None, 1])
def test_a_filter_by_what_is_no_name_is_met_by_nothing(name: Any) -> None:
    pods, made = told(clique_set(clique("a"), resourceSharing=[share(filter={"childCliqueNames": [name]})]))
    assert (pods, made) == ([("a", 1, [])], [])


def test_pieces_are_counted_only_as_far_as_they_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    made, its = list[str](), grove._shared

    def counted(part: Any, owner: str, *others: Any) -> Any:
        made.append(owner)
        return its(part, owner, *others)

    monkeypatch.setattr(grove, "_shared", counted)
    names = [f"clique-{number}" for number in range(20)]
    groups = [{"name": f"group-{name}", "cliqueNames": [name], "replicas": 50} for name in names]
    tree = clique_set(*map(clique, names), replicas=50, podCliqueScalingGroups=groups)
    (whole,) = planned(tree)
    assert ({plan.copies for plan in whole.pods}, made) == ({2500}, [])
    tree["spec"]["template"]["resourceSharing"] = [share()]
    (whole,) = planned(tree)
    assert whole.untried == "its pods share more claims than are tried"
    assert len(made) < 1000


def test_claims_of_templates_that_are_not_its_own_are_not_known() -> None:
    (whole,) = planned(clique_set(clique("a", 3, share(name="other"))))
    assert (
        "Grove makes of ResourceClaimTemplate other, which is neither one of its own templates nor in the files"
        in whole.untried
    )
    (whole,) = planned(clique_set(clique("a", 3, share(namespace="there"))))
    assert whole.untried
    (whole, *made) = planned(clique_set(clique("a"), replicas=MAX_PIECES + 1, resourceSharing=[share("PerReplica")]))
    assert (whole.untried, made) == ("its pods share more claims than are tried", [])


def test_pods_that_share_a_claim_need_its_devices_once_and_on_one_node() -> None:
    report = simulated(clique_set(clique("a", 3, share())), world=cluster(devices=2))
    assert (report.fits, report.pods[0].copies) == (Fits.YES, 3)
    assert "All 3 copies share the 2 gpu.example.com devices of ResourceClaim s-0-a-all-pair" in page(report)
    apart = simulated(clique_set(clique("a", 3, share("PerReplica"))), world=cluster(devices=5))
    assert (apart.fits, apart.pods[0].copies) == (Fits.NO, 2)


@pytest.mark.parametrize(("there", "named"), [("other", {"namespace": "other"}), (build.NAMESPACE, {}), ("", {})])
def test_claims_of_a_template_that_stands_beside_the_set(there: str, named: dict[str, str]) -> None:
    """Grove makes them in the namespace of the set, whatever that of the template."""
    spec = {"spec": {"devices": {"requests": [build.request(count=2)]}}}
    meta = {"name": "foreign", **({"namespace": there} if there else {})}
    beside = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec}
    tree = clique_set(clique("a", 3, share(name="foreign", **named)))
    objects = read_all([Source(json.dumps(each).encode()) for each in (beside, tree)], build.NAMESPACE)
    assert [(each.kind, each.key) for each in objects if each.made_by] == [
        ("ResourceClaim", (build.NAMESPACE, "s-0-a-all-foreign"))
    ]
    (found,) = [pod for pod in simulated(tree, beside).pods if not pod.alone]
    assert (found.copies, found.fits) == (3, Fits.YES)
    elsewhere = {**beside, "metadata": {"name": "foreign", "namespace": "third"}}
    assert read_all([Source(json.dumps(each).encode()) for each in (tree, elsewhere)], build.NAMESPACE)[0].untried
