"""What the UI remembers from one start to the next, and what the user has set in a file; neither is ever fatal.

``$XDG_CONFIG_HOME/kubectl-dra/tui.toml`` is the user's and only read. ``$XDG_STATE_HOME/kubectl-dra/tui.json`` is the
program's. What the command line says comes first, then the file, then what was chosen last.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = "kubectl-dra"
_LARGEST: Final = 1_000_000
_SELECTORS: Final = 50


@dataclass(frozen=True, slots=True)
class Config:
    """The user's file. None and empty: not set. ``problems``: what is wrong with it, unescaped."""

    theme: str = ""
    view: str = ""
    preview: bool | None = None
    columns: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass
class Memory:
    """What was chosen and written; kept in memory only where there is no ``path``.

    ``columns`` are attributes of devices, empty for the telling ones. ``selectors`` were tried, the newest first;
    ``saved`` are kept by name.
    """

    theme: str = ""
    preview: bool | None = None
    columns: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    saved: dict[str, str] = field(default_factory=dict)
    path: Path | None = None

    def tried(self, expression: str) -> None:
        """A selector was tried; a longer one that begins so takes the place of what was still being typed."""
        text = expression.strip()
        others = [each for each in self.selectors if each != text]
        if text:
            self.selectors = (text, *others)[:_SELECTORS]

    def save(self) -> str:
        """Write it; returns what was wrong, empty if nothing was."""
        if self.path is None:
            return ""
        text = json.dumps({name: value for name, value in asdict(self).items() if name != "path"}, indent=1)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two programs that end at the same time must not mix their files.
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self.path.parent, prefix=self.path.name, delete=False
            ) as file:
                file.write(text)
            Path(file.name).replace(self.path)
        except OSError as error:
            return f"{self.path}: {error.strerror or error}"
        return ""


def state_path(environment: Mapping[str, str] | None = None) -> Path:
    """Where the program's file is."""
    return _xdg("XDG_STATE_HOME", ".local/state", environment) / _FOLDER / "tui.json"


def config_path(environment: Mapping[str, str] | None = None) -> Path:
    """Where the user's file may be."""
    return _xdg("XDG_CONFIG_HOME", ".config", environment) / _FOLDER / "tui.toml"


def _xdg(name: str, default: str, environment: Mapping[str, str] | None) -> Path:
    known = os.environ if environment is None else environment
    given = known.get(name, "")
    # The specification: relative paths are to be ignored.
    return Path(given) if given.startswith("/") else Path(known.get("HOME") or Path.home()) / default


def read_memory(path: Path) -> Memory:
    """What was remembered; nothing where the file is missing or is not what the program writes."""
    found: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        document = json.loads(_text(path))
        found = document if isinstance(document, dict) else {}
    memory = Memory(path=path)
    for each in fields(Memory):
        value = found.get(each.name)
        match each.name:
            case "theme" if isinstance(value, str):
                memory.theme = value
            case "preview" if isinstance(value, bool):
                memory.preview = value
            case "columns" | "selectors" if isinstance(value, list):
                setattr(memory, each.name, tuple(item for item in value if isinstance(item, str)))
            case "saved" if isinstance(value, dict):
                memory.saved = {name: text for name, text in value.items() if isinstance(text, str)}
    return memory


def read_config(path: Path) -> Config:
    """The user's settings; what is wrong in the file is said, and the rest counts."""
    try:
        document = tomllib.loads(_text(path))
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        return Config(problems=(f"{path}: {error}",))
    problems = [f"{path}: no setting “{name}”" for name in document if name not in _SETTINGS]
    values: dict[str, Any] = {}
    for name, (is_right, what) in _SETTINGS.items():
        if name in document and is_right(document[name]):
            values[name] = tuple(document[name]) if name == "columns" else document[name]
        elif name in document:
            problems.append(f"{path}: {name} must be {what}")
    return Config(**values, problems=tuple(problems))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST).decode("utf-8")


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


VIEWS: Final = ("overview", "pools", "claims", "pending", "lab", "taints")
_SETTINGS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "theme": (lambda value: value in ("dark", "light"), '"dark" or "light"'),
    "view": (lambda value: value in VIEWS, f"one of {', '.join(VIEWS)}"),
    "preview": (lambda value: isinstance(value, bool), "true or false"),
    "columns": (_is_names, "a list of names of attributes"),
}
