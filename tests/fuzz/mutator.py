"""Damage to texts: pieces are left out, doubled, exchanged, replaced by odd ones, or cut in the middle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

#: JSON and CEL fall into pieces alike: texts, words and numbers, white space, single signs.
_PIECE = re.compile(r'"(?:\\.|[^"\\])*"|[\w.]+|\s+|.', re.DOTALL)
ODD = (
    *("", "null", "true", "-1", "0", "1e999", "-0.0", "9223372036854775808", "18446744073709551616", "9" * 400),
    *('""', '"', "\\", "[", "]", "{", "}", "(", ")", ":", ",", ".", "'", "`", "/*", "//", "\n", "\x00", "\x1b[31m"),
    *("\u202e", "\u200b", "\ud800", "\U0010ffff", "é", "☃", "\\u0000", "\\ud800", "[" * 300, "{" * 300, "(" * 300),
    *("a" * 5000, "- ", "&a", "*a", "<<: ", "!!binary", "%", "$(id)", ";", "|", "../..", "1.2.3", "1Ki", "1m", "0x"),
)


def pieces(text: str) -> list[str]:
    """What a text is made of; joined, the text itself."""
    return _PIECE.findall(text)


class Mutator:
    """Makes damaged texts of good ones; the same seed makes the same."""

    def __init__(self, corpus: Sequence[str], seed: int) -> None:
        self._random = Random(seed)
        self._corpus = [pieces(text) for text in corpus]

    def __call__(self) -> str:
        """The next one: mostly a little damaged, sometimes much, rarely not at all."""
        random = self._random
        made = list(random.choice(self._corpus))
        for _ in range(random.choice((0, 1, 1, 1, 1, 2, 2, 3, 5, 12))):
            if made:
                self._damage(made)
        text = "".join(made)
        if random.random() < 0.1:
            at = random.randrange(len(text) + 1)
            text = random.choice((text[:at], text[at:], text[:at] + random.choice(ODD) + text[at:]))
        return text

    def _damage(self, made: list[str]) -> None:
        random = self._random
        at = random.randrange(len(made))
        match random.randrange(7):
            case 0:
                del made[at]
            case 1:
                made.insert(at, made[random.randrange(len(made))])
            case 2:
                other = random.randrange(len(made))
                made[at], made[other] = made[other], made[at]
            case 3:
                made[at] = random.choice(ODD)
            case 4:
                made[at] = random.choice(random.choice(self._corpus) or ODD)
            case 5:
                made[at:at] = made[at : at + random.randrange(1, 30)]
            case _:
                piece = made[at]
                cut = random.randrange(len(piece) + 1)
                made[at] = (
                    piece[:cut] + chr(random.choice((0, 9, 34, 39, 45, 47, 57, 65, 92, 127, 233, 8238))) + piece[cut:]
                )
