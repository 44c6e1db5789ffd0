"""docs/tui.md says what the registry does."""

from __future__ import annotations

import tomllib

from kubectl_dra.tui.actions import ACTIONS
from kubectl_dra.tui.memory import read_config
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
