"""``-o jsonpath`` and ``-o custom-columns`` as kubectl reads them; the cases are those of kubectl's documentation."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_dra.output.jsonpath import JsonPath, JsonPathError, path_of
from kubectl_dra.output.templates import is_template, writer_of

DOCUMENT = {
    "kind": "List",
    "items": [
        {
            "kind": "None",
            "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "127.0.0.1"}},
            "status": {"capacity": {"cpu": "4"}, "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.1"}]},
        },
        {
            "kind": "None",
            "metadata": {"name": "127.0.0.2"},
            "status": {
                "capacity": {"cpu": "8"},
                "addresses": [
                    {"type": "LegacyHostIP", "address": "127.0.0.2"},
                    {"type": "another", "address": "127.0.0.3"},
                ],
            },
        },
    ],
    "users": [
        {"name": "myself", "user": {}},
        {"name": "e2e", "user": {"username": "admin", "password": "secret"}, "age": 7, "on": True},
    ],
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("kind is {.kind}", "kind is List"),
        ("{@.kind}", "List"),
        ("{$.kind}", "List"),
        ("{['kind']}", "List"),
        ("{..name}", "127.0.0.1 127.0.0.2 myself e2e"),
        ("{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"),
        ("{.users[0].name}", "myself"),
        ("{.users[-1].name}", "e2e"),
        ("{.users[5].name}", ""),
        ("{.items[*]['metadata.name', 'status.capacity']}", ""),
        ("{.items[*]['kind', 'nothing']}", "None None"),
        ('{.users[?(@.name=="e2e")].user.password}', "secret"),
        ("{.users[?(@.age>5)].name}", "e2e"),
        ("{.users[?(@.age>=8)].name}", ""),
        ("{.users[?(@.on==true)].name}", "e2e"),
        ("{.users[?(@.age==true)].name}", ""),
        ('{.users[?(@.name!="e2e")].name}', "myself"),
        ("{.users[?(@.user.username)].name}", "e2e"),
        (
            "{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
            '[127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] ',
        ),
        ('{range .items[*]}{.metadata.name}{"\\t"}{.status.capacity.cpu}{"\\n"}{end}', "127.0.0.1\t4\n127.0.0.2\t8\n"),
        ("{range .items[*]}{range .status.addresses[*]}{.address};{end}{end}", "127.0.0.1;127.0.0.2;127.0.0.3;"),
        ("{.items[0].metadata.labels.kubernetes\\.io/hostname}", "127.0.0.1"),
        ("{.items[0].metadata.labels['kubernetes.io/hostname']}", "127.0.0.1"),
        ("{.items[0:2].kind}", "None None"),
        ("{.items[1:].metadata.name}", "127.0.0.2"),
        ("{.items[0:2:2].metadata.name}", "127.0.0.1"),
        ("{.items[0,1].metadata.name}", "127.0.0.1 127.0.0.2"),
        ("{.missing.at.all}", ""),
        ("no braces", "no braces"),
        ("{.users[1].on}{.users[1].age}", "true7"),
        ("{.users[*].name[0]}", ""),
    ],
)
def test_a_template_prints_what_kubectl_prints(template: str, expected: str) -> None:
    assert JsonPath(template).lines(DOCUMENT) == expected


@pytest.mark.parametrize(
    "template",
    [
        "{",
        "{.a",
        "{.a[}",
        "{.a[x]}",
        "{range .a}",
        "{end}",
        "{.a[?(@.b==)]}",
        "{.a[?(@.b==1]}",
        "{.a[]}",
        "{a}",
        "{..}",
        '{"a}',
    ],
)
def test_a_template_that_cannot_be_read_is_an_error_with_its_place(template: str) -> None:
    with pytest.raises(JsonPathError):
        JsonPath(template)


@given(st.text(alphabet="{}[]().@$*?'\"\\,:=<>!ab1 range end", max_size=24))
@settings(max_examples=300, deadline=None)
def test_no_template_ends_in_another_error(text: str) -> None:
    try:
        JsonPath(text).lines(DOCUMENT)
    except JsonPathError:
        return


def test_values_are_escaped_and_texts_of_the_template_are_not() -> None:
    assert JsonPath("{.a}\n").lines({"a": "x\x1b[31m\ny"}) == "x\\u{1b}[31m\\u{a}y\n"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("NAME:.metadata.name,CPU:.status.capacity.cpu", "NAME       CPU\n127.0.0.1  4\n127.0.0.2  8"),
        ("N:metadata.name", "N\n127.0.0.1\n127.0.0.2"),
        ("N:{.metadata.name}", "N\n127.0.0.1\n127.0.0.2"),
        ("L:.metadata.labels,T:.status.addresses[0,1].type", None),
        ("X:.nothing", "X\n<none>\n<none>"),
    ],
)
def test_columns_have_a_line_per_item(columns: str, expected: str | None) -> None:
    found = writer_of(f"custom-columns={columns}")(json.dumps(DOCUMENT).encode())
    assert expected is None or found == expected
    assert len(found.splitlines()) == 3


def test_a_single_object_is_one_line() -> None:
    assert writer_of("custom-columns=K:.kind")(b'{"kind":"Pod"}') == "K\nPod"


@pytest.mark.parametrize(
    "output",
    ["jsonpath", "jsonpath=", "custom-columns=", "custom-columns=A", "custom-columns=A:", "custom-columns=A:.b]"],
)
def test_a_format_without_its_text_is_an_error(output: str) -> None:
    assert is_template(output)
    with pytest.raises(JsonPathError):
        writer_of(output)


def test_paths_may_be_written_bare() -> None:
    assert path_of("metadata.name").find({"metadata": {"name": "x"}}, None) == ["x"]
