"""The lists of get: find, filter, sort, and print tables, names or documents, type by type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from kubectl_dra.api.encode import encode
from kubectl_dra.api.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, POD_GROUP, RESOURCE_CLAIM, RESOURCE_SLICE, Kind
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands import sorting
from kubectl_dra.commands.claim_answers import claim_not_found
from kubectl_dra.commands.cluster import Scoped
from kubectl_dra.commands.errors import CommandError, UsageProblem
from kubectl_dra.commands.get_query import (
    CLAIMS,
    CLASSES,
    DEVICES,
    NAMESPACED,
    POD_GROUPS,
    POOLS,
    TAINTS,
    Query,
    TypeArgs,
)
from kubectl_dra.commands.get_unread import SUBJECTS, unread_of
from kubectl_dra.commands.group_state_answers import group_not_found
from kubectl_dra.commands.not_found import check_node, object_not_found
from kubectl_dra.commands.options import Options, label_selector
from kubectl_dra.commands.pool_answers import pool_not_found
from kubectl_dra.commands.show import console, is_document, print_pages, tell, write
from kubectl_dra.model.evidence import Coverage, Fields
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.output.columns import ListColumn, list_table, shown_columns
from kubectl_dra.output.devices import lists
from kubectl_dra.output.documents import list_head, objects_head, report_bytes, write_list
from kubectl_dra.output.pending.evidence import missing_lines
from kubectl_dra.output.rows import WRITERS as TABLES
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted
from kubectl_dra.reports.base import Bound, Series
from kubectl_dra.reports.claim_list import claim_rows, unused_claims
from kubectl_dra.reports.class_list import class_rows
from kubectl_dra.reports.device_list import DeviceFilter, ListedDevice, device_list
from kubectl_dra.reports.find import device_selections, find_devices, find_pools, pool_selections
from kubectl_dra.reports.group_list import group_rows
from kubectl_dra.reports.invocations import plain_word, try_dra
from kubectl_dra.reports.open_pool import open_pool
from kubectl_dra.reports.pool import pool_summary
from kubectl_dra.reports.taint_list import rule_row, taint_rows
from kubectl_dra.reports.unread import Unread
from kubectl_dra.selectors.evaluate import SelectorSet

_MORE: Final = {CLASSES: ("ResourceClaimTemplate",)}


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
    more: Callable[[], Iterable[Safe]] = tuple

    @property
    def rows(self) -> Iterable[Any]:
        """The rows of its lines."""
        return Series(lambda: (item.row for item in self.items))


@dataclass(slots=True)
class GetCall:
    """One call of the command."""

    options: Options
    query: Query
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


def needs_of(query: Query, wanted: Sequence[TypeArgs]) -> tuple[str, ...]:
    """The kinds that the tables are made of."""
    needs = {kind: None for each in wanted for kind in (*SUBJECTS[each.type].kinds, *_MORE.get(each.type, ()))}
    if query.class_:
        needs["DeviceClass"] = None
    return tuple(needs)


def new_call(options: Options, query: Query, cluster: Scoped) -> GetCall:
    """The call that answers from ``cluster``."""
    return GetCall(options, query, cluster, cluster.state)


def sections_of(call: GetCall, wanted: Sequence[TypeArgs]) -> list[Section]:
    """All lines, type by type, sorted as asked. Raises ``CommandError`` where the only name is not found."""
    sections = [_SECTIONS[each.type](call, each) for each in wanted]
    if call.query.sort_by:
        return [replace(each, items=_sorted(each, call.query.sort_by)) for each in sections]
    return [replace(each, items=list(each.items)) for each in sections] if call.options.watch else sections


def _sorted(section: Section, by: str) -> Sequence[Item]:
    """By a column's title, or by a path into the JSON."""
    items = list(section.items)
    key = next((column.key for column in section.columns() if column.title.lower() == by.lower()), None)
    return sorting.sort(items, by) if key is None else sorted(items, key=lambda item: key(item.row))


def selections(wanted: Sequence[TypeArgs]) -> frozenset[Fields]:
    """The slices that the words name; empty for all."""
    found: set[Fields] = set()
    for each in wanted:
        of_name = {POOLS: pool_selections, DEVICES: device_selections}.get(each.type)
        selections = [of_name(name) for name in each.names] if of_name is not None else []
        if not all(selections) or not selections:
            return frozenset()
        found.update(*selections)
    return frozenset(found)


def lacks_names(wanted: Sequence[TypeArgs], cluster: Scoped) -> bool:
    """Whether only the slices that the words name were read, and some of the words name none."""
    if cluster.state.evidence.coverage("ResourceSlice") is not Coverage.FILTERED:
        return False
    facts = cluster.state
    return not all(
        find_pools(name, facts) if each.type == POOLS else find_devices(name, facts)
        for each in wanted
        for name in each.names
    )


# --- printing -------------------------------------------------------------------------------------------------------


