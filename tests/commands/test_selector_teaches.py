"""test-selector says what to write instead: bare names, wrong domains, values alone, units, unfinished input."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.commands.app import run

DOMAIN = "gpu.example.com"
H100 = f'device.attributes["{DOMAIN}"].model == "H100"'


def page(capfd: pytest.CaptureFixture[str], expression: str) -> str:
    run(["test-selector", expression, "--from", "demo"])
    return " ".join(capfd.readouterr().out.split())


@pytest.mark.parametrize(
    "expression",
    [
        'model == "H100"',
        'device.attributes["gpu.nvidia.com"].model == "H100"',
        f'device.attributes["{DOMAIN}"].model',
        'model == "h100"',
        'device.attributes["gpu.example.con"].model = "H100"',
        'device.model == "H100"',
        'gpu.example.com/model == "H100"',
        "model == H100",
    ],
)
def test_what_was_meant_is_written_out_and_was_tried(capfd: pytest.CaptureFixture[str], expression: str) -> None:
    text = page(capfd, expression)
    assert f"tried: 16 of 32 match, 7 of them free, none fails): {H100}" in text


def test_a_bare_capacity_is_found_too(capfd: pytest.CaptureFixture[str]) -> None:
    text = page(capfd, 'memory >= quantity("80Gi")')
    assert f'device.capacity["{DOMAIN}"].memory.compareTo(quantity("80Gi")) >= 0' in text


@pytest.mark.parametrize(
    "expression",
    [
        f'device.capacity["{DOMAIN}"].memory >= 80Gi',
        f'device.capacity["{DOMAIN}"].memory >= 80GiB',
        "memory >= 80 Gi",
    ],
)
def test_an_amount_without_quotes(capfd: pytest.CaptureFixture[str], expression: str) -> None:
    meant = f'device.capacity["{DOMAIN}"].memory.compareTo(quantity("80Gi")) >= 0'
    assert f"none fails): {meant}" in page(capfd, expression)


@pytest.mark.parametrize(
    ("test", "meant"),
    [
        ('>= "550"', '.compareTo(semver("550.0.0")) >= 0'),
        ('> "v550.54"', '.isGreaterThan(semver("550.54.0"))'),
        ('.isGreaterThan(semver("550"))', '.isGreaterThan(semver("550.0.0"))'),
        ('.compareTo(semver("550.054.14")) > 0', '.compareTo(semver("550.54.14")) > 0'),
    ],
)
def test_a_version_of_less_than_three_numbers(capfd: pytest.CaptureFixture[str], test: str, meant: str) -> None:
    version = f'device.attributes["{DOMAIN}"].driverVersion'
    space = "" if test.startswith(".") else " "
    assert f"none fails): {version}{meant}" in page(capfd, f"{version}{space}{test}")


def test_what_is_declared_is_no_bare_name(capfd: pytest.CaptureFixture[str]) -> None:
    expression = f'["H100", "A30"].exists(model, device.attributes["{DOMAIN}"].model == model)'
    run(["test-selector", expression, "-o", "json", "--from", "demo"])
    assert json.loads(capfd.readouterr().out)["rewrites"] == []


def test_a_value_alone_is_told_to_be_no_truth_value(capfd: pytest.CaptureFixture[str]) -> None:
    text = page(capfd, f'device.attributes["{DOMAIN}"].model')
    assert "a selector must be true or false, and this one is of type string" in text


@pytest.mark.parametrize(
    "expression", ['device.attributes["gpu.example.com"].', 'device.attributes["gpu.example.com"', "true &&"]
)
def test_unfinished_input_says_what_could_follow(capfd: pytest.CaptureFixture[str], expression: str) -> None:
    text = page(capfd, expression)
    assert "(it is not finished)" in text
    assert 'What the devices publish: device.attributes["gpu.example.com"]: model "H100"' in text


@pytest.mark.parametrize(
    "written",
    [
        'MEMORY.compareTo(quantity("40")) >= 0',
        '(MEMORY).compareTo( quantity( r"40" ) ) >= 0',
        '!MEMORY.isLessThan(quantity("40"))',
        '0 >= quantity("40").compareTo(MEMORY)',
        'quantity("40").isLessThan(MEMORY)',
        'has(MEMORY) && quantity("40").compareTo(MEMORY) < 0',
    ],
)
def test_an_amount_without_a_unit(capfd: pytest.CaptureFixture[str], written: str) -> None:
    text = page(capfd, written.replace("MEMORY", f'device.capacity["{DOMAIN}"].memory'))
    assert '40 has no unit, and the devices have 80Gi of memory: did you mean quantity("40Gi")?' in text
    assert "did you mean quantity" not in page(
        capfd, f'device.capacity["{DOMAIN}"].memory.compareTo(quantity("40Gi")) >= 0'
    )


def test_a_selector_that_matches_is_not_lectured(capfd: pytest.CaptureFixture[str]) -> None:
    assert "What the devices publish" not in page(capfd, H100)


def test_a_unit_that_kubernetes_lacks_is_the_verdict_and_corrected(capfd: pytest.CaptureFixture[str]) -> None:
    memory = f'device.capacity["{DOMAIN}"].memory'
    text = page(capfd, f'{memory}.compareTo(quantity("80GB")) >= 0')
    assert 'Fails on all 32 devices: "80GB" is not a Kubernetes quantity; write "80G"' in text
    assert f'{memory}.compareTo(quantity("80G")) >= 0' in text


@pytest.mark.parametrize("written", [f'device.capacity["{DOMAIN}"].memory >= 80', "memory >= 80", "memory > 40"])
def test_a_number_without_a_unit_is_questioned_first_and_written_with_the_likeliest(
    capfd: pytest.CaptureFixture[str], written: str
) -> None:
    text, digits = page(capfd, written), written[-2:]
    question = f'{digits} has no unit, and the devices have 80Gi of memory: did you mean quantity("{digits}Gi")?'
    assert text.startswith(question) and text.count(question) == 1
    matching = {"80": 16, "40": 32}[digits]
    assert f"with the unit that devices publish; tried: {matching} of 32 match" in text
    assert f'quantity("{digits}Gi")' in text.partition("Instead")[2] and f'quantity("{digits}")' not in text
    assert "did you mean or?" not in text


def test_the_unit_is_of_the_kind_that_devices_publish(capfd: pytest.CaptureFixture[str]) -> None:
    text = page(capfd, "bandwidth >= 100")
    assert text.startswith('100 has no unit, and the devices have 100G of bandwidth: did you mean quantity("100G")?')
