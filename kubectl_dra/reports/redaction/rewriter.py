"""One object of a snapshot with everything replaced that the allow list does not name.

The object's shape says what each string is. The same walk collects the strings (until the names are settled) and
replaces them, so nothing can be replaced that was not collected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from kubectl_dra.api.generations import UnsupportedVersionError, shape_of
from kubectl_dra.api.kinds import find_kind
from kubectl_dra.api.queues import record_of
from kubectl_dra.model.core import Pod
from kubectl_dra.model.resource import DeviceAttribute
from kubectl_dra.reports.redaction.fields import Holds, holds
from kubectl_dra.reports.redaction.names import Pseudonyms
from kubectl_dra.reports.redaction.texts import Texts
from kubectl_dra.reports.redaction.words import API, LABEL_KEYS, LABEL_VALUES, RESOURCES, ZONES
from kubectl_dra.selectors.hidden import Expressions

Json = Any
#: What stands for a value, and for what stands beside it.
_Rule = Callable[[Json, Mapping[str, Json]], Json]
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_REVISION: Final = re.compile(r"\d{1,20}")
_PERCENTAGE: Final = re.compile(r"\d{1,9}%")
_HUGE_PAGES: Final = re.compile(r"hugepages-\d{1,6}[KMGT]i")
_PREFIXES: Final = ("requests.", "limits.", "deviceclass.resource.kubernetes.io/", "count/", "attachable-volumes-")
_SUFFIXES: Final = (".deviceclass.resource.k8s.io/devices", ".storageclass.storage.k8s.io/requests.storage")
_IN_CLAIM: Final = "claim:"
_ALL_ADDRESSES: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, never bound
_COMPARED: Final = frozenset({"Gt", "Lt"})
_MANY_ZONES: Final = "__"
_EBS_SCHEME: Final = "aws"
_EBS_PREFIX: Final = "vol-"
_LISTED: Final = "storage.alpha.kubernetes.io/migrated-plugins"


class Rewriter:
    """``names`` and ``expressions`` are shared by all objects of a snapshot."""

    def __init__(self, names: Pseudonyms, expressions: Expressions) -> None:
        self._names = names
        self._expressions = expressions
        self._texts = Texts(names, self.resource, self._taint)
        self._sentences: dict[str, None] = {}
        self._rules: dict[type[msgspec.Struct], Mapping[str, _Rule]] = {}
        self._of: Mapping[Holds, Callable[[str], str]] = {
            Holds.NAME: names.name,
            Holds.WORD: self.word,
            Holds.TIME: self.time,
            Holds.REVISION: self.revision,
            Holds.SENTENCE: self.sentence,
            Holds.EXPRESSION: expressions.selector,
            Holds.DERIVED: expressions.derived,
            Holds.NAMED_RESOURCES: expressions.named_resources,
            Holds.VERSION: names.version,
            Holds.IMAGE: names.image,
            Holds.DISK: self._disk,
            Holds.RESOURCE: self.resource,
            Holds.ATTRIBUTE: self._attribute,
            Holds.LABEL_KEY: self.label_key,
            Holds.HEALTH_OF: self._health_of,
            Holds.WILDCARD_ADDRESS: self._address,
            Holds.PERCENTAGE: self._percentage,
        }

    def object(self, item: Json) -> Json:
        """The object; one of a kind that is not known has all its strings replaced, keys included."""
        api_version, name = str(item.get("apiVersion", "")), str(item.get("kind", ""))
        kind = find_kind(api_version, name)
        head = {key: self.word(str(item[key])) for key in ("apiVersion", "kind") if key in item}
        body = {key: value for key, value in item.items() if key not in head}
        try:
            struct = shape_of(api_version, kind).struct if kind is not None else record_of(api_version, name)
        except UnsupportedVersionError:
            struct = None
        return {**head, **(self._unknown(body) if struct is None else self._struct(body, struct))}

    def attribute(self, value: Json) -> Json:
        return self._struct(value, DeviceAttribute)

    # --- the tree ---------------------------------------------------------------------------------------------------

    def _struct(self, value: dict[str, Json], struct: type[msgspec.Struct]) -> Json:
        rules = self._rules.get(struct)
        if rules is None:
            rules = self._rules[struct] = {
                name: self._rule(wanted, holds(struct, name)) for name, wanted in _types(struct).items()
            }
        if "operator" in value:
            self._note_comparison(value)
        if struct is Pod:
            self._note_claims(value)
        made = {}
        for name, member in value.items():
            rule = rules.get(name)
            if rule is not None:
                made[name] = rule(member, value)
            else:
                made |= self._unknown({name: member})
        return made

    def _rule(self, wanted: inspect.Type, what: Holds) -> _Rule:
        """What rewrites values of a type: found once for each field, of which there may be millions."""
        match wanted:
            case inspect.UnionType():
                return lambda value, beside: self._rule(_present(wanted, value), what)(value, beside)
            case inspect.StructType():
                return self._if(dict, lambda value, _: self._struct(value, wanted.cls))
            case inspect.VarTupleType():
                rule = self._rule(wanted.item_type, what)
                return self._if(list, lambda value, beside: [rule(item, beside) for item in value])
            case inspect.DictType():
                return self._if(dict, self._map(wanted.value_type, what))
            case inspect.CustomType() | inspect.IntType() | inspect.BoolType():
                return lambda value, _: value  # the shape was decoded from: a quantity, a number, true or false
            case inspect.StrType() if what is Holds.LABEL_VALUE:
                return self._if(str, lambda value, beside: self.label_value(str(beside.get("key", "")), value))
            case inspect.StrType():
                give = self._of[what]
                return self._if(str, lambda value, _: give(value))
        return lambda value, _: self._unknown(value)

    def _if(self, kind: type, rule: _Rule) -> _Rule:
        return lambda value, beside: rule(value, beside) if isinstance(value, kind) else self._unknown(value)

    def _map(self, wanted: inspect.Type, what: Holds) -> _Rule:
        if what in (Holds.LABELS, Holds.ANNOTATIONS):
            give = self.label_value if what is Holds.LABELS else self._annotation
            return lambda value, _: {self.label_key(key): give(key, text) for key, text in value.items()}
        if what is Holds.TIMES:
            return lambda value, _: {self._names.name(key): self.time(text) for key, text in value.items()}
        keys, rule = self._of[what], self._rule(wanted, Holds.NAME)
        return lambda value, _: {keys(key): rule(member, value) for key, member in value.items()}

    def _unknown(self, value: Json) -> Json:
        """JSON of which nothing is known: numbers and truth values stay."""
        match value:
            case str():
                return self._names.name(value)
            case list():
                return [self._unknown(item) for item in value]
            case dict():
                return {self._names.name(key): self._unknown(item) for key, item in value.items()}
        return value

    # --- strings ----------------------------------------------------------------------------------------------------

    def word(self, text: str) -> str:
        """A word of the API, else a name."""
        return text if text in API else self._names.name(text)

    def time(self, text: str) -> str:
        """A time, else a name."""
        return text if _TIME.fullmatch(text) else self._names.name(text)

    def revision(self, text: str) -> str:
        """A resource version, else a name."""
        return text if _REVISION.fullmatch(text) else self._names.name(text)

    def sentence(self, text: str) -> str:
        """What somebody wrote; collected for later, when all names are known."""
        if self._names.settled:
            return self._texts.text(text)
        self._sentences.setdefault(text)
        return text

    def collect_sentences(self) -> None:
        """Take the words of all sentences that are none of Kubernetes' own."""
        for text in self._sentences:
            self._texts.text(text)
        self._sentences.clear()

    def resource(self, text: str) -> str:
        """The name of a resource, as requests and quotas write it."""
        if text in RESOURCES or _HUGE_PAGES.fullmatch(text):
            return text
        for prefix in _PREFIXES:
            if text.startswith(prefix) and len(text) > len(prefix):
                return prefix + self.resource(text.removeprefix(prefix))
        for suffix in _SUFFIXES:
            if text.endswith(suffix) and len(text) > len(suffix):
                return self._names.name(text.removesuffix(suffix)) + suffix
        return self.label_key(text)

    def label_key(self, text: str) -> str:
        """A key of labels, annotations or taints; those of Kubernetes itself keep their meaning."""
        return text if text in LABEL_KEYS else self._names.name(text)

    def label_value(self, key: str, text: str) -> str:
        """A value of a label or taint. Regions are read out of zones, and a volume's label may name several zones."""
        if key in ZONES:
            return _MANY_ZONES.join(
                "-".join(map(self._names.name, zone.split("-"))) for zone in text.split(_MANY_ZONES)
            )
        return text if text in LABEL_VALUES else self._names.label_value(key, text)

    def _annotation(self, key: str, text: str) -> str:
        return ",".join(map(self.word, text.split(","))) if key == _LISTED else self._names.name(text)

    def _taint(self, key: str, value: str) -> tuple[str, str]:
        return self.label_key(key), self.label_value(key, value)

    def _attribute(self, text: str) -> str:
        domain, slash, identifier = text.rpartition("/")
        return self._names.name(domain) + slash + self._names.id(identifier)

    def _health_of(self, text: str) -> str:
        if not text.startswith(_IN_CLAIM):
            return self.resource(text)
        return _IN_CLAIM + self._names.name(text.removeprefix(_IN_CLAIM))

    def _disk(self, text: str) -> str:
        """``aws://ZONE/vol-ID`` and ``vol-ID`` are the same disk."""
        scheme, found, rest = text.rpartition("://")
        if found and scheme != _EBS_SCHEME:
            return self._names.name(text)
        return scheme + found + "/".join(map(self._disk_part, rest.split("/")))

    def _disk_part(self, part: str) -> str:
        prefix = _EBS_PREFIX if part.startswith(_EBS_PREFIX) else ""
        return prefix + self._names.name(part.removeprefix(prefix))

    def _address(self, text: str) -> str:
        return text if text in _ALL_ADDRESSES else self._names.name(text)

    def _percentage(self, text: str) -> str:
        return text if _PERCENTAGE.fullmatch(text) else self._names.name(text)

    def _note_claims(self, pod: Mapping[str, Json]) -> None:
        for volume in pod.get("spec", {}).get("volumes", ()):
            if "ephemeral" in volume:
                self._names.compose(str(pod.get("metadata", {}).get("name", "")), str(volume.get("name", "")))

    def _note_comparison(self, value: Mapping[str, Json]) -> None:
        if value.get("operator") in _COMPARED:
            self._names.compare(str(value.get("key", "")))


def _present(wanted: inspect.UnionType, value: Json) -> inspect.Type:
    """What the value is, of a number or a text; of all others there is one that is not null."""
    found = [choice for choice in wanted.types if not isinstance(choice, inspect.NoneType)]
    return next((each for each in found if isinstance(each, inspect.StrType) is isinstance(value, str)), found[0])


@cache
def _shape(struct: type[msgspec.Struct]) -> inspect.StructType:
    found = inspect.type_info(struct)
    assert isinstance(found, inspect.StructType)  # noqa: S101 - of a struct
    return found


@cache
def _types(struct: type[msgspec.Struct]) -> Mapping[str, inspect.Type]:
    return {field.encode_name: _without_null(field.type) for field in _shape(struct).fields}


def _without_null(wanted: inspect.Type) -> inspect.Type:
    """What is there if the value is, where that can be one thing only."""
    if not isinstance(wanted, inspect.UnionType):
        return wanted
    found = [choice for choice in wanted.types if not isinstance(choice, inspect.NoneType)]
    return found[0] if len(found) == 1 else wanted
