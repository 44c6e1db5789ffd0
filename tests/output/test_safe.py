"""Nothing in data can act on a terminal or hide from the reader."""

from __future__ import annotations

import shlex
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.output.safe import Safe, Style, command, fmt, multiline, plain, quote, safe, styled

HOSTILE = {
    "\x1b[31mred": "\\u{1b}[31mred",
    "a\rb": "a\\u{d}b",
    "a\nb\tc": "a\\u{a}b\\u{9}c",
    "\x7f": "\\u{7f}",
    "\x9b2J": "\\u{9b}2J",
    "\u202eevil": "\\u{202e}evil",
    "\u2066x\u2069": "\\u{2066}x\\u{2069}",
    "a\u200bb": "a\\u{200b}b",
    "\ufeff": "\\u{feff}",
    "\u2028": "\\u{2028}",
    "\u00ad": "\\u{ad}",
    "\u3164": "\\u{3164}",
    "\ud800": "\\u{d800}",
    "\U000e0041": "\\u{e0041}",
    "plain größe 日本 😀": "plain größe 日本 😀",
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.items())
def test_escapes(text: str, shown: str) -> None:
    assert safe(text) == shown
    assert fmt("{}", text) == shown
    assert Safe("") + text == shown
    assert Safe(" ").join([text]) == shown


def test_line_breaks_stay_only_in_multi_line_views() -> None:
    assert multiline("a\n\tb\r\x1b") == "a\n\tb\\u{d}\\u{1b}"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_no_category_of_active_or_invisible_characters_comes_through(text: str) -> None:
    shown = safe(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    assert safe(shown) == shown
    shown.encode()


def test_every_format_character_of_unicode_is_escaped() -> None:
    """Those that Unicode itself lets be seen (Arabic and other number signs) may stay."""
    visible = {"Arabic": range(0x600, 0x606), "more": (0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
    allowed = {code for codes in visible.values() for code in codes} | set(range(0x13430, 0x13440))
    through = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and safe(chr(code)) == chr(code)
    }
    assert through <= allowed


def test_fmt_escapes_arguments_but_not_the_template() -> None:
    assert fmt("{} of {pool!s:>6}|{:,}", "a\x1b", 1000, pool="p") == "a\\u{1b} of      p|1,000"
    assert fmt("{}", Safe("\x1b[1mours\x1b[0m")) == "\x1b[1mours\x1b[0m"
    assert fmt("{}", ["\x1b"]) == "['\\x1b']"


def test_styles_can_be_taken_off() -> None:
    text = styled(Safe("bad"), Style.BAD)
    assert text == "\x1b[31mbad\x1b[0m"
    assert plain(text) == "bad"
    assert styled(Safe(""), Style.BAD) == ""


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_quoted_words_are_one_word_for_a_shell(text: str) -> None:
    quoted = quote(text)
    assert quoted is not None
    assert shlex.split(quoted) == [text]


def test_what_no_shell_line_should_show_gets_no_command() -> None:
    assert quote("a\nb") is quote("\u202e") is quote("ü") is None
    assert command(("kubectl", "delete", "pod", "a\x1b")) is None
    assert command(None) is None
    assert command(("kubectl", "delete", "pod", "a b", "$(x)")) == "kubectl delete pod 'a b' '$(x)'"
