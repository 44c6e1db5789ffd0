"""Whichever version of resource.k8s.io a server has, the reports are the same.

One real server serves them all; a proxy in front of it makes it a server that has no newer versions than one.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.controlplane import ADMIN, Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.e2e.situations import bring_about, cases
from tests.kit.fake_api import write_kubeconfig
from tests.kit.recording_proxy import Proxy, recording

pytestmark = pytest.mark.controlplane

#: The newest version that is left, and those that are not served.
WORLDS: Final[Mapping[str, frozenset[str]]] = {
    "v1": frozenset(),
    "v1beta2": frozenset({"v1"}),
    "v1beta1": frozenset({"v1", "v1beta2"}),
}
#: v1beta1 has no DeviceTaintRule.
RULES: Final = {"v1": "v1", "v1beta2": "v1beta2", "v1beta1": "v1alpha3"}
SITUATIONS: Final = ("taint-rule", "counters-exhausted", "no-alternative-fits", "match-attribute", "all-taken")
# What says when and through what something was read, not what was found.
_CIRCUMSTANCES: Final = frozenset({"read", "asOf", "output"})


@pytest.fixture
def proxy(plane: ControlPlane) -> Iterator[Proxy]:
    """Between the plugin and the server."""
    with recording(plane.server, plane.certificate) as recorder:
        yield recorder


def _findings(value: Any) -> Any:
    """A document without the circumstances of its reading."""
    if isinstance(value, dict):
        return {key: _findings(member) for key, member in value.items() if key not in _CIRCUMSTANCES}
    return [_findings(member) for member in value] if isinstance(value, list) else value


def _versions_listed(proxy: Proxy) -> dict[str, set[str]]:
    """By plural, in which versions objects of resource.k8s.io were asked for."""
    found: dict[str, set[str]] = {}
    for exchange in proxy.exchanges:
        path = re.match(r"/apis/resource\.k8s\.io/([^/]+)/(?:namespaces/[^/]+/)?([^/]+)", exchange.path)
        if path:
            found.setdefault(path[2], set()).add(path[1])
    return found


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_reports_are_the_same_through_every_version(
    plane: ControlPlane, client: Client, proxy: Proxy, tmp_path: Path, name: str
) -> None:
    case = cases()[name]
    bring_about(client, case)
    config = write_kubeconfig(tmp_path, proxy.url, {"token": plane.users[ADMIN].token})
    environment = {**plane_environment(plane), "KUBECONFIG": str(config)}

    def reports() -> Iterator[Any]:
        for question in (
            ("why-pending", "pod/pod"),
            ("describe-claim", "claim/claim"),
            ("describe-pool",),
            ("get", "claims"),
        ):
            command = [str(plane.kubectl), "dra", "-n", case.namespace, *question, "-o", "json"]
            done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
            assert done.returncode == 0, f"{question}: {done.stderr}"
            yield _findings(json.loads(done.stdout))

    expected: list[Any] = []
    for world, unserved in WORLDS.items():
        proxy.unserved = unserved
        proxy.log.clear()
        found = list(reports())
        expected = expected or found
        assert expected[0]["verdict"] == case.expect
        assert found == expected, f"through {world}"
        listed = _versions_listed(proxy)
        assert listed.pop("devicetaintrules") == {RULES[world]}
        assert listed.keys() >= {"resourceclaims", "resourceslices", "deviceclasses"}
        # Served in this one version, whatever else is.
        assert listed.pop("resourcepoolstatusrequests", {"v1alpha3"}) == {"v1alpha3"}
        assert set.union(*listed.values()) == {world}
