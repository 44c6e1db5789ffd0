"""Effective requests of pods, against the tables of component-helpers' PodRequests."""

from typing import Any

import msgspec
import pytest

from kubectl_dra.model.core import Pod
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.requests import host_ports, pod_requests
from kubectl_dra.model.usage import pod_usage, usage_by_node


def container(name: str = "c", restart: str | None = None, **requests: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "resources": {"requests": requests}}
    if restart is not None:
        found["restartPolicy"] = restart
    return found


def make(containers: list[Any], inits: list[Any] | None = None, **fields: Any) -> Pod:
    status = fields.pop("status", {})
    spec = {"containers": containers, "initContainers": inits or [], **fields}
    return msgspec.convert({"spec": spec, "status": status}, Pod, dec_hook=lambda kind, text: Quantity.parse(text))


SIDECAR = "Always"


@pytest.mark.parametrize(
    ("containers", "inits", "expected"),
    [
        ([container(cpu="1"), container(cpu="2")], [], 3000),
        # An init container that is larger than all containers together.
        ([container(cpu="1")], [container(cpu="2")], 2000),
        ([container(cpu="3")], [container(cpu="2")], 3000),
        ([container(cpu="1")], [container(cpu="2"), container(cpu="3")], 3000),
        # Sidecars run beside the containers and beside later init containers.
        ([container(cpu="1")], [container(restart=SIDECAR, cpu="1")], 2000),
        ([container(cpu="1")], [container(restart=SIDECAR, cpu="1"), container(cpu="3")], 4000),
        ([container(cpu="1")], [container(cpu="3"), container(restart=SIDECAR, cpu="1")], 3000),
        (
            [container(cpu="1")],
            [container(restart=SIDECAR, cpu="1"), container(cpu="2"), container(restart=SIDECAR, cpu="5")],
            7000,
        ),
        ([container()], [], None),
    ],
)
def test_containers_init_containers_and_sidecars(containers: list[Any], inits: list[Any], expected: int | None) -> None:
    assert pod_requests(make(containers, inits)).get("cpu") == expected


def test_overhead_is_added_at_last() -> None:
    found = pod_requests(make([container(cpu="1")], [container(cpu="3")], overhead={"cpu": "250m", "memory": "1Mi"}))
    assert found == {"cpu": 3250, "memory": 2**20}


def test_pod_level_requests_replace_those_of_containers() -> None:
    resources = {"requests": {"cpu": "2", "hugepages-2Mi": "4Mi", "example.com/gpu": "9", "ephemeral-storage": "9Gi"}}
    found = pod_requests(make([container(cpu="5", memory="1Mi")], resources=resources, overhead={"cpu": "1"}))
    assert found == {"cpu": 3000, "memory": 2**20, "hugepages-2Mi": 4 * 2**20}


def test_amounts_are_added_before_they_are_rounded() -> None:
    half = [container(cpu="0.0005"), container(cpu="0.0005")]
    assert pod_requests(make(half)) == {"cpu": 1}
    assert pod_requests(make([container(memory="0.5"), container(memory="1.2")])) == {"memory": 2}


def test_a_pod_on_a_node_holds_what_it_was_given_until_a_resize_is_done() -> None:
    status = {
        "containerStatuses": [
            {"name": "c", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "4"}}}
        ]
    }
    shrinking = make([container(cpu="1")], status=status)
    assert pod_usage(shrinking).requests == {"cpu": 4000}
    assert pod_requests(shrinking) == {"cpu": 1000}
    growing = make([container(cpu="6")], status=status)
    assert pod_usage(growing).requests == {"cpu": 6000}


def test_an_infeasible_resize_does_not_count() -> None:
    status = {
        "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}],
    }
    assert pod_usage(make([container(cpu="64")], status=status)).requests == {"cpu": 2000}


def test_what_an_infeasible_resize_leaves_unsaid_counts_for_scoring_as_if_nothing_were_requested() -> None:
    """Its spec says both, and is not looked at; of a kubelet that says one of them the other has its least amount."""
    status: dict[str, Any] = {"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}]}
    silent = pod_usage(make([container(cpu="64", memory="1Gi")], status=status))
    assert (silent.requests, silent.non_zero) == ({}, {"cpu": 100, "memory": 200 * 2**20})
    status["containerStatuses"] = [{"name": "c", "allocatedResources": {"cpu": "2"}}]
    half = pod_usage(make([container(cpu="64", memory="1Gi")], status=status))
    assert (half.requests, half.non_zero) == ({"cpu": 2000}, {"cpu": 2000, "memory": 200 * 2**20})


def test_pod_level_status_stands_for_all_containers() -> None:
    status = {"allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}}
    assert pod_usage(make([container(cpu="1")], status=status)).requests == {"cpu": 3000}


def test_sums_per_node() -> None:
    first = make([container(cpu="1")], nodeName="a")
    second = make([container(cpu="2", memory="1Mi")], nodeName="a")
    pending = make([container(cpu="9")])
    finished = make([container(cpu="9")], nodeName="a", status={"phase": "Failed"})
    found = usage_by_node([first, second, pending, finished])
    assert set(found) == {"a"}
    assert (found["a"].pods, found["a"].requests) == (2, {"cpu": 3000, "memory": 2**20})


def test_host_ports_default_to_any_address_and_tcp() -> None:
    ports = {"name": "c", "ports": [{"hostPort": 80}, {"containerPort": 81}, {"hostPort": 53, "protocol": "UDP"}]}
    assert list(host_ports(make([ports]))) == [("0.0.0.0", "TCP", 80), ("0.0.0.0", "UDP", 53)]
