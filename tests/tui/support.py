"""Running the app in tests: on the demo cluster, a file, or facts that change; waiting until it has nothing to do."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager

from textual import events
from textual.color import Color
from textual.keys import _character_to_key

from kubectl_dra.model.features import NEWEST_MINOR, features
from kubectl_dra.source.demo import load_demo
from kubectl_dra.source.file import load_file
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.feed import RereadFeed
from kubectl_dra.tui.settings import Settings

SMALL, LARGE = (80, 24), (140, 40)
_CHARACTERS = {"slash": "/", "colon": ":", "question_mark": "?", "space": " "}
_SECONDS = 120.0
# Rounds through all queues after which nothing can be on its way any more.
_ROUNDS = 3


def with_features(loaded):
    inventory, evidence = loaded
    return inventory, evidence, features(evidence.server_version[1] if evidence.server_version else NEWEST_MINOR, {})


def demo_app(**settings):
    feed = RereadFeed("demo", False, lambda: with_features(load_demo()))
    return DraApp(Settings(connect=lambda _context: feed, **settings))


def file_app(path, **settings):
    feed = RereadFeed(f"file {path.name}", False, lambda: with_features(load_file(str(path))))
    return DraApp(Settings(connect=lambda _context: feed, **settings))


def key_event(key):
    """A key as the driver of a terminal sends it."""
    if len(key) == 1:
        return events.Key(_character_to_key(key), key)
    return events.Key(key, _CHARACTERS.get(key))


class Driver:
    """Presses keys and reads the screen."""

    def __init__(self, app, pilot):
        self.app = app
        self.pilot = pilot

    async def settle(self):
        """Until everything on the screen is up to date and drawn."""
        end = time.monotonic() + _SECONDS
        quiet, before = 0, None
        while quiet < _ROUNDS:
            assert time.monotonic() < end, f"never idle:\n{self.screen}"
            # The loop has nothing left to do; other threads have a moment.
            await self.pilot.pause()
            await asyncio.sleep(0.002)
            # Drawing is most of the work, so only what rests is drawn.
            now = (self.app.focused, self.screen) if self.app.is_idle else None
            quiet = quiet + 1 if now is not None and now == before else 0
            before = now

    async def holds(self, condition):
        """Until ``condition`` is true, for an app that does not rest meanwhile."""
        end = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < end, f"never true:\n{self.screen}"
            await self.pilot.pause(0.01)

    def send(self, *keys):
        """Keys in a burst, as from somebody who types faster than the screen is drawn."""
        for key in keys:
            self.app._driver.send_message(key_event(key))

    async def press(self, *keys):
        """Keys one by one, as from somebody who looks at the screen."""
        for key in keys:
            self.send(key)
            await self.settle()

    async def type(self, text):
        self.send(*text)
        await self.settle()

    async def command(self, line):
        self.send(":", *line, "enter")
        await self.settle()

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
    async with app.run_test(size=size, notifications=True) as pilot:
        driver = Driver(app, pilot)
        await driver.settle()
        yield driver


def play(app, script, size=SMALL):
    """Run ``script(driver)`` in an app of this size."""

    async def run():
        async with running(app, size) as driver:
            await script(driver)

    asyncio.run(run())


def _luminance(colour):
    """As WCAG 2 defines it."""
    parts = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in Color.parse(colour).normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """Of two colours, as WCAG 2 defines it: 1 to 21."""
    brighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)
