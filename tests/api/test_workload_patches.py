"""Patches of pods in texts: merged as the API machinery merges them, or left alone."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_dra.api.workloads.argo import patched, read_patch

SPEC: dict[str, Any] = {
    "containers": [{"name": "main", "image": "x", "resources": {"limits": {"cpu": "1"}}}, {"name": "side"}],
    "tolerations": [{"key": "a"}],
    "nodeSelector": {"a": "1", "b": "2"},
}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("nodeSelector: {b: null, c: '3'}", {"nodeSelector": {"a": "1", "c": "3"}}),
        ("tolerations: [{key: b}]", {"tolerations": [{"key": "b"}]}),
        ('{"nodeSelector": null}', {"nodeSelector": None}),
        (
            "containers:\n- name: main\n  resources:\n    limits:\n      memory: 1Gi\n",
            {
                "containers": [
                    {"name": "main", "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}},
                    {"name": "side"},
                ]
            },
        ),
        ("containers: [{name: new}]", {"containers": [*SPEC["containers"], {"name": "new"}]}),
        ("volumes: [{name: v}]", {"volumes": [{"name": "v"}]}),
    ],
)
def test_mappings_and_lists_with_keys_are_merged(text: str, changed: dict[str, Any]) -> None:
    patch = read_patch(text)
    assert patch is not None
    expected = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    assert patched(SPEC, patch) == expected


@pytest.mark.parametrize(
    "text",
    [
        "priority: {{inputs.parameters.p}}",
        "containers: [{$patch: delete, name: main}]",
        '{"$retainKeys": ["a"]}',
        "a: &x [1]\nb: *x\n",
        "- a",
        "a: [",
        "a: 2020-01-01",
        "x" * 70_000,
        7,
    ],
)
def test_what_cannot_be_applied_here_is_left(text: object) -> None:
    assert read_patch(text) is None
