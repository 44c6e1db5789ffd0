"""docs/tui.md says what the registry does."""

from __future__ import annotations

import inspect
import tomllib

import pytest
from textual.app import App
from textual.command import Provider

from kubectl_dra.tui.actions import ACTIONS
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.frame import Crumbs, Footer, Header, Tabs
from kubectl_dra.tui.grid import Grid
from kubectl_dra.tui.help import HelpScreen
from kubectl_dra.tui.lines import Lines
from kubectl_dra.tui.memory import read_config
from kubectl_dra.tui.page import Page
from kubectl_dra.tui.prompt import Prompt
from kubectl_dra.tui.ways import WaysPane
from tools.tui_keys import PAGE, page


def test_the_keys_of_the_page_are_fresh():
    """`make docs` writes them."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text)
    for action in ACTIONS:
        assert action.help.replace("|", "\\|") in text


def test_the_settings_of_the_page_are_valid(tmp_path):
    example = PAGE.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    file = tmp_path / "tui.toml"
    file.write_text(example, encoding="utf-8")
    config = read_config(file)
    assert config.problems == ()
    assert config.columns == ("model", "uuid")
    assert set(tomllib.loads(example)) == {"theme", "view", "preview", "columns"}


@pytest.mark.parametrize("own", [Footer, Header, Tabs, Crumbs, Grid, Page, Lines, Prompt, HelpScreen, WaysPane])
def test_own_parts_say_why_they_are_not_textuals(own):
    said = f"{own.__doc__} {inspect.getmodule(own).__doc__}"
    assert "Textual" in said or "Widget.loading" in said


def test_textuals_own_parts_are_used_where_they_serve():
    """The command palette, toasts, themes, suspending and the clipboard."""
    assert all(issubclass(provider, Provider) for provider in DraApp.COMMANDS)
    for name in ("notify", "suspend", "register_theme", "copy_to_clipboard"):
        assert getattr(DraApp, name) is getattr(App, name)
