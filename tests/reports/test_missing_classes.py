"""Missing classes: what tells their driver is looked up once, however many pods name them."""

from __future__ import annotations

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ClassProblem
from kubectl_dra.model.features import features
from kubectl_dra.reports.pending.missing_objects import Existing, existing
from kubectl_dra.reports.pending.renewal import ComesWith
from tests.kit import build, facts, work
from tests.kit.clock import CLOCK

MISSING = Cause(Code.CLASS_MISSING, ClassProblem("multinic"))


def world(claims: int) -> ClusterState:
    wish = build.request(cls="multinic", selector=f'device.attributes["{build.DRIVER}"].model == "A100"')
    devices = build.slice_("node-1", *(build.device(f"gpu-{number}") for number in range(claims)))
    objects = [build.node(), devices, *(build.claim(f"claim-{number}", wish) for number in range(claims))]
    return ClusterState(facts.inventory(objects), facts.evidence(), features(), CLOCK)


def again(state: ClusterState) -> Existing | None:
    return existing(MISSING, build.NAMESPACE, state)


def test_the_next_pod_looks_at_no_claim_and_no_device() -> None:
    few, many = world(5), world(100)
    for state, number in ((few, 5), (many, 100)):
        found = again(state)
        assert found is not None
        assert found.comes_with == ComesWith("", build.DRIVER, number)
    first, then = (work.calls(lambda state=state: again(state)) for state in (few, many))
    assert first == then
