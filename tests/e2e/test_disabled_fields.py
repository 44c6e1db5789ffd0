"""What a real server keeps, and refuses, of new objects where features are off is what ``simulate`` says and tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from kubectl_dra.api.admission.disabled import without_disabled
from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.defaults import defaulted
from kubectl_dra.api.validate import validate
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.features import features
from kubectl_dra.selectors.compiling import admission_environment
from tests.controlplane import Client, ControlPlane, binaries
from tests.controlplane.client import StatusError, object_path
from tests.oracle.admission.cases import bases

pytestmark = pytest.mark.controlplane

#: What 1.37 has on, and allows to be off.
_OFF: Final = {"DRAPartitionableDevices": False, "DRAConsumableCapacity": False, "DRADeviceBindingConditions": False}
_GATES: Final[dict[str, dict[str, bool]]] = {"as by default": {}, "off": _OFF}


@pytest.fixture(scope="module", params=_GATES)
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Client, dict[str, bool]]]:
    gates = _GATES[request.param]
    with ControlPlane(binaries(), feature_gates=gates) as running:
        labels = {"resource.kubernetes.io/admin-access": "true"}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "admin", "labels": labels}}
        running.client().create(namespace)
        yield running.client(), gates


def record(obj: dict[str, Any]) -> Any:
    found = decode_any(json.dumps(obj).encode())
    assert found is not None and not isinstance(found, BadObject)
    return defaulted(found[1])


@pytest.mark.parametrize("name", bases())
def test_the_server_keeps_what_simulate_tries(server: tuple[Client, dict[str, bool]], name: str) -> None:
    client, gates = server
    obj = bases()[name]
    # It decides nothing, and its gate is none of the scheduler's.
    obj["spec"].pop("partitionTypeAttribute", None)
    if "taint" in obj["spec"]:
        obj["spec"]["taint"]["timeAdded"] = "2026-01-01T00:00:00Z"  # the server says when it was otherwise
    assumed = features(37, gates)
    made, dropped = without_disabled(record(obj), assumed)
    refused = {str(error) for error in validate(made, admission_environment(assumed))}
    path = object_path(obj["apiVersion"], obj["kind"], obj["metadata"].get("namespace", ""))
    try:
        stored = client.request("POST", path, obj, dryRun="All")
    except StatusError as error:
        causes = json.loads(error.body)["details"]["causes"]
        assert {f"{each['field']}: {each['message']}" for each in causes} == refused
        return
    assert not refused
    assert record(stored).spec == made.spec
    assert bool(dropped) == (record(obj).spec != made.spec)
