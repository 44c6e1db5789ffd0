"""What many pods of a kind could take elsewhere is looked at once and kept once, however many devices that is."""

from __future__ import annotations

from pathlib import Path

from bench import world
from kubectl_dra.diagnosis.capacity.filling import fill
from kubectl_dra.diagnosis.capacity.movable import movable
from kubectl_dra.diagnosis.capacity.relaxed import _Emptied
from kubectl_dra.diagnosis.capacity.shape import of_request, waiting
from kubectl_dra.model.features import features
from kubectl_dra.source.file import load_file
from tests.kit.state import state_of

NODES = 24


def test_pods_of_a_kind_share_what_they_could_take_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    world.write_snapshot(path, world.objects(NODES, 0))
    state = state_of(*load_file(str(path)), features(37, {}))
    # Copies need a model that two thirds of the nodes have; the pods that may move would do with any.
    shape = of_request(world.NAMESPACE, world.GPU, 1, (f'{world.OURS}.model == "H100"',))
    filled = fill(waiting(state, shape))
    emptied, pods = _Emptied(filled.waiting), movable(state)
    free = emptied._usable.of(filled.waiting.claims, emptied._admits)
    assert free is not None
    assert len(free)
    kinds = {each.kind: each for each in pods}
    demands = [demand for pod in kinds.values() for demand in emptied._of_kind(pod, free)]
    assert len(pods) > 15
    assert len(kinds) == len(demands)
    assert {demand.count for demand in demands} > {1}
    assert all(len(each.elsewhere) for each in demands)
    # Kinds that ask for other numbers of the same devices are asked about once, beside the copies.
    assert len(emptied._usable._known) == 2
