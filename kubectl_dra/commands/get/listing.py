"""The lists of get: find, filter, sort, and print tables, names or documents, type by type.

``--sort-by``: a path into the JSON of each item, as kubectl reads simple ones: ``.metadata.name``, ``{.spec.x}``. What
the lists of get are about, and what of that could not be read, given their names and filters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cmp_to_key
from itertools import chain, islice
from typing import Any, Final, Protocol, TypeVar

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.get import devices as get_devices
from kubectl_dra.commands.get import objects as get_objects
from kubectl_dra.commands.get import query as get_query
from kubectl_dra.commands.get.query import (
    CLAIMS,
    CLASSES,
    DEVICES,
    NAMESPACED,
    NODES,
    POD_GROUPS,
    POOLS,
    TAINTS,
    TEMPLATES,
    GetQuery,
    TypeArgs,
    singular,
)
from kubectl_dra.commands.get.sections import GetCall, Item, Section
from kubectl_dra.commands.shared.cluster import Scoped
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document, print_pages, write
from kubectl_dra.commands.shared.unread import noted_around
from kubectl_dra.model.evidence import Coverage, Fields
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.output.columns import WRITERS as TABLES
from kubectl_dra.output.columns import list_table, shown_columns
from kubectl_dra.output.documents import list_head, write_list
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import listed_count, plural
from kubectl_dra.reports import unread as subjects
from kubectl_dra.reports.base import Bound
from kubectl_dra.reports.find import device_selections, find_devices, find_pools, pool_selections
from kubectl_dra.reports.unread import SLICES, ListGaps, Subject, together, unread

_MORE: Final = {CLASSES: ("ResourceClaimTemplate", "ResourceClass")}
_STEP: Final = re.compile(r"\.((?:[A-Za-z0-9_/-]|\\\.)+)|\[['\"]([^'\"]+)['\"]\]|\[([0-9]{1,6})\]")
_SUBJECTS: Final[Mapping[str, Subject]] = {
    POOLS: subjects.POOLS,
    DEVICES: subjects.DEVICES,
    CLAIMS: subjects.CLAIMS,
    CLASSES: subjects.CLASSES,
    TAINTS: subjects.TAINTS,
    POD_GROUPS: subjects.POD_GROUPS,
    NODES: subjects.NODES,
    get_query.SLICES: subjects.SLICE_OBJECTS,
    TEMPLATES: subjects.TEMPLATES,
}


def needs_of(query: GetQuery, wanted: Sequence[TypeArgs]) -> tuple[str, ...]:
    """The kinds that the tables are made of."""
    needs = {kind: None for each in wanted for kind in (*_SUBJECTS[each.type].kinds, *_MORE.get(each.type, ()))}
    if query.class_:
        needs["DeviceClass"] = None
    return tuple(needs)


def new_call(options: Options, query: GetQuery, cluster: Scoped) -> GetCall:
    return GetCall(options, query, cluster, cluster.state)


def sections_of(call: GetCall, wanted: Sequence[TypeArgs]) -> list[Section]:
    """All lines, type by type, sorted as asked. Raises ``CommandError`` where the only name is not found."""
    sections = [_SECTIONS[each.type](call, each) for each in wanted]
    if call.query.sort_by:
        return [replace(each, items=_sorted(each, call.query.sort_by)) for each in sections]
    return [replace(each, items=list(each.items)) for each in sections] if call.options.watch else sections


def _sorted(section: Section, by: str) -> Sequence[Item]:
    """By a column's title, by what is called so, or by a path into the JSON."""
    items = list(section.items)
    columns = {column.title.lower(): column.key for column in section.columns()}
    key = columns.get(by.lower())
    if key is None:
        return sort(items, section.path_of(by), columns)
    return sorted(items, key=lambda item: key(item.row))


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
    state = cluster.state
    return not all(
        find_pools(name, state) if each.type == POOLS else find_devices(name, state)
        for each in wanted
        for name in each.names
    )


def print_sections(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section], found: ListGaps) -> None:
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
        terminal.note(_summary(call, wanted[:1], 0, found.bound))


def _lines(call: GetCall, section: Section) -> Iterator[Safe]:
    yield from list_table(section.columns(), section.rows, call.state.now, call.wide, call.headers)


def _rows_as(name: str, call: GetCall, section: Section) -> Iterator[Safe]:
    """The table for another program; spreadsheets take the columns of ``-o wide``, too."""
    wide = name == "csv"
    columns = shown_columns(section.columns(), wide=wide)
    rows = ([column.of(row, call.state.now, wide=wide) for column in columns] for row in section.rows)
    return TABLES[name]([column.title for column in columns], rows)


def _summary(call: GetCall, wanted: Sequence[TypeArgs], number: int, bound: Bound) -> Safe:
    """How many lines there are, and where."""
    namespace = call.cluster.namespace
    where = fmt(" in namespace {}", namespace) if wanted[0].type in NAMESPACED and namespace else Safe("")
    noun = singular(wanted[0].type) if len(wanted) == 1 else "object"
    if not number:
        known = Safe("No {} found{}." if bound is Bound.EXACT else "No {} could be read{}.")
        return fmt(known, Safe(plural(noun, 0)), where)
    return fmt("{}{}.", listed_count(number, noun, bound), where)


