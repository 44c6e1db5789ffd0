"""What ``make test`` takes of a long product, and what is left for ``-m rows``."""

from pathlib import Path

import pytest

from tests import conftest
from tests.kit import sample

CASES = [(letter, number) for letter in "ab" for number in range(7)]


def shares(monkeypatch: pytest.MonkeyPatch, seed: str) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """What is taken, and what is left."""
    monkeypatch.setattr(sample, "seed", lambda: seed)
    monkeypatch.setattr(sample, "leaves_out_rows", False)
    found = list(sample.sampled(CASES, 3, lambda case: case[0]))
    left = {each.values for each in found if [mark.name for mark in each.marks] == ["rows"]}
    return {each.values for each in found} - left, left


def test_each_group_has_its_share_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, left = shares(monkeypatch, "a commit")
    assert taken | left == set(CASES)
    assert sorted(letter for letter, _ in taken) == ["a"] * 3 + ["b"] * 3
    assert shares(monkeypatch, "a commit") == (taken, left)


def test_other_commits_take_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set().union(*(shares(monkeypatch, str(number))[0] for number in range(30))) == set(CASES)


class Item:
    """As much of a test as is looked at."""

    def __init__(self, name: str, path: str, mark: pytest.Mark | None) -> None:
        self.name, self.path, self.marks = name, Path(path), {mark.name: mark} if mark is not None else {}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks[mark.name] = mark.mark


def test_long_tests_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for number in range(30):
        monkeypatch.setattr(sample, "seed", lambda number=number: str(number))
        long = [Item(f"{path}{place}", path, pytest.mark.one_in(3).mark) for path in "ab" for place in range(6)]
        short = [Item("short", "a", None), Item("row", "a", pytest.mark.rows.mark)]
        sample.share_of([*long, *short])  # type: ignore[list-item]
        taken = [item.name for item in long if "rows" not in item.marks]
        assert [name[0] for name in taken] == ["a", "a", "b", "b"]
        assert [list(item.marks) for item in short] == [[], ["rows"]]
        seen.update(taken)
    assert len(seen) == 12


def test_a_run_without_rows_makes_no_tests_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, _ = shares(monkeypatch, "a commit")
    monkeypatch.setattr(sample, "leaves_out_rows", True)
    assert {each.values for each in sample.sampled(CASES, 3, lambda case: case[0])} == taken


@pytest.mark.parametrize("folder", conftest.ELSEWHERE)
def test_every_test_of_a_folder_that_is_left_out_has_its_mark(folder: str) -> None:
    modules = [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / folder).glob("test_*.py")]
    assert len(modules) > 0
    marks = [f"\npytestmark = pytest.mark.{mark}\n" for mark in conftest.ELSEWHERE[folder]]
    assert all(any(mark in module for mark in marks) for module in modules)
