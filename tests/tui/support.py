"""Running the app in tests: on the demo cluster, a file, or facts that change; waiting until it has nothing to do."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.source.demo import load_demo
from kubectl_dra.source.file import load_file
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings

SMALL, LARGE = (80, 24), (140, 40)
_NAMES = {
    "/": "slash",
    ":": "colon",
    " ": "space",
    ".": "full_stop",
    "=": "equals_sign",
    "-": "minus",
    '"': "quotation_mark",
    "?": "question_mark",
    "&": "ampersand",
}


def with_features(loaded):
    inventory, evidence = loaded
    return inventory, evidence, features(evidence.server_version[1] if evidence.server_version else NEWEST_MINOR, {})


def demo_app(**settings):
    feed = RereadFeed("demo", False, lambda: with_features(load_demo()))
    return DraApp(Settings(connect=lambda _context: feed, **settings))


def file_app(path, **settings):
    feed = RereadFeed(f"file {path.name}", False, lambda: with_features(load_file(str(path))))
    return DraApp(Settings(connect=lambda _context: feed, **settings))


class Driver:
    """Presses keys and reads the screen."""

    def __init__(self, app, pilot):
        self.app = app
        self.pilot = pilot

    async def settle(self):
        """Until everything on the screen is up to date and drawn."""
        for _ in range(1500):
            await self.pilot.pause(0.01)
            if self.app.is_idle:
                break
        else:
            raise AssertionError("the worker never became idle")
        # The lab waits for a pause in typing; then there may be more to compute.
        await self.pilot.pause(0.15)
        for _ in range(1500):
            if self.app.is_idle:
                break
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def press(self, *keys):
        for key in keys:
            await self.pilot.press(key)
        await self.settle()

    async def type(self, text):
        await self.press(*(_NAMES.get(character, character) for character in text))

    async def command(self, line):
        await self.pilot.press("colon")
        await self.type(line)
        await self.press("enter")

    @property
    def lines(self):
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]

    @property
    def screen(self):
        return "\n".join(self.lines)

    @property
    def crumbs(self):
        return self.lines[2].strip()


@asynccontextmanager
async def running(app, size=SMALL):
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.settle()
        yield driver


def play(app, script, size=SMALL):
    """Run ``script(driver)`` in an app of this size."""

    async def run():
        async with running(app, size) as driver:
            await script(driver)

    asyncio.run(run())
