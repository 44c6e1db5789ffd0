"""Keys and pauses wait until the app has done what follows from them, not for a guess from the time that it uses."""

from __future__ import annotations

import asyncio

import pytest

_ROUNDS = 100_000


async def nothing_left_to_do(_min_sleep: float = 0, _max_sleep: float = 1) -> None:
    """Until every task of the loop waits for something that is not there yet."""
    loop = asyncio.get_running_loop()
    quiet = 0
    for _ in range(_ROUNDS):
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1
        if quiet == 3:
            return
    raise AssertionError("the app never rests")


@pytest.fixture(autouse=True)
def _exact_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual's own wait sleeps 20 ms at least, and up to a second per key where another thread or test is busy."""
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", nothing_left_to_do)


@pytest.fixture(autouse=True)
def _colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says that the tests are run in."""
    monkeypatch.delenv("NO_COLOR", raising=False)
