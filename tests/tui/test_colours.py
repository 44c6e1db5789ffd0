"""Few colours: what the themes say stays said with 16 colours and without any."""

from __future__ import annotations

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from kubectl_dra.tui.theme import DARK, LIGHT, THEMES, FewColours
from tests.tui.support import contrast

STANDARD = {"primary": "cyan", "accent": "cyan", "success": "green", "warning": "yellow", "error": "red"}


def shown(style, theme, *, foreground=True):
    (segment,) = FewColours(foreground=foreground).apply([Segment("x", style)], Color.parse(theme.background))
    return segment.style


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_colours_keep_their_meaning(theme):
    for name, expected in STANDARD.items():
        style = shown(Style(color=getattr(theme, name), bgcolor=theme.background), theme)
        assert (style.color.name, style.bgcolor.name, style.reverse) == (expected, "default", None), name
    assert shown(Style(color=theme.foreground), theme).color.name == "default"
    assert shown(Style(color=theme.variables["dim"]), theme).color.name == "bright_black"


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("foreground", [True, False])
def test_the_row_under_the_cursor_is_reversed(theme, foreground):
    cursor = shown(Style(color=theme.primary, bgcolor=theme.variables["cursor"]), theme, foreground=foreground)
    assert cursor.reverse
    assert cursor.color.name == cursor.bgcolor.name == "default"
    assert not shown(Style(bgcolor=theme.surface), theme, foreground=foreground).reverse


def test_no_colour_leaves_none():
    for name in STANDARD:
        style = shown(Style(color=getattr(DARK, name), bold=True), LIGHT, foreground=False)
        assert style.color.name == "default"
        assert style.bold


BACKGROUNDS = ("background", "surface", "panel", "cursor", "cursor-blurred", "changed")
TEXTS = ("foreground", "primary", "success", "warning", "error", "dim")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("behind", BACKGROUNDS)
def test_all_text_can_be_read(theme, behind):
    """WCAG 2, AA: 4.5 for text, also dim text on the row under the cursor."""
    background = getattr(theme, behind, None) or theme.variables[behind]
    found = {name: contrast(getattr(theme, name, None) or theme.variables[name], background) for name in TEXTS}
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_selected_row_can_be_told_from_the_others(theme):
    assert contrast(theme.variables["cursor"], theme.background) > 1.3
    assert contrast(theme.variables["changed"], theme.background) > 1.15
