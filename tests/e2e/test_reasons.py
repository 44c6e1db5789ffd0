"""The pages of the reasons: each command by which one can see it for oneself runs on a real cluster."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.controlplane import Client, ControlPlane
from tests.controlplane.__main__ import plane_environment
from tests.e2e.situations import Case, bring_about, cases

pytestmark = pytest.mark.controlplane

_PAGES: Final = Path(__file__).parent.parent.parent / "docs" / "reasons"
_COMMAND: Final = re.compile(r"## See it yourself\n\n```\n(.*)\n```")
# Kinds and fields that 1.37 has no more, and groups of pods, which it does not serve by default.
_OTHER_SERVERS: Final = re.compile(r"podschedulingcontext|resourceclass|resourceclaimparameters|podgroups")
_CASE: Final = cases()["taint-rule"]
_STANDS_FOR: Final = {
    "DRIVER/POOL": "gpu.example.com/node-1",
    "EXPRESSION": 'device.driver == "gpu.example.com"',
    "CLASS": "gpu.example.com",
    "CLAIM": "claim",
    "NAMESPACE": _CASE.namespace,
    "NODE": "node-1",
    "POD": "pod",
}


def commands() -> dict[str, str]:
    """The command of each page with names in the place of what stands for them."""
    found = {}
    for page in sorted(_PAGES.glob("*.md")):
        match = _COMMAND.search(page.read_text())
        assert match is not None, page
        found[page.stem] = match[1]
    for word, name in _STANDS_FOR.items():
        # Column headers of kubectl are in capitals too.
        found = {code: re.sub(rf"(?<![\w,]){word}(?![\w:])", name, command) for code, command in found.items()}
    return found


def test_every_command_runs(plane: ControlPlane, client: Client) -> None:
    bring_about(client, Case(**{**vars(_CASE), "fix": ()}))
    environment = plane_environment(plane)

    def error(command: str) -> str:
        line = command.replace(" --watch", " --watch --request-timeout=1s")
        words = ["bash", "-o", "pipefail", "-c", line]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    ran = [command for command in dict.fromkeys(commands().values()) if not _OTHER_SERVERS.search(command)]
    with ThreadPoolExecutor(4) as pool:
        failed = {command: text for command, text in zip(ran, pool.map(error, ran), strict=True) if text}
    assert failed == {}
    assert len(ran) > 40