def print_sections(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section], found: Unread) -> None:
    """Print tables, names or one document; ``found`` is what they lack."""
    if is_document(call.options):
        _print_documents(call, wanted, sections, found)
        return
    terminal = console(call.options)
    if call.options.output == "name":
        for section in sections:
            for item in section.items:
                terminal.out(safe(item.name))
        return
    if call.options.output in TABLES:
        print_pages((_rows_as(call.options.output, call, section) for section in sections), call.options)
        return
    filled = [section for section in sections if any(True for _ in section.items)]
    print_pages((_lines(call, section) for section in filled), call.options)
    if not filled and not call.failed and found.bound is Bound.EXACT:
        terminal.note(_nothing(call, wanted[0].type))


def _lines(call: GetCall, section: Section) -> Iterator[Safe]:
    yield from list_table(section.columns(), section.rows, call.facts.now, call.wide, call.headers)
    yield from section.more()


def _rows_as(name: str, call: GetCall, section: Section) -> Iterator[Safe]:
    """The table for another program; spreadsheets take the columns of ``-o wide``, too."""
    wide = name == "csv"
    columns = shown_columns(section.columns(), wide=wide)
    rows = ([column.of(row, call.facts.now, wide=wide) for column in columns] for row in section.rows)
    return TABLES[name]([column.title for column in columns], rows)


def _nothing(call: GetCall, type_: str) -> Safe:
    namespace = call.cluster.namespace
    where = fmt(" in namespace {}", namespace) if type_ in NAMESPACED and namespace else Safe("")
    return fmt("No {} found{}.", Safe(type_), where)


def _print_documents(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section], found: Unread) -> None:
    kinds = {section.kind for section in sections}
    items = (item for section in sections for item in section.items)
    names = [name for each in wanted for name in each.names]
    first = list(islice(items, 2)) if len(names) == 1 else []
    # A short name of a pool or device may mean several tomorrow.
    if len(first) == 1 and (kinds == {""} or first[0].name == names[0]):
        write(first[0].document(), call.options)
    elif len(kinds) == 1:
        kind = kinds.pop()
        documents = (item.document() for item in chain(first, items))
        head = list_head(f"{kind}List", missing=found.missing) if kind else objects_head(missing=found.missing)
        write_list(head, documents, call.options.output)
    else:
        raise UsageProblem("API objects and reports don't fit into one document", "name one type at a time")


def what_is_unread(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section]) -> Unread:
    """What could not be read and may change what is printed."""
    shown = [any(True for _ in section.items) for section in sections]
    return unread_of(wanted, shown, call.query, call.facts, call.cluster.namespace)


def note_unread(call: GetCall, found: Unread) -> None:
    """Say before the list what it lacks and leaves out; lists for ``grep`` keep it out of their lines."""
    for line in (*missing_lines(found.missing), *call.notes):
        console(call.options).note(line)
    call.notes.clear()


# --- pools and devices ----------------------------------------------------------------------------------------------


