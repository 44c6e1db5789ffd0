"""Pictures of every screen at 80×24 and 140×40: a change of how something looks is seen in review."""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.golden_files import FOLDER, check_golden
from tests.kit.sample import sampled
from tests.tui.support import LARGE, SMALL
from tools.screenshots import FOLDER as IMAGES
from tools.screenshots import README, README_SIZE, pictures

LOCK = Path(__file__).parents[2] / "requirements" / "dev.txt"
PINNED = re.search(r"(?m)^textual==(\S+)", LOCK.read_text(encoding="utf-8"))[1]
SIZES = {"80x24": SMALL, "140x40": LARGE}
# A cursor blinks, and another theme comes in steps of Textual's own: of these only the texts are compared.
MOVING = {"lab", "lab-empty", "lab-broken", "lab-load", "command", "light"}
TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")


@pytest.mark.one_in(3)
@pytest.mark.skipif(version("textual") != PINNED, reason="other versions of Textual draw their own widgets otherwise")
@pytest.mark.parametrize("size", sampled(SIZES, 2))
def test_screens(size):
    """One run of the app visits all of them; UPDATE_GOLDEN=1 writes the pictures anew."""
    different = []
    for name, picture in pictures(SIZES[size]).items():
        golden = f"tui/{name}-{size}.svg"
        if os.environ.get("UPDATE_GOLDEN"):
            check_golden(golden, picture)
        known = (FOLDER / golden).read_text(encoding="utf-8")
        if picture != known and (name not in MOVING or words(picture) != words(known)):
            different.append(name)
    assert not different, f"look at them, then run with UPDATE_GOLDEN=1: {', '.join(different)}"


def words(picture):
    """All texts, in lines and stretches that don't depend on colours."""
    return "".join(TEXT.findall(picture)).replace("&#160;", "").replace(" ", "")


@pytest.mark.parametrize("name", README)
def test_the_pictures_of_the_readme_are_fresh(name):
    """`make docs` makes them; the same screens are compared above."""
    size = "x".join(map(str, README_SIZE))
    picture = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert picture == (FOLDER / "tui" / f"{name}-{size}.svg").read_text(encoding="utf-8")
