"""Owners of pods, which no watch follows, are read for the ways out of the pod that is looked at."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kubectl_dra.commands.shared import owners
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.diagnosis.pod.workloads import WhyUnread
from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import OwnerReference
from kubectl_dra.source.demo import load_demo
from kubectl_dra.tui.on_demand import OnDemand
from kubectl_dra.tui.queries import PodQuery
from kubectl_dra.tui.report_worker import ReportWorker
from tests.kit.fake_api import Answer, FakeApi, write_kubeconfig
from tests.kit.state import state_of
from tests.live.conftest import api, no_proxies  # noqa: F401 - fixtures

pytestmark = pytest.mark.one_in(4)

KEY = Key("ml", "trainer-0")
PATH = "/apis/apps/v1/namespaces/ml/statefulsets/trainer"


def _serve_owner(api: FakeApi) -> OwnerReference:  # noqa: F811
    inventory, _ = load_demo()
    uid = inventory.workloads[("StatefulSet", "ml", "trainer")].metadata.uid
    template = {"spec": {"containers": [{"name": "main"}], "nodeSelector": {"zone": "nowhere"}}}
    metadata = {"name": "trainer", "namespace": "ml", "uid": uid}
    api.routes[PATH] = Answer({"metadata": metadata, "spec": {"template": template}})
    return OwnerReference("apps/v1", "StatefulSet", "trainer", uid, controller=True)


def test_a_file_has_all_owners_that_there_are() -> None:
    assert settings_of(Options(from_="demo")).on_demand("").owner is None


def test_ways_out_come_with_the_commands_that_the_owner_asks_for(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
) -> None:
    _serve_owner(api)
    inventory, evidence = load_demo()
    pod = inventory.pods[KEY]
    spec = msgspec.structs.replace(pod.spec, node_selector={"zone": "nowhere"}, resource_claims=())
    waiting = {**inventory.pods, KEY: msgspec.structs.replace(pod, spec=spec)}
    # As the watches know the cluster.
    seen = inventory.replace(pods=waiting, workloads={})
    state = state_of(seen, evidence, features=features(NEWEST_MINOR, {}))
    read_owner = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("").owner
    assert read_owner is not None
    worker = ReportWorker(lambda: None)
    found = []
    for owner in (None, read_owner):
        worker.on_demand = OnDemand(owner)
        report = worker._record(PodQuery(KEY, remedies=True), state)
        assert report is not None
        found.append([step.commands[0][1:3] for remedy in report.remedies for step in remedy.steps])
    assert found == [[], [("patch", "statefulset/trainer"), ("delete", "pod/trainer-0")]]


def test_an_owner_is_asked_for_again_after_some_seconds(
    api: FakeApi,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reference = _serve_owner(api)
    now = 100.0
    monkeypatch.setattr(owners.time, "monotonic", lambda: now)
    read = settings_of(Options(kubeconfig=str(write_kubeconfig(tmp_path, api.url)))).on_demand("").owner
    assert read is not None
    for _ in range(3):
        assert not isinstance(read("ml", reference), WhyUnread)
    assert len(api.asked(PATH)) == 1
    now += 11
    api.forbid(PATH)
    assert read("ml", reference) is WhyUnread.FORBIDDEN
    assert len(api.asked(PATH)) == 2
