"""Writes completions/ from the scripts that the program prints: ``python tools/completions.py``."""

from __future__ import annotations

from pathlib import Path

from kubectl_dra.commands.completion.scripts import FILES, SCRIPTS

FOLDER = Path(__file__).resolve().parents[1] / "completions"

if __name__ == "__main__":
    for shell, script in SCRIPTS.items():
        (FOLDER / FILES[shell]).write_text(script, encoding="utf-8")
