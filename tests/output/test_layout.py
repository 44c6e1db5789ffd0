"""Columns of a terminal: widths, wrapping, tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.output.console import captured, page_width, pages_of
from kubectl_dra.output.layout import BATCH, Column, closed, long_table, padded, table, width, wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, plain, safe, styled

TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x30FF), max_size=60).map(safe)


def test_widths() -> None:
    assert [width(Safe(text)) for text in ("", "abc", "日本", "é", "e\u0301", "😀")] == [0, 3, 4, 1, 1, 2]
    assert width(styled(Safe("ab"), Style.BAD)) == 2


def test_padding() -> None:
    assert padded(Safe("日"), 4) == "日  "
    assert padded(Safe("a"), 3, right=True) == "  a"
    assert padded(Safe("abc"), 2) == "abc"


def test_wrapping() -> None:
    text = Safe("the first line is the answer")
    assert wrapped(text, 12) == ["the first", "line is the", "answer"]
    assert wrapped(text, 14, indent=2, first=0) == ["the first line", "  is the", "  answer"]
    assert wrapped(Safe(""), 10) == [""]
    assert wrapped(Safe("abcdefgh ij"), 4) == ["abcd", "efgh", "ij"]
    assert wrapped(Safe("日本語"), 4) == ["日本", "語"]


@given(TEXT, st.integers(8, 40), st.integers(0, 6))
def test_wrapped_lines_fit_and_lose_no_word(text: Safe, columns: int, indent: int) -> None:
    lines = wrapped(text, columns, indent=indent)
    assert all(width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(TEXT, st.integers(4, 40))
def test_colours_do_not_change_where_lines_break(text: Safe, columns: int) -> None:
    text = Safe(" ".join(text.split()))
    coloured = wrapped(styled(text, Style.GOOD), columns)
    assert [plain(line) for line in coloured] == wrapped(text, columns)


def test_a_table() -> None:
    columns = [Column("NAME"), Column("FREE", right=True), Column("USED BY", flexible=True)]
    rows = [[Safe("gpu-0"), Safe("1"), Safe("")], [Safe("日本"), Safe("10"), Safe("pod ml/serve-0")]]
    assert table(columns, rows) == ["NAME   FREE  USED BY", "gpu-0     1", "日本     10  pod ml/serve-0"]
    assert table(columns, rows, indent=2, header=False)[0] == "  gpu-0   1"


def test_flexible_columns_wrap_where_the_table_is_too_wide() -> None:
    columns = [Column("A"), Column("B", flexible=True)]
    rows = [[Safe("name"), Safe("one two three four five six seven eight")]]
    lines = table(columns, rows, columns_wide=30)
    assert all(width(line) <= 30 for line in lines)
    assert lines == ["A     B", "name  one two three four five", "      six seven eight"]
    assert len(table(columns, rows, columns_wide=None)) == 2


def test_a_name_that_leaves_no_room_is_not_cut_but_put_on_a_line_of_its_own() -> None:
    columns = [Column("DEVICE", flexible=True), Column("STATE"), Column("USED BY", flexible=True)]
    node = "gke-prod-a3-highgpu-8g-5f3a2b1c-x9zk"
    rows = [
        [Safe("gpu-0"), Safe("in use"), Safe(f"pod ml/serve-0 on {node}")],
        [Safe(""), Safe(""), Safe("pod b")],
        [Safe("gpu-1"), Safe("free"), Safe("-")],
    ]
    assert table(columns, rows, columns_wide=44, indent=2) == [
        "  DEVICE  STATE",
        "      USED BY",
        "  gpu-0   in use",
        "      pod ml/serve-0 on",
        f"        {node}",
        "      pod b",
        "  gpu-1   free",
    ]
    slices = [Column("SLICE", flexible=True), Column("NODES", flexible=True), Column("AGE")]
    assert table(slices, [[Safe(f"{node}-gpu"), Safe(node), Safe("9d")]], columns_wide=60) == [
        "SLICE",
        "    NODES                                 AGE",
        f"{node}-gpu",
        f"    {node}  9d",
    ]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_tables_fit_and_have_no_space_at_the_end(rows: list[tuple[Safe, Safe]]) -> None:
    cells = [[Safe(left[:10]), right] for left, right in rows]
    for line in table([Column("A"), Column("B", flexible=True)], cells, columns_wide=48):
        assert width(line) <= 48
        assert not line.endswith(" ")


def test_a_long_table_is_a_table_that_widens() -> None:
    columns = [Column("NAME", flexible=True), Column("N", right=True)]
    rows = [[Safe(f"name-{number}"), Safe(str(number))] for number in range(BATCH - 1)]
    assert list(long_table(columns, iter(rows))) == table(columns, rows)
    assert list(long_table(columns, iter(rows), header=False)) == table(columns, rows, header=False)
    assert list(long_table(columns, iter([]))) == table(columns, [])
    wider = [*rows, [Safe("a name that needs more"), Safe("1000000")]]
    *lines, last = long_table(columns, iter(wider))
    assert lines == table(columns, rows, columns_wide=None)
    assert last == "a name that needs more  1000000"


def test_a_line_is_closed_at_the_right_end_of_the_page() -> None:
    with pages_of(20):
        assert closed(Safe("agrees"), Safe("4m ago")) == ["agrees        4m ago"]
        assert closed(Safe("twelve in it"), Safe("4m ago")) == ["twelve in it  4m ago"]
        assert closed(Safe("thirteen in it"), Safe("4m ago")) == ["thirteen in it", "              4m ago"]


def test_a_page_has_the_width_that_it_is_given() -> None:
    text = Safe("word " * 30)
    assert max(map(width, wrapped(text))) == 79
    with pages_of(31):
        assert max(map(width, wrapped(text))) == 29
        assert max(map(width, table([Column(flexible=True)], [[text]], header=False))) == 29
        with captured():
            assert page_width() == 31


def test_a_long_table_begins_before_all_rows_are_there() -> None:
    def rows() -> Iterator[list[Safe]]:
        for number in count():
            taken.append(number)
            yield [Safe("x")]

    taken: list[int] = []
    assert next(long_table([Column("A")], rows())) == "A"
    assert len(taken) < 2 * BATCH


def test_addresses_are_not_broken():
    address = f"https://extender.example.svc.cluster.local:8888/{'a' * 80}/filter"
    lines = wrapped(fmt("its scheduler did not reach its extender {}: connection refused", address), 80)
    assert lines[1] == f"{address}:"
    # Of other words that are longer than a line each part has room.
    assert max(map(len, wrapped(fmt("pod {}", "b/" * 100), 80))) <= 80
