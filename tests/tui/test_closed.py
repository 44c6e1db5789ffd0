"""Nothing of views that were closed is kept, however many there were."""

from __future__ import annotations

import gc
import weakref

import pytest
from textual.strip import Strip

from tests.tui.support import LARGE, demo_app, play

pytestmark = pytest.mark.one_in(3)
_OPEN_AND_CLOSE = ("enter", "enter", "escape", "escape")
_ROUNDS = 4


def test_a_view_goes_when_the_next_one_was_closed():
    async def script(t):
        await t.press("2", "enter")
        closed = weakref.ref(t.app.view)
        await t.press("escape", *_OPEN_AND_CLOSE)
        gc.collect()
        assert closed() is None

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize("keys", [("escape",), ("1",), ("left_square_bracket", "3"), ("enter", "escape")])
def test_a_view_that_lies_ahead_goes_when_another_one_is_opened_or_what_it_stood_on_closes(keys):
    async def script(t):
        await t.press("2", "enter", "enter")
        ahead = weakref.ref(t.app.view)
        await t.press("left_square_bracket")
        assert ahead() is not None
        await t.press("right_square_bracket")
        assert t.app.view is ahead()
        await t.press("left_square_bracket", *keys, *_OPEN_AND_CLOSE, *_OPEN_AND_CLOSE)
        gc.collect()
        assert ahead() is None

    play(demo_app(), script, LARGE)


def test_lines_go_with_the_views_that_they_were_drawn_for():
    async def script(t):
        await t.press("2", *_OPEN_AND_CLOSE)
        before = _lines()
        await t.press(*_OPEN_AND_CLOSE * _ROUNDS)
        # Less than one screen for each round; what the first one left undrawn on a busy machine does not come again.
        assert _lines() - before < LARGE[1] * _ROUNDS

    play(demo_app(), script, LARGE)


def _lines() -> int:
    gc.collect()
    return sum(isinstance(each, Strip) for each in gc.get_objects())
