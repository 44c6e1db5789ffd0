"""What the lists of get are made of: one call, its lists by type, and their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.get.query import CLAIMS, KINDS, POD_GROUPS, GetQuery, TypeArgs
from kubectl_dra.commands.shared.cluster import Scoped
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import key_not_found, object_not_found
from kubectl_dra.commands.shared.options import Options, label_selector
from kubectl_dra.commands.shared.show import tell
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.output.columns import ListColumn
from kubectl_dra.output.documents import report_bytes
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.base import Series

FoundT = TypeVar("FoundT")
#: What shows one object in full, where that is not its manifest.
_DESCRIBING: Final = {CLAIMS: "describe-claim", POD_GROUPS: "describe-podgroup"}


@dataclass(frozen=True, slots=True)
class Item:
    """One line: its name for ``-o name``, its document, and the row of the table."""

    name: str
    document: Callable[[], bytes]
    row: Any


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one type, of which there may be very many: whoever goes through them twice makes them twice.

    ``kind`` is the report's kind, empty where the documents are API objects. ``path_of``: the path into the JSON that a
    word of ``--sort-by`` stands for, which is no column. ``is_bad``: what ``--exit-code`` is about.
    """

    kind: str
    items: Iterable[Item]
    columns: Callable[[], Sequence[ListColumn[Any]]]
    number: Callable[[], int] | None = None
    path_of: Callable[[str], str] = str
    is_bad: Callable[[Any], bool] | None = None

    def count(self) -> int:
        """How many lines it has; ``number`` knows without making them."""
        return sum(1 for _ in self.items) if self.number is None else self.number()

    @property
    def rows(self) -> Iterable[Any]:
        return Series(lambda: (item.row for item in self.items))


@dataclass(slots=True)
class GetCall:
    options: Options
    query: GetQuery
    cluster: Scoped
    state: ClusterState
    failed: bool = False
    notes: list[Safe] = field(default_factory=list)

    @property
    def wide(self) -> bool:
        return self.options.output == "wide"

    @property
    def headers(self) -> bool:
        return not self.query.no_headers

    def in_scope(self, namespace: str) -> bool:
        return self.cluster.namespace in ("", namespace)

    def not_found(self, problem: CommandError, alone: bool) -> None:
        """A name that is missing does not hide the others. Raises it where it is the only one."""
        if alone:
            raise problem
        self.failed = True
        tell(problem, self.options)


def found_by(
    call: GetCall,
    wanted: TypeArgs,
    find: Callable[[str], Sequence[FoundT]],
    missing: Callable[[str], CommandError],
) -> list[FoundT]:
    """What the names stand for, each once; a name may stand for several."""
    found: list[FoundT] = []
    for name in wanted.names:
        matching = find(name)
        if not matching:
            call.not_found(missing(name), alone=len(wanted.names) == 1)
        found += matching
    return list(dict.fromkeys(found))


def chosen_of(call: GetCall, wanted: TypeArgs, objects: Mapping[Any, Any]) -> list[Any]:
    """API objects by name (in the namespace in scope), or all that are in scope by labels."""
    kind, evidence = KINDS[wanted.type], call.state.evidence

    def key(name: str) -> Any:  # noqa: ANN401 - by name, or by namespace and name
        return Key(call.cluster.namespace, name) if kind.namespaced else name

    def missing(name: str) -> CommandError:
        if not kind.namespaced:
            return object_not_found(kind, name, objects, evidence)
        command = (_DESCRIBING.get(wanted.type, "get"),)
        return key_not_found(kind, key(name), objects, evidence, command)

    if wanted.names:
        keys = found_by(call, wanted, lambda name: [key(name)] if key(name) in objects else [], missing)
        return [objects[each] for each in keys]
    selects = label_selector(call.options.selector)
    in_scope = (o for o in objects.values() if not kind.namespaced or call.in_scope(o.metadata.namespace))
    return [each for each in in_scope if selects(each.metadata.labels)]


def object_section(
    call: GetCall, kind: Kind, objects: Sequence[Any], rows: Iterable[Any], columns: Sequence[ListColumn[Any]]
) -> Section:
    """The lines of API objects, a row each; the first column of those in namespaces says which."""
    by_key = {key_of(each.metadata): each for each in objects}
    items = [object_item(kind, row.name, by_key[Key(getattr(row, "namespace", ""), row.name)], row) for row in rows]
    shown = columns[1:] if kind.namespaced and not call.options.all_namespaces else columns
    return Section("", items, lambda: labelled(call, shown, objects))


def object_item(kind: Kind, name: str, record: Any, row: Any) -> Item:  # noqa: ANN401 - records of several kinds
    return Item(f"{kind.singular}.{kind.group}/{name}", lambda: encode(record, kind), row)


def report_item(kind: str, name: str, row: Any) -> Item:  # noqa: ANN401 - any report record
    return Item(name, lambda: report_bytes(kind, row), row)


def labelled(call: GetCall, columns: Sequence[ListColumn[Any]], objects: Iterable[Any]) -> Sequence[ListColumn[Any]]:
    """The columns, with ``--show-labels`` one more: the labels of the object that a row is about."""
    if not call.query.show_labels:
        return columns
    labels = {key_of(each.metadata): each.metadata.labels for each in objects}

    def text(row: Any) -> Safe:  # noqa: ANN401 - rows of several kinds
        name: str = getattr(row, "name", None) or getattr(row, "rule", None) or ""
        found = labels.get(Key(getattr(row, "namespace", ""), name)) or {}
        return Safe(",").join(f"{key}={found[key]}" for key in sorted(found)) or Safe("<none>")

    return (*columns, ListColumn("LABELS", lambda row, _: text(row), text))
