"""Claims of pods that stand in the wrong place or under a wrong name, wherever a pod spec stands: as they are meant.

The API server knows none of these fields: kubectl apply refuses them, other clients drop them without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubectl_dra.api.trees import below, list_at, mapping

Tree = dict[str, Any]
#: What is corrected: where it stands, and what is wrong with it.
Corrected = tuple[str, str]

_CONTAINERS: Final = ("containers", "initContainers")
_ENTRIES: Final = "resourceClaims"
_CLAIMS: Final = "claims"
#: Wrong names without case and signs -> the right one.
_OF_PODS: Final = {"resourceclaim": _ENTRIES, "resourceclaims": _ENTRIES}
_OF_ENTRIES: Final = {
    "resourceclaimtemplate": "resourceClaimTemplateName",
    "resourceclaimtemplatename": "resourceClaimTemplateName",
    "claimtemplatename": "resourceClaimTemplateName",
    "templatename": "resourceClaimTemplateName",
    "resourceclaim": "resourceClaimName",
    "resourceclaimname": "resourceClaimName",
    "claimname": "resourceClaimName",
}
_OF_RESOURCES: Final = {"claim": _CLAIMS, "claims": _CLAIMS, "resourceclaim": _CLAIMS, "resourceclaims": _CLAIMS}
_AMOUNTS: Final = ("limits", "requests")
_DEPTH: Final = 24


def corrected_claims(tree: object) -> Iterator[Corrected]:
    """Correct the claims of all pod specs in an object, and tell each mistake."""
    for path, spec in _pod_specs(tree, "", 0):
        yield from _of_pod(spec, path)
        for name in _CONTAINERS:
            for index, container in enumerate(list_at(spec, name)):
                if isinstance(container, dict):
                    yield from _of_container(container, f"{below(path, name)}[{index}]")


def _pod_specs(value: object, path: str, depth: int) -> Iterator[tuple[str, Tree]]:
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield path, value
        for key, child in list(value.items()):
            yield from _pod_specs(child, below(path, key), depth + 1)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _pod_specs(child, f"{path}[{index}]", depth + 1)


def _of_pod(spec: Tree, path: str) -> Iterator[Corrected]:
    for wrong, right in _misnamed(spec, _OF_PODS):
        value = spec[wrong]
        entries = [value] if isinstance(value, dict) else value
        if isinstance(entries, list) and all(isinstance(each, dict) for each in entries):
            del spec[wrong]
            spec[right] = entries
            yield below(path, wrong), f"a pod has a list {right}; the server drops other names"
    for index, entry in enumerate(list_at(spec, _ENTRIES)):
        for wrong, right in _misnamed(entry, _OF_ENTRIES) if isinstance(entry, dict) else ():
            if isinstance(entry[wrong], str):
                entry[right] = entry.pop(wrong)
                yield f"{below(path, _ENTRIES)}[{index}].{wrong}", f"the name stands under {right}"


def _of_container(container: Tree, path: str) -> Iterator[Corrected]:
    resources = container.get("resources", {})
    if not isinstance(resources, dict):
        return
    places = [(f"{path}.resources.{each}", mapping(resources.get(each))) for each in _AMOUNTS]
    found: list[Any] = []
    for place, holder in (*places, (path, container)):
        # An amount of a resource of that name is no claim.
        for name in [each for each in holder if each in (_CLAIMS, _ENTRIES) and isinstance(holder[each], list)]:
            found += holder.pop(name)
            yield below(place, name), f"claims of a container stand under resources.{_CLAIMS}"
    for wrong, right in _misnamed(resources, _OF_RESOURCES):
        if isinstance(resources[wrong], list):
            resources[right] = resources.pop(wrong)
            yield f"{path}.resources.{wrong}", f"a container has a list resources.{right}"
    claims = resources.get(_CLAIMS, [])
    if not isinstance(claims, list):
        return
    claims = [*claims, *(each for each in found if each not in claims)]
    for index, each in enumerate(claims):
        if isinstance(each, str):
            claims[index] = {"name": each}
            yield f"{path}.resources.{_CLAIMS}[{index}]", f"an entry is an object: {{name: {each}}}"
    if claims:
        resources[_CLAIMS] = claims
        container["resources"] = resources


def _misnamed(holder: Tree, meant: Mapping[str, str]) -> list[tuple[str, str]]:
    """Fields under a wrong name, where nothing stands under the right one; the first of several."""
    found: dict[str, str] = {}
    for name in holder:
        right = meant.get("".join(each for each in name.lower() if each not in "_-"))
        if right is not None and right not in holder:
            found.setdefault(right, name)
    return [(wrong, right) for right, wrong in found.items()]
