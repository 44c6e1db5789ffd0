"""The second opinion: an independent engine on the same devices, its gaps named, its differences told."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kubectl_dra.cel import SCHEDULER, compile_expression, device_value
from kubectl_dra.cel.read.second import SecondEngine
from kubectl_dra.commands.app import run
from kubectl_dra.model.resource import Device, DeviceAttribute, DeviceCapacity
from tests.allocation.clusters import quantity
from tests.kit.clock import CLOCK
from tests.kit.evaluated import evaluated

DRIVER = "gpu.example.com"
DEVICE = Device(
    "gpu-0",
    attributes={
        "model": DeviceAttribute(string="H100"),
        "other.example.com/slots": DeviceAttribute(int_value=4),
        "ready": DeviceAttribute(bool_value=True),
        "names": DeviceAttribute(strings=("a", "b")),
        "driverVersion": DeviceAttribute(version="1.2.3"),
    },
    capacity={"memory": DeviceCapacity(quantity("80Gi"))},
)


@pytest.mark.parametrize(
    "expression",
    [
        f'device.driver == "{DRIVER}"',
        f'device.attributes["{DRIVER}"].model == "H100"',
        f'device.attributes["{DRIVER}"].model.startsWith("A")',
        'device.attributes["other.example.com"].slots > 3',
        f'device.attributes["{DRIVER}"].ready && !has(device.attributes["{DRIVER}"].slots)',
        f'"memory" in device.capacity["{DRIVER}"] && !("memory" in device.capacity["other.example.com"])',
        f'device.attributes["{DRIVER}"].names.exists(each, each == "b")',
        f'device.attributes["{DRIVER}"].model in ["A100", "H100"] ? true : false',
        f'device.attributes["{DRIVER}"].nothing == "x"',
        'device.attributes["nobody.example.com"].nothing == "x"',
        'device.attributes["nobody.example.com"].nothing == "x" || true',
        "!device.allowMultipleAllocations",
    ],
)
def test_both_engines_say_the_same(expression):
    program = compile_expression(expression, SCHEDULER)
    engine = SecondEngine(program)
    assert engine.gaps == ()
    ours, theirs = evaluated(program, device_value(DRIVER, DEVICE)), engine.match(DRIVER, DEVICE, True)
    assert (isinstance(theirs, str), theirs is True) == (ours.error is not None, ours.match is True), (ours, theirs)


@pytest.mark.parametrize(
    ("expression", "gaps"),
    [
        (f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("1Gi"))', ("isGreaterThan()", "quantity()")),
        (f'device.attributes["{DRIVER}"].?model.orValue("") == ""', ("optional values", "orValue()")),
        ('cel.bind(driver, device.driver, driver == "x")', ("bind()",)),
        ('semver("1.2.3").major() == 1', ("major()", "semver()")),
    ],
)
def test_what_it_lacks_is_named(expression, gaps):
    assert set(gaps) <= set(SecondEngine(compile_expression(expression, SCHEDULER)).gaps)


def report(capfd, expression, *options):
    code = run(["test-selector", expression, "--from", "demo", "-o", "json", *options], CLOCK)
    return code, json.loads(capfd.readouterr().out)


def test_the_report_counts_and_shows_differences(capfd):
    agrees = report(capfd, f'device.attributes["{DRIVER}"].model == "H100"', "--cross-check")[1]["crossCheck"]
    assert (agrees["engine"], agrees["differ"], agrees["gaps"]) == ("cel-python", 0, [])
    assert agrees["compared"] > 10
    # It takes an index that CEL refuses.
    differs = report(capfd, '["a", "b"][-1] == "b"', "--cross-check")[1]["crossCheck"]
    assert differs["differ"] == differs["compared"] > 10
    assert {(each["scheduler"], each["other"]) for each in differs["differences"]} == {("error", "matches")}
    lacks = report(capfd, 'semver("1.2.3").major() == 1', "--cross-check")[1]["crossCheck"]
    assert (lacks["compared"], "semver()" in lacks["gaps"]) == (0, True)


def test_it_never_changes_an_answer(capfd):
    expression = '["a", "b"][-1] == "b"'
    (code, plain), (crossed_code, crossed) = report(capfd, expression), report(capfd, expression, "--cross-check")
    assert plain.pop("crossCheck") is None
    assert crossed.pop("crossCheck")["differ"]
    assert (code, plain) == (crossed_code, crossed)


def test_a_selector_that_does_not_compile_is_not_compared(capfd):
    assert report(capfd, "device.nothing", "--cross-check")[1]["crossCheck"]["gaps"] == [
        "selectors that do not compile"
    ]


def test_it_is_loaded_only_where_it_is_asked_for():
    program = (
        "import sys; from kubectl_dra.commands.app import run\n"
        "run(['test-selector', 'true', '--from', 'demo'])\n"
        "assert 'celpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
