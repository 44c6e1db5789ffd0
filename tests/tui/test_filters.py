"""What a filter finds: all that can be read in a row, and what it means; what follows a word after ``:``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from kubectl_dra.source.file import assemble
from kubectl_dra.source.manifests import read_manifests
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings
from tests.reports.clusters import DEMO
from tests.tui.support import LARGE, SMALL, demo_app, file_app, play, with_features

pytestmark = pytest.mark.one_in(4)
GROUPS = Path(__file__).parents[2] / "docs" / "examples" / "gang.yaml"
CORDONED = "gke-prod-h100-5f3a2b1c-x9zk"
REGULAR = "gke-prod-h100-5f3a2b1c-k4tq"


def app_of(change):
    """The demo cluster after ``change`` was made to its records."""
    inventory, evidence = assemble(read_manifests(DEMO.read_bytes(), "demo"))
    feed = RereadFeed("demo", False, lambda: with_features((change(inventory), evidence)))
    return DraApp(Settings(connect=lambda _context: feed))


def cordon(inventory):
    from msgspec.structs import replace

    node = inventory.nodes[CORDONED]
    return inventory.replace(
        nodes={**inventory.nodes, CORDONED: replace(node, spec=replace(node.spec, unschedulable=True))}
    )


async def found(ui, text):
    """The rows that a filter leaves, which then is dropped again."""
    await ui.press("slash")
    await ui.type(text)
    rows = list(ui.app.view.grid.rows)
    await ui.press("enter", "escape")
    return rows


def test_cordoned_nodes_and_their_devices_are_found_and_are_not_free():
    async def script(ui):
        await ui.command("nodes")
        assert [row.name for row in await found(ui, "cordoned")] == [CORDONED]
        assert [row.name for row in await found(ui, "SchedulingDisabled")] == [CORDONED]
        await ui.command("devices")
        closed = await found(ui, "cordoned")
        assert closed
        assert {row.id.pool for row in closed} == {CORDONED}
        free = await found(ui, "free")
        assert free
        assert CORDONED not in {row.id.pool for row in free}

    play(app_of(cordon), script, LARGE)


def test_users_and_taints_of_devices_are_found():
    async def script(ui):
        await ui.command("devices")
        assert {row.device.name for row in await found(ui, "serve-0")} == {"gpu-0", "gpu-1", "nic-0"}
        assert [str(row.id) for row in await found(ui, "ecc:NoSchedule")] == [f"gpu.example.com/{REGULAR}/gpu-7"]

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize(
    ("screen", "text"),
    [
        ("claims", "pod nb"),
        ("classes", "on gke-prod"),
        ("pools", "incomplete"),
        ("nodes", "SchedulingDisabled"),
        ("taints", "NoSchedule"),
        ("reasons", "quota"),
        ("aliases", "oldest"),
        ("xray", "node gke"),
    ],
)
def test_what_can_be_read_in_a_column_is_found(screen, text):
    """Where a word stands in a cell, the filter leaves this row and drops others."""

    async def script(ui):
        await ui.command(screen)
        grid = ui.app.view.grid
        columns = [column for column in grid.columns_now if column.draw is None and not column.right]
        number = len(grid.rows)
        read = [row for row in grid.rows if any(text in str(column.cell(row)) for column in columns)]
        assert set(map(ui.app.view.identity, read)) <= set(map(ui.app.view.identity, await found(ui, text)))
        assert len(await found(ui, "no such word")) == 0 < number

    play(app_of(cordon), script, LARGE)


def test_headings_of_pending_pods_stay_with_an_inverse_filter():
    async def script(ui):
        await ui.press("4")
        rows = await found(ui, "!trainer")
        assert rows[0].pod is None
        assert "ml/trainer-0" not in {str(row.pod) for row in rows}
        for before, row in pairwise(rows):
            assert row.pod is None or before.code == row.code

    play(demo_app(), script, LARGE)


def test_a_word_after_a_list_without_namespaces_is_looked_for():
    async def script(ui):
        # "ml" is a namespace, and in the name of no pool.
        await ui.command("devices ml")
        assert ui.app.namespace == ""
        assert ui.app.view.grid.rows
        assert all("ml" in ui.app.view.texts_of([row])[0] for row in ui.app.view.grid.rows)
        await ui.command("claims ml")
        assert ui.app.namespace == "ml"
        assert {row.namespace for row in ui.app.view.grid.rows} == {"ml"}

    play(demo_app(), script, LARGE)


def namesake(inventory):
    """A slice of rack-7, with which its pool is incomplete, and a pool of that name that another driver has."""
    from msgspec.structs import replace

    slices = inventory.slices
    other = next(each for each in slices.values() if each.spec.driver == "gpu.example.com")
    pool = replace(other.spec.pool, name="rack-7")
    made = replace(other, metadata=replace(other.metadata, name="z"), spec=replace(other.spec, pool=pool))
    return inventory.replace(slices={**slices, "z": made})


@pytest.mark.parametrize(("size", "change", "drivers"), [(SMALL, None, 0), (SMALL, namesake, 1), (LARGE, None, 1)])
def test_what_needs_attention_names_the_driver_of_a_pool(size, change, drivers):
    async def script(ui):
        lines = [line for line in ui.lines if "ack-7" in line and "incomplete" in line]
        assert sum("nic" in line for line in lines) == drivers
        assert len(lines) == 1
        while ui.app.focused is not ui.app.view.broken:
            await ui.press("tab")
        assert "nic.example.com/rack-7  incomplete: 1 of 2 slices" in ui.lines[2]

    play(demo_app() if change is None else app_of(change), script, size)


def test_the_columns_that_are_shown_are_ticked():
    def ticked(ui):
        column = ui.app.view.columns()[0]
        return [row.name for row in ui.app.view.grid.rows if "x" in str(column.cell(row))]

    async def script(ui):
        await ui.press("2", "enter")
        await ui.press("W")
        before = ticked(ui)
        assert before
        await ui.press("escape")
        for name in before:
            assert name.rpartition("/")[2].upper() in ui.screen
        await ui.press("W")
        while ui.app.view.grid.selected.name != before[-1]:
            await ui.press("down")
        await ui.press("space")
        assert ticked(ui) == before[:-1]
        await ui.press("W")
        assert ticked(ui) == before

    play(demo_app(), script, SMALL)


def test_groups_are_those_of_the_namespace_in_view():
    async def script(ui):
        await ui.command("podgroups")
        spaces = {row.namespace for row in ui.app.view.grid.rows}
        assert spaces
        await ui.command("ns none-of-these")
        await ui.command("podgroups")
        assert ui.app.view.grid.rows == ()
        await ui.command(f"podgroups {min(spaces)}")
        assert {row.namespace for row in ui.app.view.grid.rows} == {min(spaces)}

    play(file_app(GROUPS), script, LARGE)
