"""Tokens and literal values as cel-go's grammar defines them."""

import pytest

from kubectl_dra.cel.syntax.lexer import Unrecognized, tokenize
from kubectl_dra.cel.syntax.literals import LiteralError, bytes_value, double_value, int_value, string_value, uint_value


def kinds(source: str) -> str:
    return " ".join(token.kind for token in tokenize(source)[0][:-1])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a in b", "IDENTIFIER in IDENTIFIER"),
        ("inside true_ nullable", "IDENTIFIER IDENTIFIER IDENTIFIER"),
        ("1. 1.0 .5 1e3 1.e3", "NUM_INT . NUM_FLOAT NUM_FLOAT NUM_FLOAT NUM_INT . IDENTIFIER"),
        ("1.2.3", "NUM_FLOAT NUM_FLOAT"),
        ("0x1F 0X1F 0x1fu 12U", "NUM_INT NUM_INT IDENTIFIER NUM_UINT NUM_UINT"),
        ("1e 1e+ 1u2", "NUM_INT IDENTIFIER NUM_INT IDENTIFIER + NUM_UINT NUM_INT"),
        ("r'a' br'a' rb'a' b\"\" R'''a\nb'''", "STRING BYTES IDENTIFIER STRING BYTES STRING"),
        ("''''''", "STRING"),
        ('"""a"b""c"""', "STRING"),
        ("''''a", "STRING STRING IDENTIFIER"),
        ("a//b\nc", "IDENTIFIER IDENTIFIER"),
        ("<=>===!=!", "<= >= == != !"),
        ("`a.b-c/d e`", "ESC_IDENTIFIER"),
        ("&&||?:.,%", "&& || ? : . , %"),
        ("a\t\f\r\nb", "IDENTIFIER IDENTIFIER"),
    ],
)
def test_kinds(source, expected):
    assert kinds(source) == expected


@pytest.mark.parametrize(
    ("source", "skipped"),
    [
        ("a; b", [(1, ";")]),
        ("a & b", [(2, "& ")]),
        ("a = b", [(2, "= ")]),
        ("|", [(0, "|")]),
        ('"abc', [(0, '"abc')]),
        ("'a\nb'", [(0, "'a\n"), (4, "'")]),
        (r"'\u12'", [(0, r"'\u12'")]),
        (r"'\q'", [(0, r"'\q"), (3, "'")]),
        (r"'\477'", [(0, r"'\4"), (5, "'")]),
        ("``", [(0, "``")]),
        ("`a#`", [(0, "`a#"), (3, "`")]),
        ("é☃", [(0, "é"), (1, "☃")]),
    ],
)
def test_what_is_no_token_is_skipped(source, skipped):
    assert tokenize(source)[1] == [Unrecognized(*each) for each in skipped]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"'\a\b\f\n\r\t\v\\\?\"\'\`'", "\a\b\f\n\r\t\v\\?\"'`"),
        (r"'\377\x41\X42\u2603\U0001F600'", "\u00ffAB\u2603\U0001f600"),
        (r"r'\n\'", "\\n\\"),
        ('"""a\r\nb\rc"""', "a\nb\nc"),
        ("''", ""),
        ("''''''", ""),
        ('R"a"', "a"),
    ],
)
def test_strings(text, value):
    assert string_value(text) == value


@pytest.mark.parametrize("text", [r"'\ud800'", r"'\udfff'", r"'\U00110000'"])
def test_strings_hold_valid_code_points_only(text):
    with pytest.raises(LiteralError, match="invalid unicode code point"):
        string_value(text)


def test_bytes():
    assert bytes_value(r"b'\377\xfe☃a'") == b"\xff\xfe" + "☃a".encode()
    assert bytes_value(r"Br'\377'") == rb"\377"
    for text in (r"b'\u0041'", r"b'\U00000041'"):
        with pytest.raises(LiteralError, match="unable to unescape string"):
            bytes_value(text)


def test_numbers():
    assert int_value("9223372036854775808", negative=True) == -(2**63)
    assert int_value("0x7fffffffffffffff", negative=False) == 2**63 - 1
    assert int_value("0" * 5000 + "7", negative=False) == 7
    assert uint_value("18446744073709551615u") == 2**64 - 1
    assert uint_value("0xFFU") == 255
    assert double_value("1e-400", negative=False) == 0
    assert str(double_value("0.0", negative=True)) == "-0.0"


@pytest.mark.parametrize("text", ["9223372036854775808", "0x8000000000000000", "9" * 10_000])
def test_ints_have_64_bits(text):
    with pytest.raises(LiteralError, match="invalid int literal"):
        int_value(text, negative=False)


def test_uints_and_doubles_have_64_bits():
    with pytest.raises(LiteralError, match="invalid uint literal"):
        uint_value("18446744073709551616u")
    with pytest.raises(LiteralError, match="invalid double literal"):
        double_value("1e400", negative=True)
