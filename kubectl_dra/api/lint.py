"""Manifests that mix generations: what is wrong where, and the manifest as its author must have meant it.

Works on the object as written, so that a correction keeps everything else, comments excepted. Upstream: what the server
calls an unknown field and then drops in silence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final

import msgspec

from kubectl_dra.api import builtin
from kubectl_dra.api.builtin import is_builtin
from kubectl_dra.api.claim_mistakes import corrected_claims
from kubectl_dra.api.convert import convert
from kubectl_dra.api.field_names import recased, rename
from kubectl_dra.api.generations import UnsupportedVersionError, shape_of
from kubectl_dra.api.kinds import BY_NAME, RESOURCE_GROUP, Kind, find_kind
from kubectl_dra.api.podclaims import nested_sources
from kubectl_dra.api.sources import Source
from kubectl_dra.api.spelling import respelled
from kubectl_dra.api.strict import STEP, known_fields, unknown_fields
from kubectl_dra.api.trees import at, below, in_utf8, list_at, mapping, move_up, read_tree
from kubectl_dra.model.likeness import best_guess, similar
from kubectl_dra.model.resource import Device, ExactDeviceRequest

Tree = dict[str, Any]
NEWEST: Final = f"{RESOURCE_GROUP}/v1"
_V1BETA1: Final = f"{RESOURCE_GROUP}/v1beta1"
_V1ALPHA2: Final = f"{RESOURCE_GROUP}/v1alpha2"
_V1ALPHA3: Final = f"{RESOURCE_GROUP}/v1alpha3"
_EXACTLY: Final = frozenset({NEWEST, f"{RESOURCE_GROUP}/v1beta2"})
_FLAT: Final = frozenset({_V1BETA1, _V1ALPHA3})
_REQUEST_FIELDS: Final = frozenset(known_fields(ExactDeviceRequest))
_DEVICE_FIELDS: Final = frozenset(known_fields(Device)) - {"name"}
_CASE: Final = "the field is {}; the server drops it in another case"
_ONLY_V1ALPHA2: Final = frozenset({"ResourceClass", "ResourceClaimParameters", "ResourceClassParameters"})


class Mistake(StrEnum):
    """What kind of mistake a finding is, as ``lint`` calls it, too; the words beside it may change."""

    OTHER_GENERATION = "other-generation"  # a field as another version of the API has it
    UNKNOWN_FIELD = "unknown-field"  # no version near has it: the server drops it
    NO_VERSION = "no-api-version"  # kinds have one version that is meant
    NO_SUCH_VERSION = "no-such-version"  # the kind does not exist in the version
    REMOVED_KIND = "removed-kind"  # the kind exists in v1alpha2 only
    MISPLACED = "misplaced"  # claims of a pod that stand elsewhere, or under another name
    MISSPELT_VALUE = "misspelt-value"  # one of a few values, in another case
    UNSERVED_FIELD = "unserved-field"  # this server lacks the feature that it belongs to, and drops it


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake: ``path`` is where it stands in the manifest as written. Not ``corrected``: nobody knows how."""

    path: str
    message: str
    corrected: bool = True
    code: Mistake = Mistake.OTHER_GENERATION

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class Lint:
    """What is wrong with one manifest; ``corrected`` is JSON, None if nothing could be corrected."""

    findings: tuple[Finding, ...] = ()
    corrected: bytes | None = None


class _Linter:
    """The manifest as it gets corrected, and what was found."""

    def __init__(self, tree: Tree) -> None:
        self.tree = copy.deepcopy(tree)
        self.findings: list[Finding] = []
        self.changed = False

    @property
    def version(self) -> str:
        """The ``apiVersion`` as it is by now."""
        return str(self.tree.get("apiVersion", ""))

    def fixed(self, path: str, message: str, code: Mistake = Mistake.OTHER_GENERATION) -> None:
        """Note a mistake that was corrected."""
        self.findings.append(Finding(path, message, code=code))
        self.changed = True

    def found(self, path: str, message: str, code: Mistake) -> None:
        """Note a mistake that can't be corrected."""
        self.findings.append(Finding(path, message, corrected=False, code=code))


