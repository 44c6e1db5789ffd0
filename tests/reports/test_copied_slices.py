"""Planned nodes whose ResourceSlices were copied: what was left as it was is the first thing said, with the edit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.model.resource import ResourceSlice
from kubectl_dra.output.simulation.page import simulation_summary
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import SimulationReport
from kubectl_dra.reports.simulation.copied_slices import Forgotten, as_planned
from tests.kit import build
from tests.reports.test_simulated_files import V1, cluster, page, simulated, template
from tests.reports.test_strangers import deployment


def slice_(name: str, node: str, pool: str, *devices: str, count: int = 1, generation: int = 1) -> dict[str, Any]:
    made = build.slice_(node, *(build.device(each) for each in devices or ("gpu-0", "gpu-1")), pool=pool)
    made["metadata"] = {"name": name}
    made["spec"]["pool"] |= {"resourceSliceCount": count, "generation": generation}
    return {"apiVersion": V1, **made}


def planned(*slices: dict[str, Any], nodes: tuple[str, ...] = ("new",), pods: int = 3) -> SimulationReport:
    """Pods of 2 devices each, with ``nodes`` and ``slices`` in the files; the node that there is has 2 devices."""
    made = [{"apiVersion": "v1", **build.node(name, cpu="64")} for name in nodes]
    return simulated(*made, *slices, template("one", count=2), deployment(pods), world=cluster(devices=2))


def edits(report: SimulationReport) -> list[tuple[str, Forgotten, dict[str, str]]]:
    found = report.effects.copied
    return [(each.slice, each.forgotten, {edit.field: edit.value for edit in each.edits}) for each in found]


OLD = f"node-1-{build.DRIVER}"


@pytest.mark.parametrize(
    ("made", "forgotten", "fields", "first"),
    [
        (
            slice_("new-s", "new", "node-1"),
            Forgotten.POOL,
            {"spec.pool.name": "new"},
            "ResourceSlice new-s in the files has the pool name of node-1 (gpu.example.com/node-1), so what is in use "
            "on one of the two nodes counts as in use on both: set spec.pool.name to new.",
        ),
        (
            slice_("new-s", "node-1", "new"),
            Forgotten.NODE,
            {"spec.nodeName": "new"},
            "ResourceSlice new-s in the files has nodeName node-1, so new has no devices of its own: set spec.nodeName "
            "to new.",
        ),
        (
            slice_("copy", "node-1", "node-1"),
            Forgotten.NODE,
            {"spec.nodeName": "new", "spec.pool.name": "new"},
            "ResourceSlice copy in the files has nodeName node-1, so new has no devices of its own: set spec.nodeName "
            "to new and spec.pool.name to new.",
        ),
        (
            slice_(OLD, "new", "new"),
            Forgotten.NAME,
            {"metadata.name": f"new-{build.DRIVER}"},
            f"ResourceSlice {OLD} in the files has the name of a slice of node-1 in the cluster, so it replaces that "
            f"one and node-1 loses those devices: set metadata.name to new-{build.DRIVER}.",
        ),
        (
            slice_("new-s", "new", "new", count=2),
            Forgotten.COUNT,
            {"spec.pool.resourceSliceCount": "1"},
            "Pool gpu.example.com/new in the files is incomplete, so none of its devices can be allocated: it has 1 "
            "ResourceSlice, and spec.pool.resourceSliceCount is 2: set spec.pool.resourceSliceCount to 1 in "
            "ResourceSlice new-s, or add the missing ones.",
        ),
    ],
)
def test_what_was_left_as_it_was_comes_first(
    made: dict[str, Any], forgotten: Forgotten, fields: dict[str, str], first: str
) -> None:
    report = planned(made)
    assert edits(report) == [(made["metadata"]["name"], forgotten, fields)]
    assert page(report).startswith(first)
    assert " ".join(simulation_summary(report).split()).startswith(first)
    # The edit mends it: a pod on the new node, and one on the node that there was.
    for path, value in fields.items():
        *parents, last = path.split(".")
        target = made
        for key in parents:
            target = target[key]
        target[last] = type(target[last])(value)
    mended = planned(made)
    assert edits(mended) == []
    assert [pod.copies for pod in mended.pods] == [2]


def test_of_two_new_slices_the_one_that_is_not_named_after_the_pool_is_the_copy() -> None:
    report = planned(slice_("b-s", "b", "b"), slice_("c-s", "c", "b"), nodes=("b", "c"))
    assert edits(report) == [("c-s", Forgotten.POOL, {"spec.pool.name": "c"})]


def test_slices_of_one_pool_count_each_other() -> None:
    report = planned(slice_("b-1", "b", "b", "gpu-0"), slice_("b-2", "b", "b", "gpu-1"), nodes=("b",))
    assert edits(report) == [(name, Forgotten.COUNT, {"spec.pool.resourceSliceCount": "2"}) for name in ("b-1", "b-2")]
    assert "set spec.pool.resourceSliceCount to 2 in ResourceSlices b-1 and b-2." in page(report)
    old = slice_("b-1", "b", "b", "gpu-0", count=2)
    newer = slice_("b-2", "b", "b", "gpu-1", count=2, generation=2)
    assert edits(planned(old, newer, nodes=("b",))) == [("b-1", Forgotten.GENERATION, {"spec.pool.generation": "2"})]


def test_slices_of_one_name_leave_only_the_last() -> None:
    told = page(planned(slice_("s", "b", "b"), slice_("s", "c", "c"), nodes=("b", "c")))
    assert told.startswith("The files have several ResourceSlices named s, and only the last one was tried")
    assert "different versions" not in told


@pytest.mark.parametrize(
    "slices",
    [
        # Several pools on one node, pools of one name with other devices, a node without devices beside.
        (slice_("b-1", "b", "b"), slice_("b-2", "b", "b2")),
        (slice_("b-1", "b", "node-1", "gpu-7", "gpu-8"),),
        (slice_("more", "node-1", "extra", "gpu-7"),),
        (slice_(OLD, "node-1", "node-1"), slice_("b-s", "b", "b")),
    ],
)
def test_what_is_no_mistake(slices: tuple[dict[str, Any], ...]) -> None:
    report = planned(*json.loads(json.dumps(slices)), nodes=("b",))
    assert edits(report) == []


def test_what_follows_from_it_is_not_said_again() -> None:
    told = page(planned(slice_("new-s", "new", "node-1")))
    assert "The driver has to give" not in told
    assert "has no devices of its own: drivers publish" not in page(planned(slice_("new-s", "node-1", "new")))


def test_what_fits_if_the_slices_were_written_right_is_told_in_place_of_ways_out() -> None:
    """Two copies of one slice, each with the pool of the first."""
    slices = [slice_(f"{node}-s", node, "node-1") for node in ("new", "other")]
    report = planned(*slices, nodes=("new", "other"), pods=3)
    assert (report.fits, [(each.copies, each.fits) for each in report.then]) == (Fits.NO, [(3, Fits.YES)])
    told = page(report)
    assert "ResourceSlices new-s and other-s in the files have the pool name of node-1" in told
    assert "set spec.pool.name to new in new-s and other in other-s." in told
    assert "As if the ResourceSlices were written so: Deployment ml/w: all 3 copies fit." in told
    assert "1 of 3 copies" not in told
    # Where it makes no difference nothing is told twice.
    assert not planned(*slices, nodes=("new", "other"), pods=1).then
    wrong = [slice_("new-s", "new", "new", count=2)]
    assert [(each.copies, each.fits) for each in planned(*wrong, pods=2).then] == [(2, Fits.YES)]


def test_slices_are_rewritten_in_every_field_that_was_forgotten() -> None:
    for made, fields in (
        (slice_("copy", "node-1", "node-1"), ("new", "new")),
        (slice_(OLD, "new", "new"), ("new", "new")),
    ):
        objects = read_all([Source(json.dumps(made).encode())], build.NAMESPACE)
        report = planned(made)
        (found,) = as_planned(objects, report.effects.copied)
        assert isinstance(found.record, ResourceSlice)
        assert (found.record.spec.node_name, found.record.spec.pool.name) == fields
        assert found.record.metadata.name == found.name
        assert [(each.copies, each.fits) for each in report.then] == [(2, Fits.NO)]
