"""Kinds that are known by the ownerReferences of pods only: the words for them, and whether a word means a kind."""

from __future__ import annotations

import re
from typing import Final

from kubectl_dra.api.kinds import Kind
from kubectl_dra.model.workloads import WorkloadObject

#: Short names that look like typing errors of other types (the ``shortNames`` of their CustomResourceDefinitions).
_SHORT: Final = {"vcjob": "job", "vj": "job", "vm": "virtualmachine", "vms": "virtualmachine"}
_HUMPS: Final = re.compile(r"[A-Z][a-z0-9]*")


def owner_kind(word: str) -> Kind:
    """What stands for the kind that a word means."""
    return Kind(word, "", (), word, word, (), True, WorkloadObject, workload=True)


def is_any_owner(kind: Kind) -> bool:
    return kind.workload and not kind.versions and kind.name == kind.plural


def is_owner_word(word: str) -> bool:
    """Whether a word is a short name of such a kind, or names an API group."""
    return word.lower() in _SHORT or "." in word


def means(word: str, kind: str) -> bool:
    """Whether a word is for a kind: its name, a plural of it, the letters of its humps, or a known short name."""
    plain = word.lower().partition(".")[0]
    plain = _SHORT.get(plain, plain)
    name, letters = kind.lower(), "".join(hump[0] for hump in _HUMPS.findall(kind)).lower()
    return plain in (name, f"{name}s", f"{name}es", letters, f"{letters}s")