def lint(data: bytes, *, listed: bool = False) -> Lint:
    """Check one manifest, given as JSON. Objects that are none of ours, or no objects, have no findings.

    ``listed``: the list around it says its version.
    """
    tree = read_tree(in_utf8(data))
    if not isinstance(tree, dict):
        return Lint()
    linter = _Linter(tree)
    _recased_version(linter)
    for path, entry in nested_sources(linter.tree):
        move_up(entry, "source")
        linter.fixed(f"{path}.source", "its names stand directly in the entry since 1.31; newer servers drop it")
    _group_version(linter, str(tree.get("kind")), listed=listed)
    if is_builtin(version := linter.version, name := str(tree.get("kind"))):
        _recased_fields(
            linter,
            partial(builtin.unknown, linter.tree, version, name),
            lambda path: builtin.known_fields(version, name, _names(path)),
        )
    for path, message in corrected_claims(linter.tree):
        linter.fixed(path, message, Mistake.MISPLACED)
    if is_builtin(linter.version, str(tree.get("kind"))):
        _unknown_builtin(linter, str(tree["kind"]))
    kind = find_kind(linter.version, str(tree.get("kind", "")))
    if kind is not None and kind.group == RESOURCE_GROUP and linter.version.startswith(f"{RESOURCE_GROUP}/"):
        _lint_kind(linter, kind)
    corrected = msgspec.json.encode(linter.tree) if linter.changed else None
    return Lint(tuple(linter.findings), corrected)


def _lint_kind(linter: _Linter, kind: Kind) -> None:
    if kind.name in _ONLY_V1ALPHA2 and linter.version != _V1ALPHA2:
        _removed_kind(linter, kind)
        return
    _version(linter, kind)
    if linter.version in _EXACTLY:
        struct = shape_of(linter.version, kind).struct
        _recased_fields(linter, partial(unknown_fields, linter.tree, struct), partial(known_fields, struct))
    rule = _RULES.get(kind.name)
    if rule is not None:
        rule(linter)
    _unknown(linter, kind)


def _removed_kind(linter: _Linter, kind: Kind) -> None:
    made = convert([Source(msgspec.json.encode({**linter.tree, "apiVersion": _V1ALPHA2}))])[0].objects
    message = f"{kind.name} is of v1alpha2; {linter.version} "
    if len(made) != 1 or kind.name != "ResourceClass":
        linter.found("kind", message + "has nothing like it", Mistake.REMOVED_KIND)
        return
    linter.tree = msgspec.json.decode(made[0])
    linter.fixed("kind", message + "has DeviceClass, which selects devices by CEL", Mistake.REMOVED_KIND)


def _version(linter: _Linter, kind: Kind) -> None:
    try:
        shape_of(linter.version, kind)
    except UnsupportedVersionError:
        message = f"there is no {kind.name} in {linter.version}; {kind.api_version} has it"
        linter.fixed("apiVersion", message, Mistake.NO_SUCH_VERSION)
        linter.tree["apiVersion"] = kind.api_version
        return
    if linter.version == _V1ALPHA2 and isinstance(linter.tree.get("spec"), dict):
        for path, spec in _claim_specs(linter):
            if "devices" in spec:
                linter.fixed(
                    f"{path}.devices", f"v1alpha2 has resourceClassName instead; it is {NEWEST} that has devices"
                )
                linter.tree["apiVersion"] = NEWEST


# --- claims ---------------------------------------------------------------------------------------------------------


def _claim(linter: _Linter) -> None:
    for path, spec in list(_claim_specs(linter)):
        if linter.version == _V1ALPHA2:
            continue
        _resource_class(linter, path, spec)
        if linter.version != _V1ALPHA3 and "controller" in spec:
            del spec["controller"]
            linter.fixed(f"{path}.controller", "only v1alpha3 has it; the scheduler decides about devices")
        for index, request in enumerate(list_at(at(spec, "devices"), "requests")):
            if isinstance(request, dict):
                _request(linter, f"{path}.devices.requests[{index}]", request)


