"""The TUI with 80,000 devices: first paint after the data, keys to frames, also while facts change, memory."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
import uuid

from kubectl_dra.api.kinds import KINDS
from kubectl_dra.model.core import Node
from kubectl_dra.model.evidence import Evidence, Read
from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.meta import ObjectMeta
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import (
    Device,
    DeviceAttribute,
    DeviceCapacity,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import Link, Status
from kubectl_dra.tui.settings import Settings

NODES, DEVICES = 10_000, 8
KEYS = ("down", "down", "pagedown", "pagedown", "end", "pageup", "up", "home") * 5


class Given:
    """A feed that publishes when the benchmark says so."""

    title, live = "bench", True

    def start(self, listener):
        """Remember who is told."""
        self.listener = listener

    def refresh(self):
        """Nothing to read again."""

    def stop(self):
        """Nothing to end."""

    def publish(self, loaded):
        """New facts."""
        self.listener.on_moment(loaded)
        self.listener.on_status(Status(Link.LIVE, time.monotonic()))


def device(index, node):
    """One device with a uuid of its own."""
    return Device(
        name=f"gpu-{index}",
        attributes={
            "model": DeviceAttribute(string="H100" if node % 2 else "L40"),
            "uuid": DeviceAttribute(string=str(uuid.uuid4())),
            "numa": DeviceAttribute(int_value=index // 4),
        },
        capacity={"memory": DeviceCapacity(value=Quantity.parse("80Gi"))},
    )


def cluster():
    """All nodes and slices."""
    slices = {}
    for node in range(NODES):
        spec = ResourceSliceSpec(
            driver="gpu.example.com",
            pool=ResourcePool(name=f"node-{node}", generation=1, resource_slice_count=1),
            node_name=f"node-{node}",
            devices=tuple(device(index, node) for index in range(DEVICES)),
        )
        slices[f"slice-{node}"] = ResourceSlice(metadata=ObjectMeta(name=f"slice-{node}"), spec=spec)
    nodes = {f"node-{node}": Node(metadata=ObjectMeta(name=f"node-{node}")) for node in range(NODES)}
    evidence = Evidence(reads=tuple(Read(kind.name) for kind in KINDS))
    return Inventory(slices=slices, nodes=nodes), evidence, features(NEWEST_MINOR, {})


async def until(pilot, test):
    """Wait without blocking the app."""
    while not test():
        await pilot.pause(0.005)


async def presses(app, pilot, keys):
    """Seconds from each key until the lines that it changed were drawn."""
    drawn = []
    grid = app.view.grid
    render = grid.render_lines

    def watched(crop):
        drawn.append(time.perf_counter())
        return render(crop)

    grid.render_lines = watched
    times = []
    for key in keys:
        count, began = len(drawn), time.perf_counter()
        app.simulate_key(key)
        while len(drawn) == count and time.perf_counter() - began < 2:
            await asyncio.sleep(0.001)
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.02)
    del grid.render_lines
    return times


def told(name, times):
    """Print one line."""
    print(f"{name:<40} median {statistics.median(times) * 1000:6.1f} ms   worst {max(times) * 1000:6.1f} ms")


async def main():
    """Everything, in one run of the app."""
    loaded = cluster()
    feed = Given()
    app = DraApp(Settings(connect=lambda _context: feed))
    async with app.run_test(size=(140, 40)) as pilot:
        began = time.perf_counter()
        feed.publish(loaded)
        await until(pilot, lambda: bool(app.view.use.rows))
        print(f"first paint after the data: {time.perf_counter() - began:.2f} s (budget 1 s)")
        await until(pilot, lambda: app.is_idle)
        app.run_command("devices")
        await until(pilot, lambda: len(app.view.grid.rows) == NODES * DEVICES)
        await until(pilot, lambda: app.is_idle)
        told("key to lines drawn, at rest (50 ms)", await presses(app, pilot, KEYS))
        changing = asyncio.create_task(change(feed, loaded))
        told("the same while facts change (50 ms)", await presses(app, pilot, KEYS))
        changing.cancel()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory, generator included: {memory:.0f} MB (budget 500 MB)")


async def change(feed, loaded):
    """Four new moments a second, as the store publishes them."""
    inventory, *rest = loaded
    while True:
        feed.publish((inventory.replace(), *rest))
        await asyncio.sleep(0.25)


if __name__ == "__main__":
    asyncio.run(main())
