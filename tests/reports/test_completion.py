"""Completion of selectors: what is offered where, judged on the demo cluster's devices."""

from __future__ import annotations

import pytest

from kubectl_dra.reports.selector import Setting
from kubectl_dra.reports.selector.known import known_selectors
from kubectl_dra.selectors.completion import completions, name_at, named_values
from kubectl_dra.selectors.values import ValueIndex
from tests.reports.clusters import DEMO, document, facts

GPU = 'device.attributes["gpu.example.com"]'


@pytest.fixture(scope="module")
def setting():
    return Setting(facts(document(DEMO)))


def offered(setting, source, cursor=None):
    values = ValueIndex(setting.members)
    return completions(source, len(source) if cursor is None else cursor, setting.catalog, values)


@pytest.mark.parametrize(
    ("source", "first"),
    [
        ("", "device"),
        ("dev", "device"),
        ("device.", "driver"),
        ("device.att", "attributes"),
        ("device.attributes[", '"gpu.example.com"]'),
        ('device.attributes["mig', '"mig.example.com"]'),
        (f"{GPU}.", "driverVersion"),
        (f"{GPU}.?nvlinkG", "nvlinkGeneration"),
        (f"{GPU}.model", None),
        (f"{GPU}.model ", "=="),
        (f"{GPU}.nvlinkDomain ", ">="),
        (f"{GPU}.model == ", '"H100"'),
        (f'{GPU}.model == "L', '"L40"'),
        (f'{GPU}.model == "H100" ', "&&"),
        (f'{GPU}.model in ["H100", ', '"H100"'),
        (f"{GPU}.nvlinkDomain == ", "0"),
        (f"{GPU}.?nvlinkGeneration.orValue(0) >= ", "4"),
        (f"{GPU}.driverVersion.isG", "isGreaterThan("),
        (f"{GPU}.driverVersion.isGreaterThan(", 'semver("550.90.7")'),
        (f'{GPU}.driverVersion.isGreaterThan(semver("57', '"570.12.0"'),
        ('device.capacity["gpu.example.com"].mem', "memory"),
        ('device.capacity["gpu.example.com"].memory.compareTo(', 'quantity("48Gi")'),
        ("mode", f"{GPU}.model"),
        ("seman", None),
        ("H100", f'{GPU}.model == "H100"'),
        ("l4", f'{GPU}.model == "L40"'),
        (f"{GPU}.nvlinkDomain == 0 && H1", f'{GPU}.model == "H100"'),
        ("half", 'device.attributes["mig.example.com"].profile == "half"'),
        ("semv", "semver("),
        ('device.driver.starts', "startsWith("),
        ("%$§", "device"),
    ],
)  # fmt: skip
def test_what_comes_first(setting, source, first):
    found = offered(setting, source)
    if first is None:
        assert source.rpartition(".")[2] not in {each.text for each in found}
    else:
        assert found[0].text == first


def test_every_completion_continues_what_is_typed(setting):
    for source in ("dev", "device.c", f"{GPU}.d", f'{GPU}.model == "', f"{GPU}.driverVersion.", "qua"):
        for each in offered(setting, source):
            typed = source[each.start :]
            assert each.text.startswith(typed) or typed.lower() in each.text.lower()


def test_serial_numbers_and_single_letters_are_no_values_to_look_for(setting):
    assert not [each for each in offered(setting, "GPU") if each.kind == "condition"]
    assert not [each for each in offered(setting, "H") if each.kind == "condition"]


def test_numbers_of_devices(setting):
    by_text = {each.text: each.devices for each in offered(setting, f"{GPU}.")}
    assert by_text["model"] == 32
    assert by_text["nvlinkDomain"] == 16
    values = offered(setting, f"{GPU}.model == ")
    assert sum(each.devices for each in values) == 32


def test_types(setting):
    types = {each.text: each.type for each in offered(setting, f"{GPU}.")}
    assert types == {
        "driverVersion": "semver",
        "model": "string",
        "uuid": "string",
        "nvlinkDomain": "int",
        "nvlinkGeneration": "int",
    }


def test_the_name_at_the_cursor(setting):
    source = f'{GPU}.model == "H100" && {GPU}.nvlinkDomain == 0'
    assert name_at(source, source.index("==") - 1, setting.catalog) == ("attributes", "gpu.example.com", "model")
    assert name_at(source, len(source), setting.catalog)[2] == "nvlinkDomain"
    assert name_at("true", 4, setting.catalog) is None


def test_distribution(setting):
    index = ValueIndex(setting.members)
    values = index.distribution(("attributes", "gpu.example.com", "model"))
    assert dict(values.values) == {"H100": 16, "L40": 16}
    assert sum(number for _, number in values.values) + values.lacking == len(setting.members)
    uuids = index.distribution(("attributes", "gpu.example.com", "uuid"), limit=5)
    assert len(uuids.values) == 5
    assert uuids.distinct == 32
    assert index.distribution(("capacity", "gpu.example.com", "memory")).type == "quantity"


def test_named_values(setting):
    names = named_values(setting.catalog)
    assert {(each.domain, each.name) for each in names} >= {
        ("gpu.example.com", "model"),
        ("nic.example.com", "bandwidth"),
    }
    assert all(each.devices > 0 for each in names)


def test_known_selectors(setting):
    inventory = setting.state.inventory
    known = known_selectors(inventory)
    assert {each.kind for each in known} == {"DeviceClass", "ResourceClaimTemplate", "ResourceClaim"}
    trainer = next(each for each in known if each.name.startswith("trainer-0-gpus"))
    assert (trainer.request, trainer.device_class) == ("gpus", "gpu.example.com")
    assert "H100" in trainer.expression