def _pools(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    pools = list(facts.pools)
    if wanted.names:
        found = [(name, find_pools(name, facts)) for name in wanted.names]
        for name, matching in found:
            if not matching:
                call.not_found(pool_not_found(name, facts), alone=len(wanted.names) == 1)
        pools = list(dict.fromkeys(pool for _, matching in found for pool in matching))
    rows = Series(lambda: (pool_summary(open_pool(pool, facts)) for pool in pools))
    items = Series(lambda: (_report_item("PoolSummary", f"{row.driver}/{row.pool}", row) for row in rows))
    return Section("PoolSummary", items, lambda: lists.POOLS)


def _devices(call: GetCall, wanted: TypeArgs) -> Section:
    facts, query = call.facts, call.query
    selectors = tuple(_selectors(call))
    names = None
    if wanted.names:
        found = [(name, find_devices(name, facts)) for name in wanted.names]
        for name, matching in found:
            if not matching:
                call.not_found(
                    object_not_found(RESOURCE_SLICE, name, (), facts.evidence, try_dra("get", DEVICES), "device"),
                    alone=len(wanted.names) == 1,
                )
        names = {device for _, matching in found for device in matching}
    check_node(call.query.node, call.facts)
    chosen = DeviceFilter(query.free, query.used, query.tainted, query.node or None, selectors, names)
    listed = device_list(facts, chosen)
    for text, number in listed.errors.items():
        call.notes.append(fmt("note: left out {}, on which the selector fails: {}", counted(number, "device"), text))
    items = Series(lambda: map(_device_item, listed.items))
    return Section("Device", items, lambda: lists.device_columns((item.row for item in items), wide=call.wide))


def _device_item(listed: ListedDevice) -> Item:
    return _report_item("Device", f"{listed.driver}/{listed.pool}/{listed.device.name}", listed)


def _report_item(kind: str, name: str, row: Any) -> Item:  # noqa: ANN401 - any report record
    return Item(name, lambda: report_bytes(kind, row), row)


def _selectors(call: GetCall) -> Iterator[SelectorSet]:
    classes, shows_sharing = call.facts.inventory.classes, call.facts.features.shows_sharing
    name = call.query.class_
    if name:
        if name not in classes:
            raise object_not_found(DEVICE_CLASS, name, classes, call.facts.evidence, try_dra("get", CLASSES))
        yield _compiled(SelectorSet.of_class(classes[name], shows_sharing), f'class "{name}"', _LIST_CLASSES)
    if call.query.match:
        yield _compiled(
            SelectorSet.of_text(call.query.match, shows_sharing),
            "--match",
            try_dra("test-selector", plain_word(call.query.match) or ("EXPR",)),
        )


_LIST_CLASSES: Final = try_dra("get", "classes")


def _compiled(selectors: SelectorSet, what: str, hint: str) -> SelectorSet:
    if selectors.problem is not None:
        raise CommandError(f"{what}: {selectors.problem}", hint)
    return selectors


# --- API objects ----------------------------------------------------------------------------------------------------


def _claims(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    claims = facts.inventory.claims
    chosen: list[ResourceClaim] = []
    if wanted.names:
        for name in wanted.names:
            key = Key(call.cluster.namespace, name)
            if key in claims:
                chosen.append(claims[key])
            else:
                call.not_found(claim_not_found(key, facts), alone=len(wanted.names) == 1)
    else:
        selects = label_selector(call.options.selector)
        chosen = [c for key, c in claims.items() if call.in_scope(key.namespace) and selects(c.metadata.labels)]
    if call.query.unused:
        chosen, unknown = unused_claims(chosen, facts)
        if unknown:
            them = counted(unknown, "claim")
            call.notes.append(fmt("note: left out {} of which it is not known, because pods could not be read", them))
    by_key = {key_of(claim.metadata): claim for claim in chosen}
    rows = claim_rows(chosen, facts)
    items = [_object_item(RESOURCE_CLAIM, row.name, by_key[Key(row.namespace, row.name)], row) for row in rows]
    everywhere = call.options.all_namespaces
    return Section("", items, lambda: lists.CLAIMS if everywhere else lists.CLAIMS[1:])


def _classes(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    chosen = _chosen(call, wanted, DEVICE_CLASS, facts.inventory.classes.values())
    rows = class_rows(chosen, facts)
    items = [_object_item(DEVICE_CLASS, row.name, facts.inventory.classes[row.name], row) for row in rows]

    def offers() -> list[Safe]:
        lines = lists.offers_table(rows[0], call.wide) if len(rows) == 1 and wanted.names else []
        return [Safe(""), *lines] if lines else []

    return Section("", items, lambda: lists.CLASSES, offers)


def _groups(call: GetCall, wanted: TypeArgs) -> Section:
    facts, groups = call.facts, call.facts.inventory.groups.pod_groups
    if wanted.names:
        keys = [Key(call.cluster.namespace, name) for name in dict.fromkeys(wanted.names)]
        for key in keys:
            if key not in groups:
                call.not_found(group_not_found(key, facts), alone=len(keys) == 1)
    else:
        selects = label_selector(call.options.selector)
        keys = [k for k, group in groups.items() if call.in_scope(k.namespace) and selects(group.metadata.labels)]
    rows = group_rows((groups[key] for key in keys if key in groups), facts)
    items = [_object_item(POD_GROUP, row.name, groups[Key(row.namespace, row.name)], row) for row in rows]
    everywhere = call.options.all_namespaces
    return Section("", items, lambda: lists.GROUPS if everywhere else lists.GROUPS[1:])


def _taints(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    rules = facts.inventory.taint_rules
    chosen = {rule.metadata.name for rule in _chosen(call, wanted, DEVICE_TAINT_RULE, rules.values())}
    if wanted.names or call.options.selector or is_document(call.options) or call.options.output == "name":
        rows = tuple(rule_row(rules[name], facts) for name in sorted(chosen))
    else:
        rows = taint_rows(facts)
    items = [
        _object_item(DEVICE_TAINT_RULE, row.rule or "", rules[row.rule] if row.rule else None, row) for row in rows
    ]
    return Section("", items, lambda: lists.TAINTS)


def _chosen(call: GetCall, wanted: TypeArgs, kind: Kind, objects: Iterable[Any]) -> list[Any]:
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


def _object_item(kind: Kind, name: str, record: Any, row: Any) -> Item:  # noqa: ANN401 - records of several kinds
    return Item(f"{kind.singular}.{kind.group}/{name}", lambda: encode(record, kind), row)


_SECTIONS: Final[dict[str, Callable[[GetCall, TypeArgs], Section]]] = {
    POOLS: _pools,
    DEVICES: _devices,
    CLAIMS: _claims,
    CLASSES: _classes,
    TAINTS: _taints,
    POD_GROUPS: _groups,
}