def _template(linter: _Linter) -> None:
    spec = at(linter.tree, "spec")
    if "spec" not in spec:
        inner = {key: spec.pop(key) for key in ("devices", "resourceClassName", "parametersRef") if key in spec}
        if inner:
            spec["spec"] = inner
            linter.fixed(f"spec.{next(iter(inner))}", "a template has the claim's spec under spec.spec")
    _claim(linter)


def _claim_specs(linter: _Linter) -> Iterator[tuple[str, Tree]]:
    spec, path = linter.tree.get("spec"), "spec"
    if linter.tree.get("kind") == "ResourceClaimTemplate":
        spec, path = mapping(spec).get("spec"), "spec.spec"
    if isinstance(spec, dict):
        yield path, spec


def _resource_class(linter: _Linter, path: str, spec: Tree) -> None:
    """Classic fields in a later version: the class becomes that of one request."""
    name = spec.pop("resourceClassName", None)
    if not isinstance(name, str):
        return
    exactly = {"deviceClassName": name}
    request = {"name": "request-0", **({"exactly": exactly} if linter.version in _EXACTLY else exactly)}
    devices = spec.setdefault("devices", {})
    if isinstance(devices, dict) and not devices.get("requests"):
        devices["requests"] = [request]
    where = "requests[].exactly.deviceClassName" if linter.version in _EXACTLY else "requests[].deviceClassName"
    linter.fixed(
        f"{path}.resourceClassName",
        f"is of v1alpha2; {linter.version} has devices.{where}, and a DeviceClass in place of the ResourceClass",
    )
    for field, instead in (("parametersRef", "devices.config[].opaque"), ("allocationMode", "no such choice")):
        if field in spec:
            del spec[field]
            linter.fixed(f"{path}.{field}", f"is of v1alpha2; {linter.version} has {instead}")


def _request(linter: _Linter, path: str, request: Tree) -> None:
    for where, written, meant in respelled(request, path):
        linter.fixed(where, f'"{written}" is written {meant}', Mistake.MISSPELT_VALUE)
    exactly = request.get("exactly")
    if linter.version in _EXACTLY:
        inline = [name for name in request if name in _REQUEST_FIELDS]
        if not inline:
            return
        target = request.setdefault("exactly", {})
        if not isinstance(target, dict):
            return
        for name in inline:
            linter.fixed(below(path, name), f"{linter.version} has it under exactly; inline it is v1beta1's form")
            value = request.pop(name)
            target.setdefault(name, value)
    elif linter.version in _FLAT and isinstance(exactly, dict):
        move_up(request, "exactly")
        linter.fixed(
            f"{path}.exactly", f"{linter.version} has its fields directly in the request; exactly is v1's form"
        )


# --- classes and slices ---------------------------------------------------------------------------------------------


def _class(linter: _Linter) -> None:
    spec = at(linter.tree, "spec")
    if "suitableNodes" in spec and linter.version != _V1ALPHA3:
        del spec["suitableNodes"]
        linter.fixed("spec.suitableNodes", "only v1alpha3 has it; slices say where devices are")


def _slice(linter: _Linter) -> None:
    for index, device in enumerate(list_at(at(linter.tree, "spec"), "devices")):
        if isinstance(device, dict):
            path = f"spec.devices[{index}]"
            _capacity(linter, f"{path}.capacity", device.get("capacity"))
            _capacity(linter, f"{path}.basic.capacity", at(device, "basic").get("capacity"))
            _device(linter, path, device)


def _device(linter: _Linter, path: str, device: Tree) -> None:
    if linter.version in _EXACTLY and isinstance(device.get("basic"), dict):
        move_up(device, "basic")
        linter.fixed(
            f"{path}.basic", f"{linter.version} has its fields directly in the device; basic is v1beta1's form"
        )
    elif linter.version in _FLAT:
        _move_into_basic(linter, path, device)


