"""The page of each reason, as text and in sections.

The pages stand in ``docs/reasons`` of the sources; a wheel and an archive carry them beside this module.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code

_PACKAGED: Final = Path(__file__).parent / "reasons"
_SOURCES: Final = Path(__file__).parents[3] / "docs" / "reasons"
_SECTION: Final = re.compile(r"^## (.*)\n", re.MULTILINE)
_FENCE: Final = re.compile(r"```(?:[a-z]*)\n(.*?)```", re.DOTALL)

SEE: Final = "What you see"
FIX: Final = "How to fix it"


class ReasonPage(msgspec.Struct, frozen=True):
    """The page of one code: its sections by heading, as Markdown."""

    code: Code
    text: str
    sections: dict[str, str]

    @property
    def message(self) -> str:
        """What the scheduler, the controller or the kubelet writes, with placeholders in capitals."""
        return " ".join(" ".join(self.messages).split())

    @property
    def messages(self) -> tuple[str, ...]:
        """The same line by line: each is a message of its own."""
        found = _FENCE.search(self.sections[SEE])
        return tuple(found[1].strip().splitlines()) if found is not None else ()

    @property
    def advice(self) -> str:
        """How to fix it, in one paragraph without examples."""
        return " ".join(self.sections[FIX].split("\n\n")[0].split())


@cache
def reason_page(code: Code) -> ReasonPage:
    folder = _PACKAGED if _PACKAGED.is_dir() else _SOURCES
    text = (folder / f"{code}.md").read_text(encoding="utf-8")
    parts = _SECTION.split(text)
    return ReasonPage(code, text, dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True)))
