"""Saturating arithmetic and device paths of cost estimates."""

import pytest

from kubectl_dra.cel.check.environment import SCHEDULER
from kubectl_dra.cel.check.front import check
from kubectl_dra.cel.cost.estimate import estimate_cost
from kubectl_dra.cel.cost.sizes import MAX, Size, ValuePath, add, multiply, scaled, size_at


def test_arithmetic_is_that_of_floats_and_saturates():
    assert [scaled(size, 0.1) for size in (0, 1, 30, 64, 70, 71)] == [0, 1, 3, 7, 7, 8]
    assert scaled(MAX, 0.1) == 1844674407370955264
    assert scaled(MAX, 1.0) == scaled(MAX, 2.1) == scaled(2**63, 3.0) == MAX
    assert add(MAX, 1) == multiply(MAX, 2) == multiply(2**33, 2**33) == MAX
    assert multiply(MAX, 0) == 0
    assert Size(1, 3).plus(Size(2, MAX)) == Size(3, MAX)
    assert Size(2, 3).times(Size(0, 5)) == Size(0, 15)
    assert Size(2, 3).union(Size(0, 2)) == Size(0, 3)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("device", 0),
        ("device driver", 63),
        ("device allowMultipleAllocations", 1),
        ("device attributes", 32),
        ("device attributes @keys", 63),
        ("device attributes @values", 32),
        ("device attributes @values @keys", 32),
        ("device attributes @values x", 64),
        ("device attributes @values @values", 64),
        ("device attributes @values x y", None),
        ("device attributes d", None),
        ("device capacity @values @values", 0),
        ("device capacity @values m", None),
        ("device driver @items", None),
        ("other", None),
    ],
)
def test_sizes_of_device_data(path, most):
    assert size_at(path.split()) == (None if most is None else Size(0, most))


def test_extensions_of_one_path_share_storage_where_go_slices_do():
    two = ValuePath.extend(ValuePath.root("device"), "attributes")
    three = ValuePath.extend(two, "@values")
    first = ValuePath.extend(three, "@keys")
    assert first.size() == Size(0, 32)
    second = ValuePath.extend(three, "x")
    assert first.size() == second.size() == Size(0, 64)
    assert ValuePath.extend(two, "@keys").size() == Size(0, 63)
    assert three.size() == Size(0, 32)


@pytest.mark.parametrize(
    ("expression", "cost"),
    [
        ('device.driver == "d.example.com"', 4),
        ('device.capacity["d.example.com"].mem.compareTo(quantity("8Gi")) >= 0', 7),
        ("[1, 2, 3].all(n, n < 5)", 26),
        ("[1, 2, 3].exists(n, n == 2)", 29),
        ("device == device", 2),
        ('cel.bind(a, device.attributes["d"], a.exists(k, a[k] == k))', 495),
        ('device.attributes["d"].kind.split("-")[0].upperAscii() == "BIG"', 1844674407370955283),
    ],
)
def test_whole_expressions(expression, cost):
    assert estimate_cost(check(expression, SCHEDULER)) == cost
