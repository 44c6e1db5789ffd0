"""Random faults on the way to a real API server whose cluster churns; ``python -m tests.faults`` runs it for longer."""

from __future__ import annotations

import pytest

from kubectl_dra.source.spec import Connection
from tests.controlplane import Client, ControlPlane
from tests.faults.churn import Churn, RealTarget, clear
from tests.faults.running import impatient, run
from tests.kit.faulty_proxy import BODY, EVENTS, INSTEAD, Faults, faulty

pytestmark = pytest.mark.controlplane
SEED, RATE, SECONDS = 20, 0.1, 20


def test_the_store_is_what_a_fresh_list_says(
    plane: ControlPlane, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    faults = Faults(SEED, RATE)
    certificate, key = plane.certificate, plane.folder / "server.key"
    try:
        with faulty(plane.server, faults, certificate, certificate, key) as url:
            direct = plane.kubeconfig()
            behind = plane.folder / "kubeconfig-faulty.json"
            behind.write_text(direct.read_text(encoding="utf-8").replace(plane.server, url), encoding="utf-8")
            through, around = Connection(kubeconfig=str(behind)), Connection(kubeconfig=str(direct))
            churn = Churn(RealTarget(client), SEED, pause=0.02)
            outcome = run(through, around, faults, churn, SECONDS, patience=120)
    finally:
        clear(client)
    assert outcome.writes["written"] > 0
    assert outcome.writes["deleted"] > 0
    assert outcome.faults.keys() & EVENTS
    assert outcome.faults.keys() & (BODY | INSTEAD)
