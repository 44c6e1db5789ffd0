"""What the lists of get are made of: one call, its lists by type, and their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.get.query import GetQuery, TypeArgs
from kubectl_dra.commands.shared.cluster import Scoped
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import object_not_found
from kubectl_dra.commands.shared.options import Options, label_selector
from kubectl_dra.commands.shared.show import tell
from kubectl_dra.model.ids import Key
from kubectl_dra.output.columns import ListColumn
from kubectl_dra.output.documents import report_bytes
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.base import Series
from kubectl_dra.reports.invocations import try_dra


@dataclass(frozen=True, slots=True)
class Item:
    """One line: its name for ``-o name``, its document, and the row of the table."""

    name: str
    document: Callable[[], bytes]
    row: Any


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one type, of which there may be very many: whoever goes through them twice makes them twice.

    ``kind`` is the report's kind, empty where the documents are API objects.
    """

    kind: str
    items: Iterable[Item]
    columns: Callable[[], Sequence[ListColumn[Any]]]
    number: Callable[[], int] | None = None

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
    facts: ClusterState
    failed: bool = False
    notes: list[Safe] = field(default_factory=list)

    @property
    def wide(self) -> bool:
        """Whether ``-o wide`` was asked for."""
        return self.options.output == "wide"

    @property
    def headers(self) -> bool:
        """Whether tables have titles."""
        return not self.query.no_headers

    def in_scope(self, namespace: str) -> bool:
        """Whether a namespace was asked for."""
        return self.cluster.namespace in ("", namespace)

    def not_found(self, problem: CommandError, alone: bool) -> None:
        """A name that is missing does not hide the others. Raises it where it is the only one."""
        if alone:
            raise problem
        self.failed = True
        tell(problem, self.options)


def chosen_of(call: GetCall, wanted: TypeArgs, kind: Kind, objects: Iterable[Any]) -> list[Any]:
    """Cluster-scoped objects by name, or by labels."""
    by_name: dict[str, Any] = {each.metadata.name: each for each in objects}
    if not wanted.names:
        selects = label_selector(call.options.selector)
        return [each for each in by_name.values() if selects(each.metadata.labels)]
    for name in wanted.names:
        if name not in by_name:
            missing = object_not_found(kind, name, by_name, call.facts.evidence, try_dra("get", wanted.type))
            call.not_found(missing, alone=len(wanted.names) == 1)
    return [by_name[name] for name in dict.fromkeys(wanted.names) if name in by_name]


def namespaced_of(
    call: GetCall,
    names: Sequence[str],
    objects: Mapping[Key, Any],
    not_found: Callable[[Key], CommandError],
) -> list[Any]:
    """Objects in the namespace in scope by name, or in all that are in scope by labels."""
    if not names:
        selects = label_selector(call.options.selector)
        return [o for key, o in objects.items() if call.in_scope(key.namespace) and selects(o.metadata.labels)]
    keys = [Key(call.cluster.namespace, name) for name in names]
    for key in keys:
        if key not in objects:
            call.not_found(not_found(key), alone=len(keys) == 1)
    return [objects[key] for key in keys if key in objects]


def object_item(kind: Kind, name: str, record: Any, row: Any) -> Item:  # noqa: ANN401 - records of several kinds
    return Item(f"{kind.singular}.{kind.group}/{name}", lambda: encode(record, kind), row)


def report_item(kind: str, name: str, row: Any) -> Item:  # noqa: ANN401 - any report record
    """The line of a report of ours."""
    return Item(name, lambda: report_bytes(kind, row), row)


def labelled(
    call: GetCall, columns: Sequence[ListColumn[Any]], labels: Mapping[tuple[str, str], Mapping[str, str]]
) -> Sequence[ListColumn[Any]]:
    """The columns, with ``--show-labels`` one more; ``labels`` are by namespace (empty for none) and name."""
    if not call.query.show_labels:
        return columns

    def text(row: Any) -> Safe:  # noqa: ANN401 - rows of several kinds
        name: str = getattr(row, "name", None) or getattr(row, "rule", None) or ""
        found = labels.get((getattr(row, "namespace", ""), name)) or {}
        return Safe(",").join(f"{key}={found[key]}" for key in sorted(found)) or Safe("<none>")

    return (*columns, ListColumn("LABELS", lambda row, _: text(row), text))
