"""Flink applications: the pods of both managers, their number and their sizes."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.api.workloads import MadeTemplate, expand
from kubectl_dra.api.workloads.expand import CountSource, Expansion

GROUP = "flink.apache.org"
CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "one"}]


def expanded(**spec: Any) -> Expansion:
    tree = {"apiVersion": f"{GROUP}/v1beta1", "kind": "FlinkDeployment", "metadata": {"name": "f"}, "spec": spec}
    return expand(tree, GROUP, "FlinkDeployment")


def workers(**spec: Any) -> MadeTemplate:
    return next(each for each in expanded(**spec).templates if each.role == "taskmanager")


def container(made: MadeTemplate) -> dict[str, Any]:
    found: dict[str, Any] = made.body["spec"]["containers"][0]
    return found


@pytest.mark.parametrize(
    ("spec", "copies", "count", "field"),
    [
        ({"job": {"parallelism": 3}}, 3, CountSource.ASSUMED, "spec.job.parallelism"),
        ({"job": {"parallelism": 5}, "flinkConfiguration": {"taskmanager.numberOfTaskSlots": "2"}}, 3, None, None),
        ({"job": {"parallelism": 5}, "flinkConfiguration": {"taskmanager": {"numberOfTaskSlots": 4}}}, 2, None, None),
        (
            {"job": {}, "flinkConfiguration": {"parallelism.default": "4"}},
            4,
            None,
            'spec.flinkConfiguration["parallelism.default"]',
        ),
        ({"job": {}}, 1, None, None),
        (
            {"mode": "standalone", "job": {"parallelism": 8}, "taskManager": {"replicas": 2}},
            2,
            CountSource.STATED,
            "spec.taskManager.replicas",
        ),
        ({"mode": "standalone", "taskManager": {"replicas": 3}}, 3, CountSource.STATED, "spec.taskManager.replicas"),
        # Without a job task managers come with those that are submitted.
        ({}, 1, CountSource.UNKNOWN, None),
    ],
)
def test_numbers(spec: dict[str, Any], copies: int, count: CountSource | None, field: str | None) -> None:
    made = workers(**spec)
    assert made.copies == copies
    assert count is None or made.count is count
    assert field is None or made.counted_by.fields[0][0] == field


def test_a_lower_parallelism_fills_the_task_managers_that_fit() -> None:
    made = workers(job={"parallelism": 5}, flinkConfiguration={"taskmanager.numberOfTaskSlots": "2"})
    assert made.counted_by.lowered(2).fields == (("spec.job.parallelism", 4),)
    assert [made.counted_by.made(value) for value in (5, 4, 3)] == [3, 2, 2]


@pytest.mark.parametrize(
    ("part", "cpu", "memory"),
    [
        ({}, "1", "1728Mi"),
        ({"resource": {"cpu": 0.5, "memory": "2048m"}}, "0.5", "2048Mi"),
        ({"resource": {"cpu": 8, "memory": "64gb"}}, "8", "65536Mi"),
        ({"resource": {"memory": "2Gi"}}, "1", "2Gi"),
        ({"resource": {"memory": "1073741824"}}, "1", "1024Mi"),
        ({"resources": {"requests": {"cpu": "2", "memory": "4g"}}, "resource": {"cpu": 9}}, "2", "4096Mi"),
        ({"resources": {"limits": {"cpu": "3"}}}, "3", "1728Mi"),
    ],
)
def test_sizes(part: dict[str, Any], cpu: str, memory: str) -> None:
    assert container(workers(taskManager=part))["resources"]["requests"] == {"cpu": cpu, "memory": memory}


def test_without_a_number_of_processors_a_task_manager_has_one_for_each_slot() -> None:
    made = workers(flinkConfiguration={"taskmanager.numberOfTaskSlots": 4, "taskmanager.memory.process.size": "4g"})
    assert container(made)["resources"]["requests"] == {"cpu": "4", "memory": "4096Mi"}


def test_templates_are_merged_by_position_and_keep_claims() -> None:
    main = {"name": "flink-main-container", "resources": {"claims": [{"name": "gpu"}]}}
    common = {"spec": {"nodeSelector": {"a": "b"}, "containers": [{"name": "flink-main-container", "image": "own"}]}}
    own = {"spec": {"containers": [main], "resourceClaims": CLAIMS}}
    made = workers(podTemplate=common, taskManager={"podTemplate": own, "resource": {"cpu": 2}})
    pod = made.body["spec"]
    assert (pod["nodeSelector"], pod["resourceClaims"]) == ({"a": "b"}, CLAIMS)
    assert (container(made)["image"], container(made)["resources"]["claims"]) == ("own", [{"name": "gpu"}])
    assert made.spec_path == "spec.taskManager.podTemplate.spec"
    assert workers(podTemplate=common).spec_path == "spec.podTemplate.spec"


def test_by_name_where_the_configuration_says_so() -> None:
    by_name = {"kubernetes.operator.pod-template.merge-arrays-by-name": "true"}
    common = {"spec": {"containers": [{"name": "log", "image": "log"}]}}
    own = {"spec": {"containers": [{"name": "flink-main-container", "image": "own"}]}}
    made = workers(podTemplate=common, taskManager={"podTemplate": own}, flinkConfiguration=by_name)
    assert [each["name"] for each in made.body["spec"]["containers"]] == ["flink-main-container", "log"]
    mixed = workers(podTemplate=common, taskManager={"podTemplate": own})
    assert [each["image"] for each in mixed.body["spec"]["containers"]] == ["own"]


def test_lists_whose_items_have_no_names_are_merged_by_position_all_the_same() -> None:
    by_name = {"kubernetes.operator.pod-template.merge-arrays-by-name": "true"}
    common = {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}], "containers": [{"args": ["x"]}]}}
    own = {"spec": {"tolerations": [{"key": "b"}, {"key": "c"}], "containers": [{"args": ["y", "z"]}]}}
    spec = workers(podTemplate=common, taskManager={"podTemplate": own}, flinkConfiguration=by_name).body["spec"]
    assert spec["tolerations"] == [{"key": "b", "operator": "Exists"}, {"key": "c"}]
    assert spec["containers"][1]["args"] == ["x", "z"]


@pytest.mark.parametrize("name", [[], {}, None, 1])
def test_names_that_are_no_texts_end_nothing(name: Any) -> None:
    by_name = {"kubernetes.operator.pod-template.merge-arrays-by-name": "true"}
    odd = {"spec": {"containers": [{"name": name}]}}
    assert workers(podTemplate=odd, taskManager={"podTemplate": odd}, flinkConfiguration=by_name).copies == 1


def test_a_suspended_job_has_no_pods() -> None:
    assert expanded(job={"state": "suspended"}).suspended
    assert not expanded(job={"state": "running"}).suspended
