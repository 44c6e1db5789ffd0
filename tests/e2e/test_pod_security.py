"""What simulate says of pods that Pod Security refuses is what the real API server says, word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane import Client, StatusError
from tests.e2e.conftest import Explain
from tests.e2e.situations import clear, create
from tests.reports.test_pod_security import CONTEXT, LABEL, RULES, pod

pytestmark = pytest.mark.controlplane
NAMESPACES = {
    "sec-baseline": {LABEL: "baseline"},
    "sec-restricted": {LABEL: "restricted"},
    "sec-old": {LABEL: "restricted", f"{LABEL}-version": "v1.24"},
}
USER = pod({"runAsUser": 0, "procMount": "Unmasked"}, hostUsers=False)
SEVERAL = pod({"privileged": True}, hostNetwork=True, container={"ports": [{"containerPort": 80, "protocol": "TCP"}]})
SEVERAL["spec"]["initContainers"] = [{"name": "init", "image": "x", "securityContext": {"privileged": True}}]
ADDING = pod({**CONTEXT, "capabilities": {"add": ["SYS_ADMIN", "NET_RAW"]}})
PODS = {
    **{f"rule-{number}": body for number, (_, body, _) in enumerate(RULES)},
    "plain": {"spec": {"containers": [{"name": "main", "image": "x"}, {"name": "side", "image": "x"}]}},
    "user": USER,
    "several": SEVERAL,
    "adding": ADDING,
}


@pytest.fixture(scope="module")
def known() -> set[str]:
    """What was made already."""
    return set()


@pytest.fixture
def namespaces(client: Client, known: set[str]) -> Iterator[None]:
    if not known:
        for name, labels in NAMESPACES.items():
            create(client, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}, "")
        known.update(NAMESPACES)
    yield
    clear(client)


@pytest.mark.parametrize("name", PODS)
def test_the_server_refuses_what_was_foreseen_in_the_same_words(
    client: Client, explain: Explain, namespaces: None, tmp_path: Path, name: str
) -> None:
    for namespace in NAMESPACES:
        body: dict[str, Any] = deepcopy(PODS[name]) | {"apiVersion": "v1", "kind": "Pod"}
        body["metadata"] = {**body.get("metadata", {}), "name": name}
        path = tmp_path / f"{namespace}.json"
        path.write_text(json.dumps(body), encoding="utf-8")
        (manifest,) = explain("simulate", "-f", str(path), "-n", namespace)["manifests"]
        told = [text for text in manifest["refused"] if "PodSecurity" in text]
        try:
            create(client, body, namespace)
        except StatusError as error:
            said = error.body.decode()
            if "violates PodSecurity" in said:
                assert [text for text in told if json.dumps(text)[1:-1] in said] == told != [], said
            # Otherwise its fields are wrong, which is said first.
            continue
        assert told == []
