"""A cluster without resource.k8s.io: an empty list says why it is empty, on the command line and in the TUI."""

from __future__ import annotations

import asyncio
import json

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.model.evidence import Coverage, Evidence, Read
from kubectl_dra.tui.app import DraApp
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.live_api import LiveApi
from tests.live.conftest import no_proxies  # noqa: F401 - a fixture
from tests.tui.support import LARGE, Driver

SAID = "does not serve resource.k8s.io"


def reads(**coverages):
    return tuple(Read(kind, coverage=coverage) for kind, coverage in coverages.items())


@pytest.mark.parametrize(
    ("found", "version", "lacks"),
    [
        ({"ResourceSlice": Coverage.NOT_SERVED}, (1, 35), True),
        ({"ResourceSlice": Coverage.NOT_SERVED, "Pod": Coverage.COMPLETE}, None, True),
        # Kinds that only newer servers have say nothing.
        ({"DeviceTaintRule": Coverage.NOT_SERVED, "ResourceSlice": Coverage.COMPLETE}, (1, 33), False),
        ({"DeviceTaintRule": Coverage.NOT_SERVED}, (1, 33), False),
        ({"ResourceSlice": Coverage.NOT_SERVED, "ResourceClaim": Coverage.COMPLETE}, (1, 29), False),
        ({"ResourceSlice": Coverage.FORBIDDEN}, (1, 35), False),
        # It has the API in a version that is not read.
        ({"ResourceClaim": Coverage.NOT_SERVED}, (1, 26), False),
        ({}, (1, 35), False),
    ],
)
def test_when_a_cluster_lacks_the_api(found, version, lacks):
    assert Evidence(reads(**found), server_version=version).lacks_api is lacks


def test_no_conversion_is_advised_where_no_version_is_served(capfd, kubeconfig_of, tmp_path):
    pod = {"metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": {"containers": [{"name": "c"}]}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c"}}
    claim["spec"] = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
    path = tmp_path / "claim.json"
    path.write_text(json.dumps(claim), encoding="utf-8")
    run(["simulate", "-f", str(path), "--kubeconfig", kubeconfig_of(pod)])
    out, err = capfd.readouterr()
    assert "no matches for kind" in " ".join(out.split())
    assert SAID in " ".join((out + err).split())
    assert "kubectl dra convert" not in out


@pytest.fixture
def kubeconfig_of(tmp_path):
    """Of a cluster without the API, with one pod."""
    api = LiveApi()
    del api.routes["/apis/resource.k8s.io"]
    api.put("Node", {"metadata": {"name": "n", "uid": "n"}})

    def with_pod(pod):
        api.put("Pod", pod)
        return str(write_kubeconfig(tmp_path, api.url))

    with running(api):
        yield with_pod
        api.close()


@pytest.fixture
def kubeconfig(kubeconfig_of):
    return kubeconfig_of({"metadata": {"name": "a", "namespace": "ml", "uid": "a"}, "spec": {}, "status": {}})


@pytest.mark.parametrize(
    "words",
    ["get pools", "get devices", "get claims -A", "why-pending -A", "top", "describe-pool", "get pools -o json"],
)
def test_commands_say_why_there_is_nothing(words, kubeconfig, capfd):
    run([*words.split(), "--kubeconfig", kubeconfig])
    printed = capfd.readouterr()
    assert f"{SAID}, the API of Dynamic Resource Allocation" in printed.err
    assert "Kubernetes 1.37" in printed.err
    assert "switched it off" in printed.err
    assert printed.err.count(SAID) == 1


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ({"resourceClaimName": "shared"}, []),
        ({"resourceClaimTemplateName": "gpus"}, []),
        ({"resourceClaimTemplateName": "gpus"}, [{"name": "gpu", "resourceClaimName": "w-gpu-1"}]),
    ],
)
def test_a_pod_with_claims_is_not_told_to_create_them(entry, status, kubeconfig_of, capfd):
    pod = {
        "metadata": {"name": "w", "namespace": "ml", "uid": "w"},
        "spec": {"resourceClaims": [{"name": "gpu", **entry}, {"name": "nic", **entry}]},
        "status": {"phase": "Pending", "resourceClaimStatuses": status},
    }
    run(["why-pending", "w", "-n", "ml", "--kubeconfig", kubeconfig_of(pod)])
    page = capfd.readouterr().out
    assert page.splitlines()[0].startswith("Pod ml/w is pending: the cluster does not serve resource.k8s.io")
    assert "DRA-116" in page
    assert "--runtime-config" in page
    assert "DRA-11" not in page.replace("DRA-116", "")
    for wrong in ("kind: ResourceClaim", "Create the", "--remedy", "kubectl create"):
        assert wrong not in page


def test_a_list_of_nothing_but_such_kinds_is_an_error_that_names_them(kubeconfig, capfd):
    assert run(["get", "slices", "--kubeconfig", kubeconfig]) == 1
    assert "resourceslices" in capfd.readouterr().err


def test_the_tui_says_why_there_is_nothing(kubeconfig):
    async def script(ui):
        await ui.settle()
        await ui.holds(lambda: "live" in ui.lines[0])
        await ui.settle()
        assert "resource.k8s.io is not served" in ui.crumbs
        assert "none broken" not in ui.screen
        for tab in ("2", "3"):
            await ui.press(tab)
            assert SAID in " ".join(ui.screen.split())
            assert "resource.k8s.io is not served" in ui.crumbs

    async def play():
        app = DraApp(settings_of(Options(kubeconfig=kubeconfig)))
        async with app.run_test(size=LARGE) as pilot:
            await script(Driver(app, pilot))

    asyncio.run(play())
