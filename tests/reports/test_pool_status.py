"""ResourcePoolStatusRequests in describe-pool: the controller's count beside ours, differences, missing answers."""

from __future__ import annotations

import json
from typing import Any

from kubectl_dra.api.decode import decode_any
from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.clock import parse_time
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import PoolId
from kubectl_dra.output.devices.pool_page import pool_page
from kubectl_dra.reports.devices.pool import PoolReport, pool_report
from tests.kit import build, facts
from tests.kit.clock import CLOCK

NOW = parse_time("2026-01-01T01:00:00Z")
TAINT = {"key": "broken", "effect": "NoSchedule"}
DEVICES = (build.device("a"), build.device("b", taints=[TAINT]), build.device("c", taints=[TAINT]), build.device("d"))
COUNTED: dict[str, Any] = {
    "driver": build.DRIVER,
    "poolName": "node-1",
    "generation": 1,
    "resourceSliceCount": 1,
    "nodeName": "node-1",
    "totalDevices": 4,
    "allocatedDevices": 1,
    "unavailableDevices": 2,
    "availableDevices": 1,
}


def request(name: str = "ask", pool: str | None = None, **status: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"driver": build.DRIVER, **({"poolName": pool} if pool else {})}
    answer = {"status": status} if status else {}
    return {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": name},
        "spec": spec,
        **answer,
    }


def answered(**changes: Any) -> dict[str, Any]:
    done = {"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:59:00Z"}
    return request(poolCount=1, pools=[{**COUNTED, **changes}], conditions=[done])


def report(*requests: dict[str, Any]) -> PoolReport:
    inventory = facts.inventory([build.slice_("node-1", *DEVICES), build.claim(held=[("node-1", "b")]), build.node()])
    asked = {}
    for each in requests:
        found = decode_any(json.dumps(each).encode())
        assert found is not None
        assert not isinstance(found, BadObject)
        asked[each["metadata"]["name"]] = found[1]
    return pool_report(
        PoolId(build.DRIVER, "node-1"),
        ClusterState(inventory.replace(pool_statuses=asked), facts.evidence(), features(), CLOCK),
    )


def page(*requests: dict[str, Any]) -> str:
    assert NOW is not None
    return " ".join(" ".join(pool_page(report(*requests), NOW)).split())


def test_the_same_numbers_need_no_further_words() -> None:
    found = report(answered()).statuses[0]
    assert (found.request, found.answered, found.differs) == ("ask", "2026-01-01T00:59:00Z", ())
    text = page(answered())
    assert (
        "ask, 60s ago: generation 1, 1 slices, node node-1, 4 devices, 1 allocated, 2 unavailable, 1 available" in text
    )
    assert "now it would say" not in text


def test_a_device_that_is_subtracted_twice_is_named() -> None:
    assert report(answered()).statuses[0].counted_twice == 1
    assert "1 device in use and tainted: available is that much too low" in page(answered())
    # Our own number does not do that.
    assert report(answered()).totals.free.value == 2


def test_what_changed_since_is_told() -> None:
    old = answered(totalDevices=3, allocatedDevices=0, availableDevices=1)
    assert "now it would say: devices 4 instead of 3, allocated 1 instead of 0" in page(old)


def test_requests_without_an_answer_for_this_pool() -> None:
    assert "ask has no answer yet" in page(request())
    left_out = request(poolCount=9, pools=[], conditions=[{"type": "Complete", "status": "True"}])
    assert "ask leaves this pool out" in page(left_out)
    failed = request(conditions=[{"type": "Failed", "status": "True", "message": "no such driver"}])
    assert "ask failed: no such driver" in page(failed)
    assert report(request(pool="another")).statuses == ()


def test_partitions_shares_and_faults_are_shown() -> None:
    text = page(
        answered(
            validationError="PoolIncomplete",
            partitionSummary=[{"attribute": "gpu/kind", "type": "half", "total": 2, "allocatable": 1}],
            shareableSummary={
                "fullyAvailableDevices": 1,
                "partiallyAvailableDevices": 2,
                "capacity": [{"name": "memory", "total": "10Gi", "consumed": "4Gi", "available": "6Gi"}],
            },
        )
    )
    assert "it says: PoolIncomplete" in text
    assert "gpu/kind half: 1 of 2 allocatable" in text
    assert "shared devices: 1 wholly, 2 partly available" in text
    assert "memory: 6Gi of 10Gi available, 4Gi consumed" in text
