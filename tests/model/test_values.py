"""Quantities and versions against recorded answers of the real Go packages (apimachinery resource, blang semver)."""

import pytest

from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.semver import Semver, SemverError
from tests.vectors import rows as recorded


def quantity_answer(row):
    try:
        a = Quantity.parse(row["a"])
    except QuantityError as error:
        return {"error": str(error)}
    answer = {"text": str(a)}
    if a.as_int64() is not None:
        answer["int64"] = a.as_int64()
    try:
        b = Quantity.parse(row["b"])
    except QuantityError:
        return answer
    answer |= {"sum": str(a.add(b)), "difference": str(a.sub(b)), "cmp": a.cmp(b)}
    if a.add(b).as_int64() is not None:
        answer["sumInt64"] = a.add(b).as_int64()
    return answer


def semver_answer(row):
    try:
        a = Semver.parse(row["a"])
    except SemverError as error:
        return {"error": str(error)}
    try:
        return {"text": str(a), "cmp": a.cmp(Semver.parse(row["b"]))}
    except SemverError:
        return {"text": str(a)}


@pytest.mark.parametrize(("kind", "answer"), [("quantity", quantity_answer), ("semver", semver_answer)])
def test_recorded_answers(kind, answer):
    rows = [row for row in recorded.rows("values") if row["kind"] == kind]
    expected = [{k: v for k, v in row.items() if k not in ("kind", "a", "b")} for row in rows]
    assert len(rows) >= 1500
    assert [answer(row) for row in rows] == expected


def test_rounding_is_away_from_zero():
    assert Quantity.parse("1.2").ceil() == 2
    assert Quantity.parse("-1.2").ceil() == -2
    assert Quantity.parse("1500m").at_scale(-3) == (1500, True)
    assert Quantity.parse("1n").at_scale(-3) == (1, False)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('12["x"].0.0', r'Invalid character(s) found in major number "12[\"x\"]"'),
        ("1.0.\u202e\n\x7f", r'Invalid character(s) found in patch number "\u202e\n\x7f"'),
        ("1.0.0-a\\", r'Invalid character(s) found in prerelease "a\\"'),
        ("1.0.0+é", 'Invalid character(s) found in build meta data "é"'),
    ],
)
def test_errors_of_versions_quote_as_go_does(text, error):
    with pytest.raises(SemverError) as raised:
        Semver.parse(text)
    assert str(raised.value) == error
