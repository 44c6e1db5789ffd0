"""One comparison is read as the same however it is written, and never where a selector wants something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.diagnosis.records import Removal, StageName
from kubectl_dra.output.pending.removals import removal_note
from kubectl_dra.output.pending.wanted import Wanted
from kubectl_dra.selectors.comparisons import only_comparison, short_clause

CLASS = "gpu.example.com"
ATTRIBUTE, MEMORY = f'device.attributes["{CLASS}"].', f'device.capacity["{CLASS}"].memory'
MODEL, VERSION = f"{ATTRIBUTE}model", f"{ATTRIBUTE}driverVersion"
#: Selectors that mean the same, first as most people write them, by the words for 2 free devices and for a bound.
SAME: dict[tuple[str, str | None], tuple[str, ...]] = {
    ("2 free H100 devices", None): (
        f'{MODEL} == "H100"',
        f'"H100" == {MODEL}',
        f"{MODEL} == 'H100'",
        f'device.attributes["{CLASS}"]["model"] == "H100"',
        f"device.attributes['{CLASS}'].model == r\"H100\"",
        f'{MODEL} in ["H100"]',
        f'!({MODEL} != "H100")',
        f'device.attributes["{CLASS}"].?model.orValue("") == "H100"',
        f'"H100" == device.attributes["{CLASS}"][?"model"].orValue("none")',
        f'{MODEL} == "H100" && "H100" == {MODEL}',
    ),
    ("2 free gpu.example.com devices with tier gold", None): (
        f'{ATTRIBUTE}tier == "gold"',
        f'"gold" == {ATTRIBUTE}tier',
        f'{ATTRIBUTE}tier in ["gold"]',
    ),
    ("2 free gpu.example.com devices that match the selector", "at least 80Gi of memory"): (
        f'{MEMORY}.compareTo(quantity("80Gi")) >= 0',
        f'0 <= {MEMORY}.compareTo(quantity("80Gi"))',
        f'quantity("80Gi").compareTo({MEMORY}) <= 0',
        f'0 >= quantity("80Gi").compareTo({MEMORY})',
        f'{MEMORY}.compareTo(quantity("80Gi")) > -1',
        f'{MEMORY}.compareTo(quantity("80Gi")) != -1',
        f'!{MEMORY}.isLessThan(quantity("80Gi"))',
        f'!(quantity("80Gi").isGreaterThan({MEMORY}))',
    ),
    ("2 free gpu.example.com devices that match the selector", "driverVersion more than 1.2.0"): (
        f'{VERSION}.compareTo(semver("1.2.0")) > 0',
        f'{VERSION}.isGreaterThan(semver("1.2.0"))',
        f'semver("1.2.0").isLessThan({VERSION})',
        f'!({VERSION}.compareTo(semver("1.2.0")) <= 0)',
    ),
    ("2 free gpu.example.com devices that match the selector", "exactly 80Gi of memory"): (
        f'{MEMORY}.compareTo(quantity("80Gi")) == 0',
        f'{MEMORY} == quantity("80Gi")',
        f'quantity("80Gi") == {MEMORY}',
    ),
}
FORMS = [(words, text) for words, texts in SAME.items() for text in texts]
#: What makes no difference.
ROUNDS: dict[str, Callable[[str], str]] = {
    "brackets": lambda text: f"({text})",
    "spaces": lambda text: text.replace(" ", "\n  "),
    "not not": lambda text: f"!(!({text}))",
    "twice": lambda text: f"({text}) && {text}",
}


def words(*selectors: str) -> tuple[str, str | None]:
    wanted = Wanted(CLASS, 2, selectors)
    return str(wanted.phrase()), str(wanted.bound) if wanted.bound is not None else None


@given(st.sampled_from(FORMS), st.lists(st.sampled_from(sorted(ROUNDS)), max_size=4))
def test_what_means_the_same_is_said_the_same(form: tuple[tuple[str, str | None], str], rounds: list[str]) -> None:
    expected, text = form
    for name in rounds:
        text = ROUNDS[name](text)
    assert words(text) == expected


@pytest.mark.parametrize(("expected", "text"), FORMS)
def test_a_test_of_whether_it_is_there_wants_nothing_more(expected: tuple[str, str | None], text: str) -> None:
    name = next(each for each in ("model", "tier", "memory", "driverVersion") if each in text)
    field = "capacity" if name == "memory" else "attributes"
    of_driver = f'device.{field}["{CLASS}"]'
    for guard in (f"has({of_driver}.{name})", f'"{CLASS}" in device.{field}', f'"{name}" in {of_driver}'):
        assert words(f"{guard} && {text}") == expected
        assert words(guard, text) == expected


@pytest.mark.parametrize(
    "selectors",
    [
        (),
        ("true",),
        (f'{MODEL} == "H100" || {MODEL} == "A100"',),
        (f'{MODEL} == "H100" && {ATTRIBUTE}tier == "gold"',),
        (f'{MODEL} == "H100"', f'{ATTRIBUTE}tier == "gold"'),
        (f'has({ATTRIBUTE}tier) && {MODEL} == "H100"',),
        (f'"index" in device.attributes["{CLASS}"] && {MODEL} == "H100"',),
        (f'"other.example.com" in device.attributes && {MODEL} == "H100"',),
        (f'device.driver == "{CLASS}" && {MODEL} == "H100"',),
        (f'!has({MODEL}) && {MODEL} == "H100"',),
        (f'{MODEL} != "H100"',),
        (f'!({MODEL} == "H100")',),
        (f'{MODEL} in ["H100", "A100"]',),
        (f'device.attributes["{CLASS}"].?model.orValue("H100") == "H100"',),
        (f"{MODEL} == {ATTRIBUTE}tier",),
        (f"{MODEL}.startsWith('H')",),
        (f'{MODEL}.lowerAscii() == "h100"',),
        (f"has({MODEL})",),
        (f'{MEMORY}.compareTo(quantity("80Gi")) >= 1 && {MEMORY}.compareTo(quantity("90Gi")) <= 0',),
        (f'{MEMORY}.compareTo(quantity("80Gi")) >= 2',),
        (f'{MEMORY}.compareTo(quantity("80Gi")) >= -1',),
        (f'{MEMORY}.compareTo(quantity("80Gi")) != 0',),
        (f"{MODEL} ==",),
        (f'{MODEL} == "H100"', f"{MODEL} =="),
    ],
)
def test_what_wants_more_or_something_else_is_no_comparison(selectors: tuple[str, ...]) -> None:
    assert only_comparison(selectors) is None


@pytest.mark.parametrize(
    "clause",
    [
        f'{MODEL} == "H100"',
        f'"H100" == {MODEL}',
        f'({MODEL}) == "H100"',
        f'!({MODEL} != "H100")',
        f'device.attributes["{CLASS}"]["model"] == "H100"',
        f'{MODEL} in ["H100", "A100"]',
        f'device.attributes["{CLASS}"].?model.orValue("") in ["H100"]',
    ],
)
def test_what_a_device_has_instead_is_named_however_the_condition_is_written(clause: str) -> None:
    assert str(removal_note(StageName.SELECTORS, [Removal(StageName.SELECTORS, clause, ("d",), "L40")], "")) == (
        "model is L40"
    )


@pytest.mark.parametrize(
    ("clause", "note"),
    [
        (f'{MODEL}.startsWith("H")', 'model.startsWith("H") (seen: L40)'),
        (f"{MODEL} == {ATTRIBUTE}tier", "model == tier (seen: L40)"),
        (f'"H100" == {MODEL}.upperAscii()', '"H100" == model.upperAscii() (seen: L40)'),
    ],
)
def test_a_value_that_does_not_tell_why_stands_behind_its_condition(clause: str, note: str) -> None:
    assert str(removal_note(StageName.SELECTORS, [Removal(StageName.SELECTORS, clause, ("d",), "L40")], "")) == note


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (f'{MODEL} ==  "H100"', 'model == "H100"'),
        (f'"H100" == device.attributes["{CLASS}"]["model"]', '"H100" == model'),
        (
            f"has({MODEL}) &&\n {MEMORY}.compareTo(quantity('1Gi')) > 0",
            "has(model) && memory.compareTo(quantity('1Gi')) > 0",
        ),
        (f'device.attributes["{CLASS}"].?model.orValue("") == "a"', 'model.orValue("") == "a"'),
        (f'size(device.attributes["{CLASS}"])  > 1', f'size(device.attributes["{CLASS}"]) > 1'),
        ("no such  key: model", "no such key: model"),
    ],
)
def test_a_short_clause_is_without_domains(text: str, short: str) -> None:
    assert short_clause(text) == short
