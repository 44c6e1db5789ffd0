"""Pod templates in kinds that nobody knows, found by their shape: a mapping with a list of containers.

Of a kind whose operator makes the containers the claims of its pods may stand there: these can be tried alone.

How many pods there will be is taken from the fields on the way that known kinds use for it; whoever asks says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

from kubectl_dra.api.trees import Tree, mapping, number_of
from kubectl_dra.api.workloads import kubevirt
from kubectl_dra.api.workloads.templates import UNCOUNTED, CountField, Growth

_DEPTH: Final = 40
#: Fields that are the number of pods, best first; the first one of a mapping counts.
_NUMBERS: Final = ("replicas", "count", "instances", "parallelism", "numNodes", "minReplicas")
_LEAST: Final = "minReplicas"
_MOST: Final = "maxReplicas"
#: Fields that multiply it: the pods of one replica.
_SIZES: Final = ("size", "numOfHosts")
#: The same in a mapping of its own (Dynamo, ``multinode``).
_NESTED_SIZES: Final = (("multinode", "nodeCount"),)
#: Definitions of kinds describe pods, and make none.
_DESCRIBING: Final = frozenset({"status", "openAPIV3Schema", "validation"})


@dataclass(frozen=True, slots=True)
class Shaped:
    """``copies`` None: nothing on the way looks like a number of pods; ``fields`` are the paths that do.

    ``bare``: the spec of the pods itself stands at the path. ``moved``: fields that say what its containers request.
    """

    path: str
    body: Tree
    role: str = ""
    copies: int | None = None
    fields: tuple[str, ...] = ()
    counted_by: CountField = UNCOUNTED
    growth: Growth | None = None
    bare: bool = False
    moved: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Way:
    path: str = ""
    role: str = ""
    numbers: tuple[tuple[str, int], ...] = ()
    #: To how many an autoscaler of the innermost number goes.
    most: int | None = None
    #: Numbers that stand beside a template, and are those of its pods: others count where nothing else does.
    beside: tuple[tuple[str, int], ...] = ()

    def below(self, name: str, role: str = "") -> _Way:
        path = f"{self.path}{name}" if name.startswith("[") else f"{self.path}.{name}".lstrip(".")
        return replace(self, path=path, role=role or self.role)

    def counted(self, tree: Tree) -> _Way:
        first = next((field for field in _NUMBERS if _counts(tree, field)), None)
        named = [field for field in (first, *_SIZES) if field is not None and _counts(tree, field)]
        numbers = [(f"{self.path}.{field}".lstrip("."), int(tree[field])) for field in named]
        inside = ((outer, field) for outer, field in _NESTED_SIZES if _counts(mapping(tree.get(outer)), field))
        numbers += [(f"{self.path}.{outer}.{field}".lstrip("."), int(tree[outer][field])) for outer, field in inside]
        outer = tuple(each for each in self.numbers if first is None or each not in self.beside)
        most = tree.get(_MOST) if first == _LEAST and _counts(tree, _MOST) else self.most
        return replace(self, numbers=(*outer, *numbers), most=most if first in (_LEAST, None) else None)

    def found(self, body: Tree) -> Shaped:
        """The template that stands at its end."""
        copies = prod(value for _, value in self.numbers) if self.numbers else None
        fields = tuple(field for field, _ in self.numbers)
        # Fewer pods of this template alone: the innermost number, if it is not the size of one piece of work.
        sizes = {*_SIZES, *(field for _, field in _NESTED_SIZES)}
        own = [each for each in self.numbers if each[0].rpartition(".")[2] not in sizes][-1:]
        by = CountField(tuple(own), (copies or 0) // own[0][1]) if own and own[0][1] else UNCOUNTED
        grows = self.most is not None and own and self.most > own[0][1]
        growth = Growth("its autoscaler", (self.most or 0) * by.pods) if grows else None
        return Shaped(self.path, body, self.role, copies, fields, by, growth)


def shaped(tree: Tree) -> list[Shaped]:
    """The pod templates of an object of any kind."""
    return list(_search(tree, _Way(), 0))


def claims_alone(tree: Tree) -> list[Shaped]:
    """Where the claims of pods stand in an object without containers, each as a bare pod that has them.

    It tolerates all taints, and goes to any node: what its operator adds is not known, and can only rule nodes out.
    Of a virtual machine the memory is known.
    """
    return list(_search(tree, _Way(), 0, bare_pod))


def bare_pod(value: Tree) -> Tree | None:
    """A pod with the claims that a mapping lists as the spec of a pod does; None where it lists none."""
    entries = value.get("resourceClaims")
    if not isinstance(entries, list) or not entries or not all(map(_is_entry, entries)):
        return None
    named = dict.fromkeys(_device_requests(value, 0))
    whole = [{"name": each["name"]} for each in entries if each["name"] not in {claim for claim, _ in named}]
    claims = [*whole, *({"name": claim, "request": request} for claim, request in named)]
    requests = {name: amount for name, amount, _ in kubevirt.amounts(value)}
    resources = {"claims": claims, **({"requests": requests, "limits": _pages(requests)} if requests else {})}
    container = {"name": "main", "image": "unknown", "resources": resources}
    return {"containers": [container], "resourceClaims": entries, "tolerations": [{"operator": "Exists"}]}


def _pages(requests: Mapping[str, str]) -> dict[str, str]:
    """Huge pages have limits that are equal to their requests."""
    return {name: amount for name, amount in requests.items() if name.startswith("hugepages-")}


def _device_requests(value: Any, depth: int) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON value
    """The claims and requests that devices of a virtual machine name (KubeVirt, ``gpus`` and ``hostDevices``)."""
    if isinstance(value, dict):
        claim, request = value.get("claimName"), value.get("requestName")
        if isinstance(claim, str) and isinstance(request, str) and claim and request:
            yield claim, request
    if isinstance(value, dict | list) and depth <= _DEPTH:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _device_requests(each, depth + 1)


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    named = [value.get(field) for field in ("resourceClaimName", "resourceClaimTemplateName")]
    return sum(isinstance(each, str) and bool(each) for each in named) == 1


def _pod_spec(value: Tree) -> Tree | None:
    return value if _is_pod_spec(value) else None


def _search(
    value: Any,  # noqa: ANN401 - any JSON value
    way: _Way,
    depth: int,
    spec_of: Callable[[Tree], Tree | None] = _pod_spec,
) -> Iterator[Shaped]:
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("name") if isinstance(item, dict) else None
            role = name if isinstance(name, str) else ""
            yield from _search(item, way.below(f"[{index}]", role), depth + 1, spec_of)
    if not isinstance(value, dict):
        return
    if (found := spec_of(value)) is not None:
        way = way.counted(value)
        yield replace(way.found({"spec": found}), bare=True, moved=_moved(value, found, way.path))
        return
    outer, way = way.numbers, way.counted(value)
    spec = value.get("spec")
    if isinstance(spec, dict) and (found := spec_of(spec)) is not None and way.path:
        yield replace(way.found({**value, "spec": found}), moved=_moved(spec, found, f"{way.path}.spec"))
        return
    own = tuple(each for each in way.numbers if each not in outer)
    others = (
        replace(way, beside=(*way.beside, *own)) if any(_is_template(each, spec_of) for each in value.values()) else way
    )
    for key, child in value.items():
        if key not in _DESCRIBING:
            role = key if isinstance(child, dict) and _names_a_role(value, key) else ""
            its = way if _is_template(child, spec_of) else others
            yield from _search(child, its.below(key, role), depth + 1, spec_of)


def _moved(written: Tree, made: Tree, path: str) -> tuple[tuple[str, str], ...]:
    """Where a spec from which another one was made says what the containers of that request."""
    amounts = kubevirt.amounts(written) if made is not written else ()
    return tuple((name, f"{path}.{field}") for name, _, field in amounts)


def _is_template(value: object, spec_of: Callable[[Tree], Tree | None]) -> bool:
    if not isinstance(value, dict):
        return False
    spec = value.get("spec")
    return spec_of(value) is not None or (isinstance(spec, dict) and spec_of(spec) is not None)


def _names_a_role(tree: Tree, key: str) -> bool:
    """Whether a mapping has parts by name: all its values have templates, as with replica specs by role."""
    return len(tree) > 1 and isinstance(tree[key], dict) and all(_has_template(child) for child in tree.values())


def _has_template(value: object) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(name), dict) for name in ("template", "podTemplate"))


def _is_pod_spec(value: Tree) -> bool:
    containers = value.get("containers")
    if not isinstance(containers, list) or not containers:
        return False
    return all(isinstance(each, dict) and isinstance(each.get("name") or each.get("image"), str) for each in containers)


def _counts(tree: Tree, field: str) -> bool:
    return number_of(tree.get(field), None) is not None
