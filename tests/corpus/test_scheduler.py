"""The real scheduler says the same of the pods of the corpus: which fit, where they go, and which does not."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_TAINT_RULE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import added, place
from kubectl_dra.model.core import Pod
from kubectl_dra.model.inventory import key_of
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.simulation.existing import new_namespaces, with_namespaces, with_objects
from kubectl_dra.reports.simulation.pods import Copies, batch
from kubectl_dra.reports.simulation.trials import trials
from tests.capacity.worlds import Row, row_of
from tests.corpus.case import Case, Confirmed
from tests.corpus.cases import CASES
from tests.corpus.run import cluster_of, planned_of
from tests.oracle.scheduler_oracle import Oracle

pytestmark = pytest.mark.go
#: Of more copies than these the first and the last two are asked about.
FEW = 4


@pytest.fixture(scope="module")
def schedule() -> Iterator[Oracle]:
    with Oracle("schedule") as oracle:
        yield oracle


def asked(oracle: Oracle, world: ClusterState, pod: Pod) -> Row:
    """The answer about a pod that has just been created."""
    world = world.changed(added(world.inventory, pod))
    key = str(key_of(pod.metadata))
    rules = [json.loads(encode(each, DEVICE_TAINT_RULE)) for each in world.inventory.taint_rules.values()]
    row = {**row_of(world, key), "devicetaintrules": rules}
    found: Row = next(each for each in oracle.ask(row)["expect"] if each["pod"] == key)
    return found


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.confirmed is Confirmed.SCHEDULER], ids=lambda case: case.name
)
def test_the_real_scheduler_agrees(schedule: Oracle, case: Case) -> None:
    given = cluster_of(case.cluster)
    objects = planned_of(case)
    prepared = with_namespaces(given, objects, new_namespaces(given, objects))
    base = world = with_objects(prepared, objects)
    for trial, fitting in zip(trials(base, admitted(base, objects), (), together=False), case.copies, strict=True):
        made = batch(base if trial.alone else world, trial, Copies())
        here = made.state
        for number, pod in enumerate(made.pods):
            if number < FEW or number >= fitting - 1:
                answer = asked(schedule, here, pod)
                assert (answer["outcome"] == "fits") is (number < fitting), (number, answer)
            done = place(here, [pod])
            if number < FEW and number < fitting:
                assert set(done.nodes) <= set(answer["best"]), (number, done.nodes, answer)
            if done.failed is not None:
                if answer.get("messageWithoutPostFilter"):
                    assert done.failed.message in (answer["messageWithoutPostFilter"], answer["message"])
                break
            here = done.state
        if not trial.alone:
            world = here
