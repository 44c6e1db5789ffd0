"""``tui`` and ``test-selector -i``: what is refused before anything starts, and what is not imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.tui.answers import settings_of


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["tui", "--from", "demo"], 1, "needs a terminal"),
        (["test-selector", "-i", "true", "--from", "demo"], 1, "needs a terminal"),
        (["test-selector", "-i", "true", "false", "--from", "demo"], 2, "takes one"),
        (["test-selector", "-i", "-f", "x.yaml", "--from", "demo"], 2, "cannot be combined"),
        (["tui", "nonsense"], 2, "unexpected"),
    ],
)
def test_refusals(capfd, arguments, code, text):
    assert run(arguments) == code
    out, err = capfd.readouterr()
    assert not out
    assert text in err


def test_settings():
    settings = settings_of(Options(namespace="ml", from_="demo"), light=True, tab="lab", expression="true")
    assert (settings.namespace, settings.theme, settings.tab, settings.expression) == ("ml", "dra-light", "lab", "true")
    assert list(settings.contexts()) == []
    feed = settings.connect("")
    assert (feed.title, feed.live) == ("demo", False)
    assert settings_of(Options(namespace="ml", all_namespaces=True, from_="demo")).namespace == ""


def test_textual_is_loaded_only_when_it_starts():
    code = (
        "import sys\n"
        "from kubectl_dra.commands.app import run\n"
        "run(['tui', '--help'])\n"
        "run(['tui', '--from', 'demo'])\n"
        "assert 'textual' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
