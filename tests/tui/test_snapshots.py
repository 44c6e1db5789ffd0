"""Pictures of every screen in three sizes, each in both themes, with NO_COLOR and with 16 colours.

A change of how something looks is seen in review: a picture has a line per stretch of text, and a rule per colour.
"""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.golden_files import FOLDER, check_golden
from tests.kit.sample import sampled
from tests.tui.support import contrast
from tools.screenshots import FOLDER as IMAGES
from tools.screenshots import README, README_SIZE, SCREENS, pictures
from tools.svg import pieces

LOCK = Path(__file__).parents[2] / "requirements" / "dev.txt"
PINNED = re.search(r"(?m)^textual==(\S+)", LOCK.read_text(encoding="utf-8"))[1]
SIZES = {"80x24": (80, 24), "120x36": (120, 36), "200x50": (200, 50)}
PICTURES = FOLDER / "tui"
# Runs for all pictures of a size.
_PARTS = 10
# What frames and scroll bars are drawn with, and nobody reads.
_LINES = re.compile(r"[\s─│╭╮╰╯├┤┬┴┼▏▎▍▌▐▕▔▁▂▃▄▅▆▇█▉▊▋░▒▓·]*")


@pytest.mark.skipif(version("textual") != PINNED, reason="other versions of Textual draw their own widgets otherwise")
@pytest.mark.parametrize(("size", "part"), sampled([(size, part) for size in SIZES for part in range(_PARTS)], 30))
def test_screens(size, part):
    """One run of the app visits some of them; UPDATE_GOLDEN=1 writes the pictures anew."""
    different = []
    for name, picture in pictures(SIZES[size], list(SCREENS)[part::_PARTS]).items():
        golden = f"tui/{name}-{size}.svg"
        if os.environ.get("UPDATE_GOLDEN"):
            check_golden(golden, picture)
        if picture != (FOLDER / golden).read_text(encoding="utf-8"):
            different.append(name)
    assert not different, f"look at them, then run with UPDATE_GOLDEN=1: {', '.join(different)}"


def test_there_is_a_picture_of_each_screen_in_each_size_and_of_nothing_else():
    assert {path.name for path in PICTURES.iterdir()} == {f"{name}-{size}.svg" for name in SCREENS for size in SIZES}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_all_text_of_all_screens_can_be_read(theme):
    """WCAG 2, AA: 4.5 for text, also on the row under the cursor, on what is marked, and in lists above the screen."""
    faint = {}
    for path in sorted(PICTURES.iterdir()):
        for text, front, behind in pieces(path.read_text(encoding="utf-8"), theme):
            if not _LINES.fullmatch(text) and contrast(front, behind) < 4.5:
                faint[path.name, front, behind] = text
    assert faint == {}


@pytest.mark.parametrize("theme", ["dark", "light", "sixteen", "none"])
def test_a_cursor_stands_out_on_every_list(theme):
    """Behind the row under the cursor is another colour than behind the others; without colours it is the reverse."""
    picture = (PICTURES / "pools-80x24.svg").read_text(encoding="utf-8")
    cursor, other = (
        next(behind for text, _, behind in pieces(picture, theme) if pool in text) for pool in ("k4tq", "x9zk")
    )
    assert contrast(cursor, other) > 1.3


@pytest.mark.parametrize("theme", ["dark", "light", "sixteen", "none"])
@pytest.mark.parametrize(
    ("picture", "focused", "other"),
    [
        ("overview-80x24", "Pending, by reason", "Needs attention"),
        ("diagnosis-120x36", "Checks", "Ways out (checked)"),
        ("ways-out-120x36", "Ways out (checked)", "Checks"),
    ],
)
def test_the_part_that_has_the_focus_stands_out(picture, focused, other, theme):
    """Frames may all have one colour: behind the title is another one."""
    drawn = {
        text.strip(): (front, behind)
        for text, front, behind in pieces((PICTURES / f"{picture}.svg").read_text(encoding="utf-8"), theme)
    }
    assert contrast(drawn[focused][1], drawn[other][1]) > 3


@pytest.mark.parametrize("name", README)
def test_the_pictures_of_the_readme_are_those_that_are_compared(name):
    """`make docs` makes them; they need no font and nothing else that is not in them."""
    size = "x".join(map(str, README_SIZE))
    picture = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert picture == (PICTURES / f"{name}-{size}.svg").read_text(encoding="utf-8")
    assert "@font-face" not in picture
    assert not re.search(r"url\(|@import|href|<image|<script", picture)
    assert re.search(r"font:[^;}]*,monospace", picture)
