"""Kinds of other projects on the control plane, which all files of a run share: served for a while, then gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from tests.controlplane import Client, StatusError
from tests.controlplane.client import Object, wait_for

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definition(group: str, kind: str, scope: str, *versions: str) -> Object:
    """A kind whose ``spec`` and ``status`` take any fields; the last of the versions is the one that is stored."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}}
    plural = f"{kind.lower()}s"
    served = [
        {
            "name": each,
            "served": True,
            "storage": each == versions[-1],
            "schema": schema,
            "subresources": {"status": {}},
        }
        for each in versions
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "scope": scope,
            "versions": served,
        },
    }


@contextmanager
def serving(client: Client, definitions: Iterable[Object]) -> Iterator[None]:
    """Serve kinds; with them all their objects go."""
    made, paths = [], []
    try:
        for each in definitions:
            client.request("POST", _DEFINITIONS, each)
            made.append(each["metadata"]["name"])
            spec = each["spec"]
            paths += [f"/apis/{spec['group']}/{at['name']}/{spec['names']['plural']}" for at in spec["versions"]]
        for path in paths:
            wait_for(lambda path=path: _answers(client, path), f"{path} is served")  # type: ignore[misc]
        yield
    finally:
        for name in made:
            client.request("DELETE", f"{_DEFINITIONS}/{name}")
        wait_for(lambda: not any(_answers(client, path) for path in paths), "the kinds are gone")


def _answers(client: Client, path: str) -> bool:
    try:
        client.request("GET", path)
    except StatusError:  # 404 until it is served
        return False
    return True
