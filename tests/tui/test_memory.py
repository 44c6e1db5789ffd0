"""What is remembered and what the user has set: read, written, and never fatal."""

from __future__ import annotations

import pytest

from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.memory import Config, Memory, config_path, read_config, read_memory, state_path
from tests.tui.support import LARGE, play


def test_where_the_files_are(tmp_path):
    home = {"HOME": "/home/me"}
    assert str(config_path(home)) == "/home/me/.config/kubectl-dra/tui.toml"
    assert str(state_path(home)) == "/home/me/.local/state/kubectl-dra/tui.json"
    assert str(config_path({**home, "XDG_CONFIG_HOME": "/etc/x"})) == "/etc/x/kubectl-dra/tui.toml"
    # The specification: what is not absolute is to be ignored.
    assert str(state_path({**home, "XDG_STATE_HOME": "here"})).startswith("/home/me/")


def test_settings_of_the_user(tmp_path):
    file = tmp_path / "tui.toml"
    assert read_config(file) == Config()
    file.write_text('theme = "light"\nview = "pending"\npreview = false\ncolumns = ["uuid"]\n', encoding="utf-8")
    assert read_config(file) == Config("light", "pending", False, ("uuid",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("theme = 3", 'theme must be "dark" or "light"'),
        ('view = "x"', "view must be one of overview"),
        ("preview = 1", "preview must be true or false"),
        ("columns = [1]", "columns must be a list"),
        ("colour = 1", "no setting “colour”"),
        ("theme = ", "Invalid value"),
        ("\x00", "tui.toml"),
    ],
)
def test_a_wrong_file_is_said_and_not_fatal(tmp_path, text, words):
    file = tmp_path / "tui.toml"
    file.write_text(text, encoding="utf-8")
    config = read_config(file)
    assert config.theme == ""
    assert words in config.problems[0]
    file.write_bytes(b"\xff\xfe")
    assert read_config(file).problems
    assert read_config(tmp_path).problems


def test_what_was_chosen_is_there_at_the_next_start(tmp_path):
    path = tmp_path / "new" / "tui.json"
    memory = read_memory(path)
    assert memory == Memory(path=path)
    memory.tried("a")
    memory.tried("b")
    memory.tried("a ")
    memory.theme, memory.preview, memory.columns, memory.saved = "light", True, ("uuid",), {"mine": "true"}
    assert memory.save() == ""
    again = read_memory(path)
    assert again == memory
    assert again.selectors == ("a", "b")
    assert path.stat().st_mode & 0o077 == 0
    for wrong in ("", "[]", '{"theme": 1, "columns": "x", "saved": [], "selectors": [1]}', "{"):
        path.write_text(wrong, encoding="utf-8")
        assert read_memory(path) == Memory(path=path)
    # Where there is a file in place of the folder, that is said, and that is all.
    assert str(path) in Memory(path=path / "tui.json").save()


def test_the_command_line_comes_first_then_the_file_then_what_was_chosen(tmp_path):
    options = Options(from_="demo", all_namespaces=True)
    memory = Memory(theme="light", preview=True, path=tmp_path / "tui.json")
    settings = settings_of(options, memory=memory)
    assert (settings.theme, settings.preview, settings.tab) == ("dra-light", True, "overview")
    settings = settings_of(options, memory=memory, config=Config("dark", "claims", False, ("uuid",), ("wrong",)))
    assert (settings.theme, settings.preview, settings.tab) == ("dra-dark", False, "claims")
    assert settings_of(options, light=True, tab="lab", config=Config("dark", "claims")).tab == "lab"

    async def script(ui):
        assert ui.crumbs.startswith("claims")
        assert "wrong" in ui.screen
        await ui.press("p", "T")

    play(DraApp(settings), script, LARGE)
    kept = read_memory(tmp_path / "tui.json")
    assert (kept.theme, kept.preview, kept.columns) == ("light", True, ("uuid",))
