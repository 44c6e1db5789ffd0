"""Printed commands tried on the server without effect: kubectl runs them with ``--dry-run=server``, step by step.

What kubectl can't try so is tried in its place: an object that would be deleted and created again is created under
another name; what has no dry run is left out. Nothing is ever changed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kubectl_dra.model.invocation import Words
from kubectl_dra.source.errors import FileError

_SECONDS: Final = 60.0
_SERVER: Final = "--dry-run=server"
_CLIENT: Final = "--dry-run=client"
_SUFFIX: Final = "-try"
_LONGEST: Final = 63 - len(_SUFFIX)
# Of the object that is there; a new one has none of it.
_OWN: Final = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


class Rehearsed(msgspec.Struct, frozen=True):
    """One command: what kubectl said, and whether the server would take it; ``tried`` is False where that is open."""

    words: Words
    said: str = ""
    accepted: bool = True
    tried: bool = True


def rehearse(commands: Sequence[Words], manifest: dict[str, Any] | None) -> list[Rehearsed]:
    """One step: commands that read each other's output, the first one ``manifest``. Ends with the first refusal.

    Raises :class:`FileError` where there is no kubectl.
    """
    text, found = "" if manifest is None else json.dumps(manifest), []
    for words in commands:
        done, text = _one(words, text)
        found.append(done)
        if not done.accepted:
            break
    return found


def _one(words: Words, text: str) -> tuple[Rehearsed, str]:
    verb = words[1]
    if verb == "rollout":
        return Rehearsed(words, tried=False), ""
    if verb == "replace":
        rest = [word for word in words[2:] if word != "--force"]
        return _run(words, ["create", *rest, _SERVER, "-o", "name"], _renamed(text))
    if verb == "get" or _CLIENT in words:
        # Reads, and changes only what it prints.
        done, out = _run(words, ["json" if word == "yaml" else word for word in words[1:]], "")
        return (Rehearsed(words) if done.accepted else done), out
    if words[1:3] == ("create", "job"):
        words_ = [*words[1:3], f"{words[3][:_LONGEST]}{_SUFFIX}", *words[4:]]
        return _run(words, [*words_, _SERVER], "")
    return _run(words, [*words[1:], _SERVER], "")


def _run(words: Words, arguments: Sequence[str], text: str) -> tuple[Rehearsed, str]:
    program = shutil.which("kubectl")
    if program is None:
        raise FileError("a dry run needs kubectl, which is not on the PATH", "leave out --dry-run")
    try:
        done = subprocess.run(
            [program, *arguments], input=text, capture_output=True, encoding="utf-8", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Rehearsed(words, f"no answer within {_SECONDS:.0f} s", accepted=False), ""
    failed = done.returncode != 0
    return Rehearsed(words, (done.stderr if failed else done.stdout).strip(), accepted=not failed), done.stdout


def _renamed(text: str) -> str:
    """The object under a name that is free, so that the server can say whether it would create it."""
    tree = json.loads(text)
    meta = tree["metadata"]
    for name in _OWN:
        meta.pop(name, None)
    meta["name"] = f"{meta['name'][:_LONGEST]}{_SUFFIX}"
    return json.dumps(tree)
