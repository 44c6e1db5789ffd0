"""Any folder of manifests through every command that takes files: what crashes, what is refused, what has changed."""

from __future__ import annotations

import io
import json
import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kubectl_dra.commands.app import run

ENDINGS: Final = (".yaml", ".yml", ".json")
#: Files without any of these have nothing to do with devices.
ABOUT: Final = ("resource.k8s.io", "resourceClaims", "resource.nvidia.com", "devmgmtproto", "ReplicaSpecs")
COMMANDS: Final = {
    "simulate": ("-o", "json"),
    "lint": ("-o", "json", "--fail-on", "never"),
    "convert": ("-o", "json"),
    "test-selector": ("-o", "json"),
}
_MOST: Final = 4 << 20


@dataclass(slots=True)
class Verdict:
    """What the commands make of one file. ``fits`` is empty where nothing could be read of it."""

    fits: str = ""
    codes: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """As it is kept in a file of verdicts."""
        return {"fits": self.fits, "codes": self.codes, "refused": self.refused, "mistakes": self.mistakes}


def manifests(folder: Path) -> Iterator[Path]:
    """The files below a folder that are about devices, in the order of their names."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (".git", "vendor", "node_modules"))
        for name in sorted(files):
            path = Path(here, name)
            if name.endswith(ENDINGS) and path.is_file() and path.stat().st_size < _MOST:
                text = path.read_text(encoding="utf-8", errors="replace")
                if any(word in text for word in ABOUT):
                    yield path


def judged(path: Path, cluster: Sequence[str]) -> Verdict:
    """What every command says about a file, on a cluster (words of ``--from``)."""
    verdict = Verdict()
    for command, more in COMMANDS.items():
        source = [] if command == "convert" else [word for name in cluster for word in ("--from", name)]
        code, out, err = called([command, "-f", str(path), *more, *source])
        verdict.codes[command] = code
        if "Traceback" in err or code < 0:
            verdict.crashes.append(f"{command}: {err.strip().splitlines()[-1] if err.strip() else 'no words'}")
        elif command == "simulate" and out:
            _simulated(verdict, json.loads(out))
        elif command == "lint" and out:
            found = json.loads(out)["findings"]
            verdict.mistakes = [f"{each['code']}: {each['path']}" for each in found if each["severity"] == "error"]
    return verdict


def _simulated(verdict: Verdict, report: dict[str, Any]) -> None:
    verdict.fits = report["fits"]
    for each in report["manifests"]:
        name = f"{each['object']['kind']} {each['object']['name']}"
        verdict.refused += [f"{name}: {text}" for text in (*each["refused"], *filter(None, [each["error"]]))]


def called(words: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program; -1 for an exception, with the traceback on stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = run(words)
        except Exception:
            code = -1
            traceback.print_exc()
    texts = (each.buffer.getvalue().decode("utf-8", "replace") for each in (out, err))  # type: ignore[attr-defined]
    return (code, *texts)  # type: ignore[return-value]
