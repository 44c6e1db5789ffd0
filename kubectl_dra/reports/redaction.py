"""Redaction of a snapshot: every name becomes another one, the same everywhere it occurs, and the order stays.

Names are what users and operators chose: of objects, namespaces, drivers, pools, devices, requests and containers. They
are replaced as whole names wherever they stand: in fields, messages, label keys and values, attribute strings and the
string literals of CEL expressions. String attributes that only one device has (serial numbers), addresses and interface
names are replaced too. Because new names sort as the old ones did, the scheduler's search order and so every verdict
survive; selectors that take strings apart (``startsWith``, ``matches``) may answer differently.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kubectl_dra.reports.snapshot import SnapshotDocument

Json = Any
_ATOM: Final = re.compile(r"[A-Za-z0-9]+")
_LITERAL: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`")
_NAME_FIELDS: Final = frozenset(
    {"name", "namespace", "generateName", "driver", "pool", "device", "nodeName", "nominatedNodeName", "counterSet"}
    | {"request", "requestName", "containerName", "podGroupName", "deviceClassName", "resourceClaimName"}
    | {"resourceClaimTemplateName", "driverName", "resourceClassName", "hardwareAddress", "interfaceName", "ips"}
    | {"controller", "selectedNode", "potentialNodes", "unsuitableNodes"}
    | {"claimName", "namespaces", "runtimeClassName"}
)
# Vocabulary of the API: enum values, versions, times, ids without meaning. No chosen name stands in these fields.
_STRUCTURAL: Final = frozenset(
    {"apiVersion", "kind", "apiGroup", "resource", "phase", "effect", "operator", "protocol", "allocationMode"}
    | {"type", "status", "reason", "source", "coverage", "health", "restartPolicy", "preemptionPolicy", "finalizers"}
    | {"uid", "resourceVersion", "shareID", "schedulerName", "version", "versions", "time", "taken", "timeAdded"}
    | {"creationTimestamp", "deletionTimestamp", "lastTransitionTime", "allocationTimestamp"}
    | {"whenUnsatisfiable", "action", "bindMountOptions"}
)
# Maps whose keys are qualified names: the domain may be a driver's name, the id behind it is vocabulary.
_QUALIFIED_KEYS: Final = frozenset(
    {"attributes", "capacity", "allocatable", "consumedCapacity", "counters", "requests", "limits", "overhead"}
    | {"hard", "used"}
)
_QUALIFIED_TEXTS: Final = frozenset(
    {"matchAttribute", "distinctAttribute", "partitionTypeAttribute", "extendedResourceName", "resourceName"}
)
_FREE_KEYS: Final = frozenset(
    {"labels", "annotations", "nodeSelector", "matchLabels", "parameters", "data", "vendorParameters"}
)
# The one domain of resource names whose ids are names of classes.
_CLASS_DOMAIN: Final = "deviceclass.resource.kubernetes.io"
_KUBERNETES: Final = re.compile(r"(?:.*\.)?(?:kubernetes|k8s)\.io")
_KEPT: Final = frozenset({"", "default", "kube-system", "true", "false"})
# In sentences these words mean themselves, unless a quote or a slash beside them says that they are a name.
_WORDS: Final = frozenset(
    {"pod", "pods", "node", "nodes", "claim", "claims", "request", "requests", "device", "devices", "driver", "pool"}
    | {"class", "slice", "container", "containers", "resource", "resources", "template", "selector", "taint", "plugin"}
    | {"volume", "volumes", "storage", "disk", "zone", "port", "ports", "affinity", "topology", "rules", "data"}
)
_NAME_MARKS: Final = frozenset("\"'/`")


def redacted(document: SnapshotDocument) -> SnapshotDocument:
    """The snapshot with all names replaced. What they are is found out once, in all items."""
    names, strings = collect_names(document.items()), collect_strings(document.items())
    old = sorted((names | strings) - _KEPT)
    width = max(4, len(str(len(old))))
    new = {name: f"n{number:0{width}}" for number, name in enumerate(old, 1)}
    replacer = Replacer({name: new[name] for name in names - _KEPT}, {text: new[text] for text in strings - _KEPT})
    header = {
        name: replacer.value(part, name) if name in ("reads", "notes") else part
        for name, part in document.header.items()
    }
    return SnapshotDocument(header, lambda: (replacer.value(item, "") for item in document.items()))


# --- collecting -----------------------------------------------------------------------------------------------------


def collect_names(items: Iterable[Json]) -> set[str]:
    """Every chosen name that the items of a snapshot hold."""
    return {name for item in items for name in _names(item, "")}


def _names(value: Json, field: str) -> Iterator[str]:
    if isinstance(value, str):
        # request/subrequest and claim:entry/request are made of names.
        composed = ":" in value or (field == "request" and "/" in value)
        if field in _NAME_FIELDS and not (composed and field in ("request", "name")):
            yield value.rstrip("-") if field == "generateName" else value
    elif isinstance(value, list):
        for member in value:
            yield from _names(member, field)
    elif isinstance(value, dict) and field not in _FREE_KEYS:
        for name, member in value.items():
            yield from _names(member, _field_of(field, name))


def collect_strings(items: Iterable[Json]) -> set[str]:
    """String attributes that only one device has, so that they identify it."""
    slices = (item for item in items if item.get("kind") == "ResourceSlice")
    found = Counter(text for slice_ in slices for text in _attribute_strings(slice_))
    return {text for text, number in found.items() if number == 1}


def _attribute_strings(slice_: Json) -> Iterator[str]:
    for device in slice_.get("spec", {}).get("devices", ()):
        values = {attribute.get("string") for attribute in device.get("attributes", {}).values()}
        yield from (text for text in values if text)
    for instance in slice_.get("namedResources", {}).get("instances", ()):
        values = {attribute.get("string") for attribute in instance.get("attributes", ())}
        yield from (text for text in values if text)


# --- replacing ------------------------------------------------------------------------------------------------------


class Replacer:
    """Replaces names anywhere, ``strings`` only where a whole attribute or literal is one of them."""

    def __init__(self, names: Mapping[str, str], strings: Mapping[str, str]) -> None:
        self._names = names
        self._wholes = {**strings, **names}
        # What invisible characters a name starts with plays no part in finding it inside a text.
        starts = {name: match for name in names if (match := _ATOM.search(name)) is not None}
        self._inside = {name[match.start() :]: names[name] for name, match in starts.items() if not name.isdigit()}
        self._by_first: dict[str, list[str]] = {}
        for name in sorted(self._inside, key=len, reverse=True):
            self._by_first.setdefault(_ATOM.match(name)[0], []).append(name)  # type: ignore[index]

    def value(self, value: Json, field: str) -> Json:
        """Any part of the document; ``field`` is the name under which it stands."""
        if isinstance(value, str):
            return self._string(value, field)
        if isinstance(value, list):
            # Attributes of v1alpha2 are a list of objects, whose keys are fields and not names.
            inner = field if not any(isinstance(member, dict) for member in value) else ""
            return [self.value(member, inner) for member in value]
        if not isinstance(value, dict):
            return value
        key = self._key_of(field)
        return {key(name): self.value(member, _field_of(field, name)) for name, member in value.items()}

    def _key_of(self, field: str) -> Callable[[str], str]:
        if field in _QUALIFIED_KEYS:
            return self.qualified
        return self.label_key if field in _FREE_KEYS else str

    def _string(self, text: str, field: str) -> str:
        if field in _STRUCTURAL:
            return text
        if field in _NAME_FIELDS or field == "string":
            return self._wholes.get(text) or self.text(text)
        if field in ("expression", "selector"):
            return _LITERAL.sub(lambda match: match[0][0] + self._literal(match[0][1:-1]) + match[0][-1], text)
        if field in _QUALIFIED_TEXTS:
            return self.qualified(text)
        return self.label_key(text) if field in ("key", "topologyKey") else self.text(text)

    def _literal(self, text: str) -> str:
        return self._wholes.get(text) or self.text(text)

    def qualified(self, name: str) -> str:
        """``domain/id``: the domain is replaced, the id only where it is the name of a class."""
        domain, slash, rest = name.rpartition("/")
        if domain == _CLASS_DOMAIN:
            return f"{domain}/{self._names.get(rest, rest)}"
        return self.text(domain) + slash + rest

    def label_key(self, key: str) -> str:
        """A key of labels, annotations or taints; Kubernetes' own keep their meaning."""
        return key if _KUBERNETES.fullmatch(key.rpartition("/")[0]) else self.text(key)

    def text(self, text: str) -> str:
        """``text`` with every name in it replaced; the longest name that starts at a place wins."""
        whole = self._names.get(text)
        if whole is not None and not text.isdigit():
            return whole
        parts: list[str] = []
        done = 0
        for match in _ATOM.finditer(text):
            name = self._at(text, match) if match.start() >= done else None
            if name is not None:
                parts += [text[done : match.start()], self._inside[name]]
                done = match.start() + len(name)
        return "".join([*parts, text[done:]])

    def _at(self, text: str, match: re.Match[str]) -> str | None:
        """The longest name that starts with an atom and ends where no letter or digit follows."""
        for name in self._by_first.get(match[0], ()):
            end = match.start() + len(name)
            if text.startswith(name, match.start()) and not _ATOM.match(text, end):
                beside = {text[match.start() - 1 : match.start()], text[end : end + 1]}
                return None if name in _WORDS and not beside & _NAME_MARKS else name
        return None


def _field_of(outer: str, name: str) -> str:
    """Keys of maps are no fields: what stands under them is text, or an attribute, a quantity, a counter."""
    return "" if outer in _FREE_KEYS or (outer in _QUALIFIED_KEYS and name not in _NAME_FIELDS) else name
