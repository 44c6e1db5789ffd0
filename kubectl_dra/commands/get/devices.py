"""The lists of get that are reports of ours: pools, devices and nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from kubectl_dra.api.kinds import DEVICE_CLASS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.get.query import DEVICES, NODES, POOLS, TypeArgs
from kubectl_dra.commands.get.sections import GetCall, Item, Section, found_by, labelled, report_item
from kubectl_dra.commands.shared.absent import device_not_found, node_not_found, pool_not_found
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import check_node, object_not_found
from kubectl_dra.commands.shared.options import label_selector
from kubectl_dra.commands.shared.show import is_document
from kubectl_dra.model.core import Node
from kubectl_dra.output.devices import lists, node_columns
from kubectl_dra.output.devices.parts import CLOSED, scope_cell
from kubectl_dra.output.devices.pool_columns import pool_columns
from kubectl_dra.output.devices.pool_lack import lacking_notes
from kubectl_dra.output.devices.unpublished import vanished_text
from kubectl_dra.output.refusals import placed_words
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, shortened
from kubectl_dra.reports.base import Series
from kubectl_dra.reports.devices.device_list import DeviceFilter, ListedDevice, device_list
from kubectl_dra.reports.devices.nodes import node_names, node_summaries
from kubectl_dra.reports.devices.open_pool import open_pool
from kubectl_dra.reports.devices.pool import is_troubled, pool_summary
from kubectl_dra.reports.devices.unpublished import vanished
from kubectl_dra.reports.find import find_devices, find_pools
from kubectl_dra.reports.invocations import try_dra
from kubectl_dra.selectors.evaluate import SelectorSet


def _pools(call: GetCall, wanted: TypeArgs) -> Section:
    state = call.state
    pools = list(state.pools)
    if wanted.names:
        pools = found_by(call, wanted, lambda name: find_pools(name, state), lambda name: pool_not_found(name, state))
    rows = Series(lambda: (pool_summary(open_pool(pool, state)) for pool in pools))
    if not is_document(call.options) and call.options.output != "name":
        call.notes += lacking_notes(pools, state.inventory.slices_by_pool, state.evidence.address)
    items = Series(lambda: (report_item("PoolSummary", f"{row.driver}/{row.pool}", row) for row in rows))
    return Section("PoolSummary", items, lambda: pool_columns(rows), lambda: len(pools), is_bad=is_troubled)


def _devices(call: GetCall, wanted: TypeArgs) -> Section:
    state, query = call.state, call.query
    selectors = tuple(_selectors(call))
    names = None

    def missing(name: str) -> CommandError:
        return device_not_found(name, state)

    if wanted.names:
        names = {*found_by(call, wanted, lambda name: find_devices(name, state), missing)}
    check_node(call.query.node, call.state)
    chosen = DeviceFilter(query.free, query.used, query.tainted, query.node or None, selectors, names)
    if chosen.free:
        call.notes += _left_out(state, replace(chosen, free=False, closed=True))
    listed = device_list(state, chosen)
    for text, number in listed.errors.items():
        call.notes.append(fmt("note: left out {}, on which the selector fails: {}", counted(number, "device"), text))
    if not (wanted.names or selectors or chosen.free or chosen.node) and (gone := vanished(state)):
        call.notes.append(fmt("note: {}", vanished_text(gone)))
    items = Series(lambda: map(_device_item, listed.items))
    return Section(
        "Device",
        items,
        lambda: lists.device_columns((item.row for item in items), wide=call.wide or call.options.output == "csv"),
        listed.count,
        lambda word: _attribute_path(word, items),
    )


def _attribute_path(word: str, items: Iterable[Item]) -> str:
    """The path to an attribute or capacity that devices have, as its column is titled or as drivers write it."""
    names = (name for item in items for name in item.row.device.values if name.lower() == word.lower())
    name = next(names, "")
    return f'.device.values["{name}"]' if name else word


def _left_out(state: ClusterState, chosen: DeviceFilter) -> Iterator[Safe]:
    """How many free devices nobody gets, since their nodes take no new pods."""
    found = device_list(state, chosen)
    nodes = dict.fromkeys((scope_cell(each.where), each.device.node_closed) for each in found.items)
    if nodes:
        number = counted(found.count(), "free device")
        where = [fmt("{} ({})", name, CLOSED[closed]) for name, closed in nodes]
        yield fmt("note: left out {} on nodes that take no new pods: {}", number, shortened(where, _NODES_NAMED))


def _device_item(listed: ListedDevice) -> Item:
    return report_item("Device", f"{listed.driver}/{listed.pool}/{listed.device.name}", listed)


def _selectors(call: GetCall) -> Iterator[SelectorSet]:
    classes, shows_sharing = call.state.inventory.classes, call.state.features.shows_sharing
    name = call.query.class_
    if name:
        if name not in classes:
            raise object_not_found(DEVICE_CLASS, name, classes, call.state.evidence)
        yield _compiled(SelectorSet.of_class(classes[name], shows_sharing), f'class "{name}"', _LIST_CLASSES)
    if call.query.match:
        found = SelectorSet.of_text(call.query.match, shows_sharing)
        if found.problem is not None:
            from kubectl_dra.commands.shared.selectors import check_selector

            check_selector("--match", call.query.match, call.state)
        yield found


_LIST_CLASSES: Final = try_dra("get", "classes")


def _compiled(selectors: SelectorSet, what: str, hint: str) -> SelectorSet:
    if selectors.problem is not None:
        raise CommandError(f"{what}: {placed_words(selectors.problem)}", hint)
    return selectors


def _nodes(call: GetCall, wanted: TypeArgs) -> Section:
    state = call.state
    known = node_names(state)
    nodes = state.inventory.nodes
    names = found_by(
        call, wanted, lambda name: [name] if name in known else [], lambda name: node_not_found(name, state)
    )
    if not wanted.names:
        selects = label_selector(call.options.selector)
        names = [name for name in known if selects(nodes.get(name, Node()).metadata.labels)]
    rows = node_summaries(state, names)
    items = [report_item("NodeSummary", f"node/{row.name}", row) for row in rows]
    return Section("NodeSummary", items, lambda: labelled(call, node_columns.node_columns(rows), nodes.values()))


#: So many nodes are named by a note.
_NODES_NAMED: Final = 5
SECTIONS: Final = {POOLS: _pools, DEVICES: _devices, NODES: _nodes}
