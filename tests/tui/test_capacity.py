"""The capacity screen: one line per node, other shapes, what is supposed, and the command's page."""

from __future__ import annotations

from tests.tui.support import LARGE, demo_app, play


def test_capacity():
    async def script(ui):
        await ui.command("capacity")
        assert ui.crumbs.startswith("pools › capacity for 1 per pod")
        await ui.command("shape gpu.example.com 4")
        assert "capacity for 4 × gpu.example.com" in ui.app.view.crumb
        assert "only 3 free here" in ui.screen
        rows = {row.name: row.room.copies for row in ui.app.view.grid.rows}
        assert rows == {
            "gke-prod-h100-5f3a2b1c-k4tq": 1,
            "gke-prod-h100-5f3a2b1c-x9zk": 0,
            "ip-192-168-153-160.ec2.internal": 1,
            "ip-192-168-171-24.ec2.internal": 1,
            "cpu-1": 0,
            "cpu-2": 0,
        }
        await ui.press("plus")
        assert "capacity for 5 × gpu.example.com" in ui.app.view.crumb
        await ui.press("underscore", "underscore")
        assert "capacity for 3 × gpu.example.com" in ui.app.view.crumb
        await ui.command("shape gpu.example.com 8")
        await ui.command("whatif add-node like=gke-prod-h100-5f3a2b1c-x9zk,count=2,free")
        assert "1 supposed" in ui.app.view.crumb
        rows = {row.name: row.room.copies for row in ui.app.view.grid.rows}
        assert (
            rows["gke-prod-h100-5f3a2b1c-x9zk-new-1"],
            rows["gke-prod-h100-5f3a2b1c-x9zk-new-2"],
        ) == (1, 1)
        await ui.press("d")
        assert "What if: 2 more nodes like gke-prod-h100-5f3a2b1c-x9zk" in ui.screen
        await ui.press("escape")
        await ui.command("whatif drain")
        assert "suppose one of" in ui.app.notice
        await ui.command("whatif drain nosuch")
        assert "what is supposed does not exist" in ui.screen
        await ui.command("whatif")
        assert len(ui.app.view.grid.rows) == 6
        await ui.command("shape gpu.example.com 99")
        assert "is not a number of devices" in ui.app.notice
        await ui.press("enter")
        assert "node " in ui.app.view.crumb

    play(demo_app(), script, size=LARGE)
