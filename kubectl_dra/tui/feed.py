"""Where the UI's facts come from: a feed publishes immutable moments and says how it is connected.

A feed for a live cluster that watches publishes a new :class:`Moment` whenever something changed; :class:`RereadFeed`
reads everything again when it is asked to, or at an interval. Both look the same from here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from kubectl_dra.diagnosis.diagnose import Diagnoser
from kubectl_dra.diagnosis.world import World
from kubectl_dra.model.clock import Clock
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import Features
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.reports.facts import Facts, latest_read, parse_time
from kubectl_dra.reports.selector.scoping import Setting
from kubectl_dra.selectors.values import ValueIndex
from kubectl_dra.source.errors import SourceError

Loaded = tuple[Inventory, Evidence, Features]


@dataclass(frozen=True)
class Moment:
    """The facts at one time; ``number`` grows from one moment of the program to the next.

    ``clock`` is asked where the facts have no time of their own.
    """

    number: int
    inventory: Inventory
    evidence: Evidence
    features: Features
    clock: Clock
    _former: tuple[Facts | None, World | None] = (None, None)

    def later(self, number: int, loaded: Loaded) -> Moment:
        """The same cluster later; what was derived from parts that have not changed is not derived again."""
        return Moment(number, *loaded, self.clock, self._derived() if loaded[2] == self.features else (None, None))

    def _derived(self) -> tuple[Facts | None, World | None]:
        """What a later moment can go on from: what was derived here, or what this one was to go on from itself."""
        facts, world = self._former
        diagnoser = vars(self).get("diagnoser")
        return vars(self).get("facts", facts), world if diagnoser is None else diagnoser.world

    @cached_property
    def facts(self) -> Facts:
        """What reports of pools, devices and claims start from."""
        former = self._former[0]
        if former is not None:
            return former.later(self.inventory, self.evidence)
        return Facts(self.inventory, self.evidence, self.features, self.clock, keeps=True)

    @cached_property
    def now(self) -> datetime:
        """The time that ages are counted from; derives nothing else."""
        return parse_time(latest_read(self.evidence)) or self.clock.now()

    @cached_property
    def diagnoser(self) -> Diagnoser:
        """What reports of pods start from."""
        former = self._former[1]
        if former is not None:
            return Diagnoser(former.changed(self.inventory, self.evidence))
        return Diagnoser(World(self.inventory, self.evidence, self.features))

    @cached_property
    def setting(self) -> Setting:
        """What reports of selectors start from: all devices."""
        return Setting(self.facts)

    @cached_property
    def values(self) -> ValueIndex:
        """The values that devices have."""
        return ValueIndex(self.setting.members)


class Link(StrEnum):
    """How the data on the screen relates to the cluster."""

    READING = "reading"  # nothing has arrived yet
    LIVE = "live"  # changes arrive as they happen
    READ = "read"  # true when it was read
    RECONNECTING = "reconnecting"  # changes stopped arriving
    FAILED = "failed"  # the last attempt to read failed
    RECORDED = "recorded"  # a file: it will never change


@dataclass(frozen=True, slots=True)
class Status:
    """A state, since when (``time.monotonic``), and an unescaped text where something is wrong."""

    link: Link
    since: float
    text: str = ""


class Listener(Protocol):
    """Who is told; called from the feed's own threads."""

    def on_moment(self, loaded: Loaded) -> None:
        """New facts."""

    def on_status(self, status: Status) -> None:
        """The connection changed."""

    def on_crash(self, error: BaseException) -> None:
        """The feed met an error of the program."""


class Feed(Protocol):
    """A source of moments. ``title`` names it unescaped (``ctx prod-eu``, ``demo``), ``live`` unless it is a file."""

    title: str
    live: bool

    def start(self, listener: Listener) -> None:
        """Begin to publish; returns at once."""

    def refresh(self) -> None:
        """Make sure that the next moment is newer than now."""

    def stop(self) -> None:
        """End; nothing is published afterwards."""


@dataclass
class RereadFeed:
    """Reads everything in one thread of its own: at first, on demand, and every ``interval`` seconds if there is one.

    ``load`` raises :class:`SourceError` for what a user can mend; then what was read last stays.
    """

    title: str
    live: bool
    load: Callable[[], Loaded]
    interval: float | None = None
    _due: threading.Event = field(default_factory=threading.Event, repr=False)
    _stopped: bool = field(default=False, repr=False)

    def start(self, listener: Listener) -> None:
        """Read in the background."""
        threading.Thread(target=self._run, args=(listener,), name="tui-feed", daemon=True).start()

    def refresh(self) -> None:
        """Read now, or once more if a read is under way."""
        self._due.set()

    def stop(self) -> None:
        """Publish nothing more."""
        self._stopped = True
        self._due.set()

    def _run(self, listener: Listener) -> None:
        try:
            while not self._stopped:
                self._due.clear()
                self._read(listener)
                self._due.wait(self.interval)
        except BaseException as error:
            # A thread has nobody to raise to; the listener ends the program with the error.
            listener.on_crash(error)

    def _read(self, listener: Listener) -> None:
        started = time.monotonic()
        try:
            loaded = self.load()
        except SourceError as error:
            hint = f" - try: {error.hint}" if error.hint else ""
            status = Status(Link.FAILED, time.monotonic(), error.what + hint)
        else:
            status = Status(Link.READ if self.live else Link.RECORDED, started)
            if not self._stopped:
                listener.on_moment(loaded)
        if not self._stopped:
            listener.on_status(status)
