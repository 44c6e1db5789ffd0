"""Spark applications: the pods that Spark makes of their fields, its numbers and sizes."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.api.workloads import MadeTemplate, expand
from kubectl_dra.api.workloads.expand import Expansion

GROUP = "sparkoperator.k8s.io"


def expanded(spec: dict[str, Any], kind: str = "SparkApplication") -> Expansion:
    whole = spec if kind == "SparkApplication" else {"template": spec}
    tree = {"apiVersion": f"{GROUP}/v1beta2", "kind": kind, "metadata": {"name": "etl"}, "spec": whole}
    return expand(tree, GROUP, kind)


def pods(spec: dict[str, Any], kind: str = "SparkApplication") -> dict[str, MadeTemplate]:
    return {each.role: each for each in expanded(spec, kind).templates}


def container(template: MadeTemplate) -> dict[str, Any]:
    found: dict[str, Any] = template.body["spec"]["containers"][0]
    return found


def requests(spec: dict[str, Any], role: str = "executor") -> dict[str, str]:
    found: dict[str, str] = container(pods(spec)[role])["resources"]["requests"]
    return found


def test_the_driver_comes_first_and_executors_wait_for_it() -> None:
    found = expanded({"driver": {"cores": 2}, "executor": {"instances": 3}}).templates
    told = [(each.role, each.copies, each.awaits) for each in found]
    assert told == [("driver", 1, ()), ("executor", 3, ("driver",))]


def test_an_application_on_a_schedule_is_the_same() -> None:
    found = pods({"executor": {"instances": 3}}, "ScheduledSparkApplication")["executor"]
    assert found.counted_by.fields == (("spec.template.executor.instances", 3),)


@pytest.mark.parametrize(
    ("part", "cpu", "memory"),
    [
        ({}, "1", "1408Mi"),
        ({"cores": 8, "memory": "24g", "memoryOverhead": "8g"}, "8", "32768Mi"),
        ({"cores": 8, "coreRequest": "7500m", "memory": "16g"}, "7500m", "18022Mi"),
        ({"memory": "512"}, "1", "896Mi"),
        ({"memory": "512M", "memoryOverhead": "1048576k"}, "1", "1536Mi"),
    ],
)
def test_cores_and_memory_are_those_of_the_fields(part: dict[str, Any], cpu: str, memory: str) -> None:
    assert requests({"executor": part}) == {"cpu": cpu, "memory": memory}
    assert requests({"driver": part}, "driver") == {"cpu": cpu, "memory": memory}


@pytest.mark.parametrize(
    ("spec", "memory"),
    [
        ({"type": "Python"}, "14336Mi"),
        ({"type": "R"}, "14336Mi"),
        ({"type": "Scala", "mainApplicationFile": "local:///x.py"}, "14336Mi"),
        ({"type": "Python", "memoryOverheadFactor": "0.2"}, "12288Mi"),
        ({"sparkConf": {"spark.executor.memoryOverheadFactor": "0.5"}, "memoryOverheadFactor": "0.2"}, "15360Mi"),
        ({"sparkConf": {"spark.executor.memoryOverhead": "2g"}}, "12288Mi"),
        ({"sparkConf": {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1g"}}, "12288Mi"),
        ({"type": "Python", "sparkConf": {"spark.executor.pyspark.memory": "1g"}}, "15360Mi"),
        ({"memoryOverheadFactor": "much"}, "11264Mi"),
    ],
)
def test_what_spark_adds_to_the_heap(spec: dict[str, Any], memory: str) -> None:
    assert requests({**spec, "executor": {"memory": "10g"}})["memory"] == memory


def test_options_count_where_no_field_does() -> None:
    conf = {
        "spark.executor.cores": "4",
        "spark.executor.memory": "2g",
        "spark.executor.instances": "5",
        "spark.kubernetes.executor.limit.cores": "6",
        "spark.executor.resource.gpu.amount": "1",
        "spark.executor.resource.gpu.vendor": "nvidia.com",
        "spark.kubernetes.executor.node.selector.pool": "gpu",
        "spark.kubernetes.scheduler.name": "volcano",
    }
    found = pods({"sparkConf": conf, "nodeSelector": {"zone": "a"}})["executor"]
    assert found.copies == 5
    assert container(found)["resources"] == {
        "requests": {"cpu": "4", "memory": "2432Mi"},
        "limits": {"cpu": "6", "memory": "2432Mi", "nvidia.com/gpu": "1"},
    }
    assert found.body["spec"]["nodeSelector"] == {"zone": "a", "pool": "gpu"}
    assert found.body["spec"]["schedulerName"] == "volcano"


def test_a_template_keeps_its_claims_and_loses_its_requests() -> None:
    own = {"name": "spark-kubernetes-executor", "resources": {"claims": [{"name": "gpu"}], "requests": {"cpu": "64"}}}
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}], "containers": [{"name": "log"}, own]}
    found = pods({"executor": {"cores": 2, "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec}}})["executor"]
    assert container(found)["resources"]["requests"] == {"cpu": "2", "memory": "1408Mi"}
    assert container(found)["resources"]["claims"] == [{"name": "gpu"}]
    assert [each["name"] for each in found.body["spec"]["containers"]] == ["spark-kubernetes-executor", "log"]
    assert found.body["metadata"]["labels"].items() >= {"a": "b", "spark-role": "executor"}.items()


def test_the_webhook_changes_only_pods_without_a_template() -> None:
    """Upstream: pods with a template do not have the label that the operator's webhook selects."""
    part = {
        "tolerations": [{"operator": "Exists"}],
        "nodeSelector": {"pool": "gpu"},
        "gpu": {"name": "nvidia.com/gpu", "quantity": 2},
        "sidecars": [{"name": "log"}],
        "initContainers": [{"name": "fetch"}],
        "volumeMounts": [{"name": "data"}],
    }
    volumes = [{"name": "data"}, {"name": "other"}]
    plain = pods({"executor": part, "volumes": volumes, "batchScheduler": "yunikorn"})["executor"].body["spec"]
    assert plain["tolerations"] == part["tolerations"]
    assert plain["nodeSelector"] == {"pool": "gpu"}
    assert plain["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert [each["name"] for each in plain["containers"]] == ["spark-kubernetes-executor", "log"]
    assert (plain["initContainers"], plain["volumes"]) == ([{"name": "fetch"}], [{"name": "data"}])
    assert plain["schedulerName"] == "yunikorn"
    bare = pods({"executor": {**part, "template": {"spec": {}}}})["executor"].body["spec"]
    assert "tolerations" not in bare
    assert "nodeSelector" not in bare
    assert "nvidia.com/gpu" not in bare["containers"][0]["resources"]["limits"]


@pytest.mark.parametrize(
    ("spec", "number", "most"),
    [
        ({}, 2, None),
        ({"sparkConf": {}}, 1, None),
        ({"executor": {"instances": 4}, "sparkConf": {"spark.executor.instances": "9"}}, 4, None),
        ({"dynamicAllocation": {"enabled": True}}, 0, None),
        ({"dynamicAllocation": {"enabled": True, "minExecutors": 2, "maxExecutors": 12}}, 2, 12),
        ({"dynamicAllocation": {"enabled": True, "initialExecutors": 3, "minExecutors": 2}}, 3, None),
        ({"dynamicAllocation": {"enabled": False, "minExecutors": 2}, "executor": {"instances": 1}}, 1, None),
        (
            {
                "sparkConf": {
                    "spark.dynamicAllocation.enabled": "true",
                    "spark.dynamicAllocation.minExecutors": "2",
                    "spark.dynamicAllocation.maxExecutors": "6",
                }
            },
            2,
            6,
        ),
    ],
)
def test_how_many_executors_start(spec: dict[str, Any], number: int, most: int | None) -> None:
    found = pods(spec)["executor"]
    assert found.copies == number
    assert (found.growth.most if found.growth is not None else None) == most


def test_all_numbers_of_dynamic_allocation_are_lowered() -> None:
    dynamic = {"enabled": True, "minExecutors": 6, "initialExecutors": 8}
    found = pods({"dynamicAllocation": dynamic, "executor": {"instances": 2}})["executor"].counted_by
    assert found.lowered(4).fields == (
        ("spec.dynamicAllocation.minExecutors", 4),
        ("spec.dynamicAllocation.initialExecutors", 4),
    )
    assert found.lowered(0).fields == ()


def test_a_size_that_spark_does_not_read_is_told() -> None:
    found = expanded({"executor": {"memory": "8Gi"}})
    assert found.untried == 'Spark does not read spec.executor.memory: "8Gi"; it reads sizes such as 512m and 8g'
    assert not found.templates


def test_a_suspended_application_makes_no_pods() -> None:
    assert expanded({"suspend": True}).suspended


@pytest.mark.parametrize("factor", ["NaN", "Infinity", "1e400000000", "-1", "9" * 5000])
def test_a_factor_that_is_no_number_of_use_is_the_default(factor: str) -> None:
    plain = requests({"executor": {"memory": "10g"}})
    assert requests({"executor": {"memory": "10g"}, "memoryOverheadFactor": factor}) == plain


def test_a_size_of_thousands_of_digits_is_not_read() -> None:
    expanded({"executor": {"memory": "9" * 5000}, "sparkConf": {"spark.executor.instances": "9" * 5000}})


# --- Apache's operator ------------------------------------------------------------------------------------------------


def apache(**spec: Any) -> dict[str, MadeTemplate]:
    tree = {"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": {"name": "a"}, "spec": spec}
    return {each.role: each for each in expand(tree, "spark.apache.org", "SparkApplication").templates}


def test_apaches_operator_has_templates_and_the_configuration() -> None:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
    main = {"name": "spark-kubernetes-executor", "resources": {"claims": [{"name": "gpu"}]}}
    template = {"spec": {"containers": [main], "resourceClaims": claims}}
    conf = {"spark.executor.instances": "4", "spark.executor.cores": "8", "spark.executor.memory": "32g"}
    found = apache(executorSpec={"podTemplateSpec": template}, sparkConf=conf)
    executor = found["executor"]
    assert (found["driver"].copies, executor.copies, executor.awaits) == (1, 4, ("driver",))
    assert executor.counted_by.fields == (('spec.sparkConf["spark.executor.instances"]', 4),)
    assert executor.body["spec"]["resourceClaims"] == claims
    resources = container(executor)["resources"]
    assert (resources["claims"], resources["requests"]) == ([{"name": "gpu"}], {"cpu": "8", "memory": "36044Mi"})
    assert executor.spec_path == "spec.executorSpec.podTemplateSpec.spec"


def test_apaches_operator_leaves_the_number_of_executors_to_spark() -> None:
    assert apache(applicationTolerations={"instanceConfig": {"minExecutors": 3}})["executor"].copies == 2
    conf = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.minExecutors": "3"}
    executor = apache(sparkConf={**conf, "spark.dynamicAllocation.maxExecutors": "9"})["executor"]
    assert (executor.copies, executor.growth is not None and executor.growth.most) == (3, 9)