def _move_into_basic(linter: _Linter, path: str, device: Tree) -> None:
    outside = [name for name in device if name in _DEVICE_FIELDS]
    basic = device.setdefault("basic", {}) if outside else None
    if not isinstance(basic, dict):
        return
    for name in outside:
        linter.fixed(below(path, name), f"{linter.version} has it under basic; directly in the device it is v1's form")
        value = device.pop(name)
        basic.setdefault(name, value)


def _capacity(linter: _Linter, path: str, capacity: Any) -> None:  # noqa: ANN401 - any JSON value
    bare = linter.version == _V1ALPHA3
    for name, value in list(capacity.items()) if isinstance(capacity, dict) else ():
        if bare and isinstance(value, dict) and "value" in value:
            capacity[name] = value["value"]
            linter.fixed(
                below(path, name), f"{linter.version} has the quantity itself; value is the form of later versions"
            )
        elif not bare and isinstance(value, str | int):
            capacity[name] = {"value": value}
            linter.fixed(
                below(path, name), f"{linter.version} has the quantity under value; bare it is v1alpha3's form"
            )


# --- the rest -------------------------------------------------------------------------------------------------------


def _unknown(linter: _Linter, kind: Kind) -> None:
    struct = shape_of(linter.version, kind).struct
    for path in unknown_fields(linter.tree, struct):
        parent, _, name = path.rpartition(".")
        hint = _misplaced(path, kind) or best_guess(similar(name, known_fields(struct, parent)))
        message = f"{linter.version} has no such field; the server drops it{hint}"
        linter.found(path, message, Mistake.UNKNOWN_FIELD)


def _misplaced(path: str, kind: Kind) -> str:
    """Where a field belongs that is often one level off."""
    name = path.rpartition(".")[2]
    if name == "expression" and "selectors[" in path:
        return "; it belongs under cel"
    if name in ("config", "constraints", "requests") and "devices" not in path:
        return "; it belongs under devices"
    if name == "spec" and kind.name == "ResourceClaim":
        return "; only a ResourceClaimTemplate has spec.spec"
    return ""


def _recased_version(linter: _Linter) -> None:
    for name in [each for each in linter.tree if each.lower() == "apiversion" and each != "apiVersion"]:
        if rename(linter.tree, name, "apiVersion"):
            linter.fixed(name, _CASE.format("apiVersion"), Mistake.MISPLACED)


def _recased_fields(linter: _Linter, unknown: Callable[[], list[str]], known: Callable[[str], Iterable[str]]) -> None:
    for path, right in recased(linter.tree, unknown, lambda steps: known(".".join(steps))):
        linter.fixed(path, _CASE.format(right), Mistake.MISPLACED)


def _group_version(linter: _Linter, kind: str, *, listed: bool) -> None:
    """Workloads and claims in a version of another group, in one that no server with claims has, or in none."""
    version, known = linter.version, BY_NAME.get(kind)
    of_claims = known is not None and known.group == RESOURCE_GROUP and builtin.has_group(version)
    right = known.api_version if of_claims and known is not None else builtin.version_of(kind, version)
    if not right or right == version or (listed and not version):
        return
    linter.tree = {"apiVersion": right, **{key: value for key, value in linter.tree.items() if key != "apiVersion"}}
    if version:
        linter.fixed("apiVersion", f"there is no {kind} in {version}; {right} has it", Mistake.NO_SUCH_VERSION)
    else:
        linter.fixed("apiVersion", f"apiVersion is missing; {kind} has {right}", Mistake.NO_VERSION)


def _names(path: str) -> list[str]:
    """The steps of a path without places in lists."""
    return [step for step in STEP.findall(path) if not step.isdigit()]


def _unknown_builtin(linter: _Linter, kind: str) -> None:
    for path in builtin.unknown(linter.tree, linter.version, kind):
        steps = _names(path)
        hint = best_guess(similar(steps[-1], builtin.known_fields(linter.version, kind, steps[:-1])))
        linter.found(path, f"{kind} has no such field; the server drops it{hint}", Mistake.UNKNOWN_FIELD)


_RULES: Final[dict[str, Callable[[_Linter], None]]] = {
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
    "DeviceClass": _class,
    "ResourceSlice": _slice,
}