def _print_documents(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section], found: ListGaps) -> None:
    kinds = {section.kind for section in sections}
    items = (item for section in sections for item in section.items)
    names = [name for each in wanted for name in each.names]
    first = list(islice(items, 2)) if len(names) == 1 else []
    # A short name of a pool or device may mean several tomorrow.
    if len(first) == 1 and (kinds == {""} or first[0].name in (names[0], f"node/{names[0]}")):
        write(first[0].document(), call.options)
    elif len(kinds) == 1:
        kind = kinds.pop()
        documents = (item.document() for item in chain(first, items))
        summary = _summary(call, wanted, sum(section.count() for section in sections), found.bound)
        head = list_head(f"{kind}List" if kind else "", summary, missing=found.missing)
        write_list(head, documents, call.options.output)
    else:
        raise UsageProblem("objects of the API and reports don't fit into one document", "name one type at a time")


def what_is_unread(call: GetCall, wanted: Sequence[TypeArgs], sections: Sequence[Section]) -> ListGaps:
    """What could not be read and may change what is printed."""
    shown = [any(True for _ in section.items) for section in sections]
    return _unread_of(wanted, shown, call.query, call.state, call.cluster.namespace)


@contextmanager
def around_lists(call: GetCall, found: ListGaps) -> Iterator[None]:
    """Say what the lists lack and leave out; lists for ``grep`` keep it out of their lines."""
    # Where nothing was read, the error says what is lacking.
    missing = found.missing if found.answered else ()
    with noted_around(missing, call.options, call.state.evidence.address):
        for line in call.notes:
            console(call.options).note(line)
        call.notes.clear()
        yield


_SECTIONS: Final[dict[str, Callable[[GetCall, TypeArgs], Section]]] = {**get_devices.SECTIONS, **get_objects.SECTIONS}


class HasDocument(Protocol):
    """What can be sorted: anything with a document."""

    @property
    def document(self) -> Callable[[], bytes]: ...


ItemT = TypeVar("ItemT", bound=HasDocument)


def sort(items: Sequence[ItemT], path: str, columns: Iterable[str]) -> list[ItemT]:
    """The items by the value at ``path``, those without it first; numbers and quantities by amount.

    Raises a usage error for a path that is none, or that no item has; it names the ``columns`` that exist.
    """
    steps = parse_path(path)
    values = [_value_at(json.loads(item.document()), steps) for item in items]
    if items and all(value is None for value in values):
        # A title with a space in it is one word on the command line.
        names = ", ".join(f"'{name}'" if " " in name else name for name in columns)
        problem = f'"{path}" is not a column, and no item has such a field'
        raise UsageProblem(problem, f"--sort-by {names}, or a field that -o json shows")
    by_value = cmp_to_key(_compare)
    pairs = sorted(zip(map(by_value, values), range(len(items)), strict=True))
    return [items[index] for _, index in pairs]


def parse_path(path: str) -> list[str | int]:
    """The steps of a path. Raises a usage error."""
    text = path.strip().removeprefix("{").removesuffix("}")
    text = text if text.startswith((".", "[")) else f".{text}"
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise UsageProblem(f'"{path}" is not a valid path to a field', "--sort-by .metadata.creationTimestamp")
        steps.append(int(match[3]) if match[3] is not None else (match[1] or match[2]).replace("\\.", "."))
        position = match.end()
    return steps


def _value_at(document: Any, steps: Sequence[str | int]) -> Any:  # noqa: ANN401 - JSON
    """The value at the end of the path, None if there is none."""
    for step in steps:
        if isinstance(step, int):
            document = document[step] if isinstance(document, list) and step < len(document) else None
        else:
            document = document.get(step) if isinstance(document, dict) else None
    return document


def _compare(a: Any, b: Any) -> int:  # noqa: ANN401 - JSON
    if a is None or b is None:
        return (a is not None) - (b is not None)
    x, y = _amount(a), _amount(b)
    if x is not None and y is not None:
        return x.cmp(y)
    left, right = _text(a), _text(b)
    return (left > right) - (left < right)


def _amount(value: Any) -> Quantity | None:  # noqa: ANN401 - JSON
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Quantity.parse(str(value))
    except QuantityError:
        return None


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _unread_of(
    wanted: Sequence[TypeArgs], shown: Sequence[bool], query: GetQuery, state: ClusterState, namespace: str
) -> ListGaps:
    """What could not be read and may change these lists; ``shown``: which of them have lines."""
    within = namespace if len(wanted) == 1 and wanted[0].type in NAMESPACED else ""
    return together(
        unread(state, _subject(each, query), within, shown=lines, known=_known(each, state))
        for each, lines in zip(wanted, shown, strict=True)
    )


def _subject(wanted: TypeArgs, query: GetQuery) -> Subject:
    """What the list is about; filters make kinds decide which lines there are."""
    given = {
        "ResourceClaim": query.used,
        "DeviceTaintRule": query.tainted,
        "DeviceClass": bool(query.class_),
        "Node": bool(query.node),
        "Pod": query.unused,
    }
    return _SUBJECTS[wanted.type].selecting(*(kind for kind, selects in given.items() if selects))


def _known(wanted: TypeArgs, state: ClusterState) -> frozenset[str]:
    """Kinds of which everything that is asked for by name was read; a pool may have more slices than were."""
    objects = _SUBJECTS[wanted.type].objects
    if objects == (SLICES,):
        return frozenset({SLICES} if state.evidence.coverage(SLICES) is Coverage.FILTERED else ())
    return frozenset(objects if wanted.names else ())
