"""What the standard library says of broken JSON, in words for whoever wrote the file."""

from __future__ import annotations

from typing import Final

_WORDS: Final = (
    ("',' delimiter", "a comma or a closing bracket is missing"),
    ("':' delimiter", "a colon is missing"),
    ("property name", "a name in double quotes is missing"),
    ("Expecting value", "a value is missing"),
    ("Unterminated string", "a text in double quotes is not closed"),
    ("Invalid control character", "a text has a line break or another control character in it"),
    ("escape", "a text has a backslash that begins no escape"),
    ("Illegal trailing comma", "a comma stands before a closing bracket"),
    ("Extra data", "something follows where the document ends"),
)


def json_words(message: str) -> str:
    """The message of a ``json.JSONDecodeError`` in plain words."""
    return next((words for part, words in _WORDS if part in message), "it is not valid")
