"""How many copies of each shape fit: the number first, then devices as a bar, the nodes, and what makes more room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import msgspec

from kubectl_dra.api.kinds import RESOURCE_QUOTA
from kubectl_dra.diagnosis.capacity.records import Capacity, DependsOn, Devices, NodeRoom
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Bound, Cause, Count, Funnel, NodeShortage, NodeTaint
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.capacity.parts import (
    driver_lines,
    ending_lines,
    group_text,
    opening_lines,
    own_term_text,
    share_lines,
    sign_of,
    too_little_left,
    way_lines,
)
from kubectl_dra.output.columns import ListColumn, count_column
from kubectl_dra.output.devices.parts import UNKNOWN, bar
from kubectl_dra.output.devices.twins import counted_twice_lines
from kubectl_dra.output.devices.unpublished import vanished_text
from kubectl_dra.output.layout import Column, paragraphs, table, wrapped
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.pending.assumptions import fewer_copies
from kubectl_dra.output.pending.headline import why_not
from kubectl_dra.output.pending.quotas import refused_unless, unspecified_lines, where_admitted
from kubectl_dra.output.pending.reasons import title
from kubectl_dra.output.safe import Safe, Style, fmt, styled
from kubectl_dra.output.simulation.as_written import head_lines
from kubectl_dra.output.simulation.faults import copied_text
from kubectl_dra.output.simulation.manifests import (
    beside_text,
    blocked_text,
    bypassing_text,
    refusal_lines,
    refused_words,
)
from kubectl_dra.output.unread import around
from kubectl_dra.output.whatif.page import whatif_lines
from kubectl_dra.output.words import counted, listed, object_name, plural, shortened, without_names
from kubectl_dra.reports.capacity.capacity import CapacityReport, ShapeCapacity, Unreadable

_NOTHING: Final = Safe("The file has no pod, workload, claim or template to count.")
_REFUSED: Final = Safe("Nothing was counted: what the files describe can't be created as it is written.")
_EACH: Final = Safe("Each of these is counted as if it were the only one; together, fewer may fit.")
_BAR: Final = 40
_NAMES_SHOWN: Final = 3
_ROWS_SHOWN: Final = 12
_IN_USE, _TAKEN, _LEFT, _UNUSABLE = (Safe("█"), Safe("▓"), Safe("░"), Safe("▒"))
_SIGN_STYLES: Final = {_IN_USE: Style.NAME, _TAKEN: Style.GOOD, _LEFT: Style.WARN, _UNUSABLE: Style.DIM}
#: No column depends on the time.
_ANY_TIME: Final = datetime.min.replace(tzinfo=UTC)
_DEPENDS: Final = {
    DependsOn.AFFINITY: "affinity to pods",
    DependsOn.SPREAD: "spread constraints",
    DependsOn.CLAIM: "a claim that they share",
    DependsOn.VOLUMES: "volumes",
    DependsOn.GROUP: "their PodGroup",
}
#: Pods and claims that could not be read may hold such devices.
_OPEN: Final = Safe("Whether restarting pods would bring more is unknown.")


def capacity_page(report: CapacityReport, address: Address) -> list[Safe]:
    blocks: list[list[Safe]] = [[*head_lines(report.manifests), *refusal_lines(report)]]
    blocks += (wrapped(styled(text, Style.BAD)) for text in copied_text(report.copied))
    if report.what_if is not None:
        blocks.append(whatif_lines(report.what_if, address))
    unread = {each.namespace for each in report.missing if each.decides and each.kind == RESOURCE_QUOTA.name}
    alike: dict[str, list[str]] = {}
    told: dict[str, list[list[Safe]]] = {}
    without = [shape for shape in report.shapes if _is_beside_the_point(shape, report.shapes)]
    for shape in (each for each in report.shapes if each not in without):
        quotas, partial = shape.subject.namespace not in unread, bool(report.unread)
        # The pods of a gang differ in nothing but their names, and some of an object in what it calls them.
        anonymous = list(_shape_blocks(_unnamed(shape), address, partial=partial, quotas=quotas))
        same = without_names([shape.subject.name], (line for block in anonymous for line in block))
        if same not in told:
            told[same] = list(_shape_blocks(shape, address, partial=partial, quotas=quotas))
        alike.setdefault(same, []).append(shape.role or shape.subject.name)
    blocks += ([*wrapped(styled(group_text(each), Style.BOLD))] for each in report.groups)
    for same, found in told.items():
        blocks += found
        if others := alike[same][1:]:
            blocks.append(wrapped(fmt("The same holds for {}.", shortened(others, _NAMES_SHOWN))))
    if len(told) > 1:
        blocks.append(wrapped(_EACH))
    blocks += (wrapped(fmt("{} It requests no device.", _headline(each))) for each in without)
    if report.vanished:
        blocks.append(wrapped(vanished_text(report.vanished)))
    blocks.append(list(counted_twice_lines(report.machines, address)))
    if report.more:
        blocks.append(wrapped(fmt("{} more shapes of the file were left out.", report.more)))
    blocks.append([line for each in report.unreadable for line in wrapped(_unreadable(each))])
    if not (report.shapes or report.unreadable):
        blocks.append(wrapped(_none_counted(report)))
    return around(paragraphs(blocks), report.missing, address)


def _unnamed(shape: ShapeCapacity) -> ShapeCapacity:
    return msgspec.structs.replace(shape, role="")


def _is_beside_the_point(shape: ShapeCapacity, shapes: Sequence[ShapeCapacity]) -> bool:
    """Whether its pods request no device and fit, beside others that do: no room is made for these."""
    fits = shape.capacity.copies.value > 0 and not (shape.refused or shape.blocked or shape.bypasses)
    return not shape.requests_devices and fits and any(each.requests_devices for each in shapes)


def capacity_summary(report: CapacityReport) -> Safe:
    if not report.shapes:
        return _unreadable(report.unreadable[0]) if report.unreadable else _none_counted(report)
    return group_text(report.groups[0]) if report.groups else _headline(report.shapes[0])


def _none_counted(report: CapacityReport) -> Safe:
    return _REFUSED if report.manifests else _NOTHING


def _unreadable(found: Unreadable) -> Safe:
    return fmt("{} can't be read, so it is not counted: {}", object_name(found.subject), found.error)


def _shape_blocks(shape: ShapeCapacity, address: Address, *, partial: bool, quotas: bool) -> Iterator[list[Safe]]:
    """The blocks of one shape; ``partial``: something that decides could not be read; ``quotas``: these were."""
    found = shape.capacity
    yield [*wrapped(styled(_headline(shape), Style.BOLD)), *_second(shape, partial=partial, quotas=quotas)]
    if found.devices.matching:
        yield list(_device_lines(found))
    if found.nodes and found.copies.bound is not Bound.UNKNOWN:
        single = len(shape.extended) + sum(len(ask.requests) for ask in shape.asks) == 1
        yield _node_table(found.nodes)
        yield list(share_lines(found.nodes, single=single))
    yield from way_lines(shape.ways, address)
    yield [*driver_lines(shape.pending), *opening_lines(found.openings)]
    if shape.ends:
        yield list(ending_lines(shape.ends, address))


# --- the numbers ----------------------------------------------------------------------------------------------------


def _headline(shape: ShapeCapacity) -> Safe:
    found, name = shape.capacity, _name(shape)
    if shape.blocked:
        return blocked_text(name, shape.blocked[0])
    if shape.refused:
        return fmt("{} would be refused: {}.", name, refused_words(shape.refused))
    if shape.bypasses:
        return bypassing_text(name, shape.bypasses)
    if found.copies.bound is Bound.UNKNOWN:
        return _unknown(shape)
    times = counted(found.copies.value, "more time")
    if not found.copies.value:
        why = why_not(shape.pending) if shape.pending is not None else None
        return fmt("{} does not fit{}{}.", name, Safe(" on any node now" if found.nodes else ""), why or Safe(""))
    if shape.misread:
        text = "{} fits {}{} now, but only without the fields that a server drops."
        return fmt(text, name, sign_of(found.copies), times)
    if shape.scheduler:
        text = "{}: scheduler {} decides; by the rules of the default scheduler it would fit {}{} now."
        return fmt(text, name, shape.scheduler, sign_of(found.copies), times)
    if not shape.unspecified:
        sign = (
            Safe("at most ")
            if (shape.beside or shape.rest_by) and found.copies.bound is Bound.EXACT
            else sign_of(found.copies)
        )
        return fmt("{} fits {}{} now.", name, sign, times)
    refused, case = refused_unless(shape.unspecified[0], "it"), where_admitted(shape.unspecified[0])
    if found.copies.bound is Bound.AT_LEAST:
        return fmt("{}: {}; {}, it fits {}{} now.", name, refused, case, sign_of(found.copies), times)
    return fmt("{}: {}; {}, it fits at most {} now.", name, refused, case, times)


def _unknown(shape: ShapeCapacity) -> Safe:
    quota = shape.capacity.quota
    if quota == 0:
        return fmt("{} is not created any more: the namespace's ResourceQuota admits none.", _name(shape))
    text = "How many times {} fits is unknown{}: data needed for a number could not be read."
    most = counted(quota or 0, "more time")
    limit = Safe("") if quota is None else fmt(", but at most {} by the namespace's ResourceQuota", most)
    return fmt(text, _name(shape, inside=True), limit)


def _name(shape: ShapeCapacity, *, inside: bool = False) -> Safe:
    """What is counted; ``inside``: of a sentence, which it does not begin."""
    asks, one = ask_words(shape.asks, shape.extended), Safe("a pod" if inside else "A pod")
    if not shape.subject.kind:
        return fmt("{} that requests {}", one, asks) if asks else Safe("such a pod" if inside else "Such a pod")
    role = fmt(" ({})", shape.role) if shape.role else Safe("")
    of = fmt("{} {}", one, Safe("like" if shape.subject.kind == "Pod" else "of"))
    kind = Safe("") if shape.subject.kind == "Pod" else fmt("{} ", shape.subject.kind)
    which = fmt("{} {}{}{}", of, kind, str(shape.subject.key), role)
    return fmt("{} ({})", which, asks) if asks else which


def _second(shape: ShapeCapacity, *, partial: bool, quotas: bool) -> Iterator[Safe]:
    """What was supposed of the pod, what moving pods could bring, and what a quota admits."""
    found = shape.capacity
    if shape.tolerates:
        text = "It is supposed to tolerate {}, which every node with such devices has."
        yield from wrapped(fmt(text, listed(shape.tolerates)), indent=2)
    if found.quota is not None and found.quota < found.copies.value:
        text = "The namespace's ResourceQuota admits only {} more; raise it before you add devices."
        yield from wrapped(fmt(text, found.quota), indent=2)
    if found.copies.value:
        yield from unspecified_lines(shape.unspecified)
    if shape.rest_by and found.copies.value:
        text = "Its claims alone were counted: {} makes the rest of the pod, and that may find fewer nodes."
        yield from wrapped(fmt(text, shape.rest_by), indent=2)
    if shape.beside and found.copies.value:
        yield from wrapped(beside_text(shape.beside), indent=2)
    if not quotas and found.copies.value:
        yield from wrapped(Safe("The namespace's ResourceQuotas could not be read; they may admit fewer."), indent=2)
    if found.copies.bound is Bound.UNKNOWN or not found.nodes:
        return
    if found.being_bound is not None:
        yield from wrapped(fewer_copies(found.being_bound), indent=2)
    if shape.min_count is not None and shape.min_count > 1:
        text = (
            "Of its PodGroup {} have to find a node at the same time, or none is placed; here they are counted one by "
            "one."
        )
        yield from wrapped(fmt(text, counted(shape.min_count, "pod")), indent=2)
    if not found.side_by_side:
        if found.own_term is not None:
            yield from wrapped(own_term_text(found.own_term), indent=2)
        why = listed([Safe(_DEPENDS[each]) for each in found.depends_on] or [Safe("the devices that they share")])
        text = "Copies depend on each other by {}, so moving pods was not tried."
        yield from wrapped(fmt(text, why), indent=2)
    elif found.repacked.bound is not Bound.UNKNOWN:
        yield from wrapped(_OPEN if partial and not _brings_more(found) else _repacked(found), indent=2)
        if _brings_more(found) and not shape.ways:
            yield from wrapped(Safe("No restarts were found that make room for one more."), indent=2)


def _brings_more(found: Capacity) -> bool:
    return found.repacked.value > found.copies.value


def _repacked(found: Capacity) -> Safe:
    movable = counted(found.movable, "pod")
    shared = any(too_little_left(room) for room in found.nodes)
    if not found.movable and not found.devices.in_use and not found.deletions and not shared:
        return Safe("There is nothing to restart: no pod holds such devices.")
    if not found.movable:
        return Safe("Restarting pods brings no more: none of the pods that hold such devices may be restarted.")
    if found.repacked.value == found.copies.value:
        text = "Restarting pods brings no more, however the {} that may be restarted {} placed."
        return fmt(text, movable, Safe("is" if found.movable == 1 else "are"))
    text = "If the {} that may be restarted were placed anew, {} would fit{}."
    number = fmt("at most {:,}", found.repacked.value) if not found.reached else fmt("{:,}", found.repacked.value)
    return fmt(text, movable, number, Safe("") if found.reached else Safe(" (an upper bound)"))


# --- devices --------------------------------------------------------------------------------------------------------


def _matching(devices: Devices) -> Safe:
    verb = Safe("matches" if devices.matching == 1 else "match")
    sign = Safe("At least ") if devices.matching_bound is Bound.AT_LEAST else Safe("")
    return fmt("{}{} {} the request", sign, counted(devices.matching, "device"), verb)


def _device_lines(found: Capacity) -> Iterator[Safe]:
    devices = found.devices
    if devices.others_bound is not Bound.EXACT:
        yield from wrapped(fmt("{}; how many of them are left is unknown.", _matching(devices)))
        return
    yield from wrapped(fmt("{}:", _matching(devices)))
    yield Safe("  ") + device_bar(devices, _BAR)
    # More than there are: several copies share a device.
    share = Safe(f"{plural('share', devices.taken)} " if devices.taken > devices.matching else "")
    fits = Safe("fits" if found.copies.value == 1 else "fit")
    parts = [
        (_IN_USE, devices.in_use, Safe("in use")),
        (_TAKEN, devices.taken, fmt("{}taken by the {} that {}", share, counted(found.copies.value, "copy"), fits)),
        (
            _LEFT,
            devices.left,
            fmt("free but left over: no node has room for {} copy", Safe("another" if found.copies.value else "one")),
        ),
        (_UNUSABLE, devices.tainted, Safe("tainted")),
        (_UNUSABLE, devices.unusable - devices.tainted, Safe("short of capacity or counters")),
    ]
    for sign, value, words in parts:
        if value:
            yield fmt("  {} {:,} {}", styled(sign, _SIGN_STYLES[sign]), value, words)


def device_bar(devices: Devices, columns: int) -> Safe:
    """The devices as a bar in colours; none where it is not known what is left of them."""
    if devices.others_bound is not Bound.EXACT:
        return Safe("")
    parts = [(_IN_USE, devices.in_use), (_TAKEN, devices.taken), (_LEFT, devices.left), (_UNUSABLE, devices.unusable)]
    shape = bar(parts, columns)
    found = Safe("")
    for sign, _ in parts:
        number = str(shape).count(str(sign))
        found += styled(Safe(str(sign) * number), _SIGN_STYLES[sign]) if number else Safe("")
    return found


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node_table(nodes: Sequence[NodeRoom]) -> list[Safe]:
    titles = [Column(column.title, right=column.right, flexible=not column.right) for column in ROOMS]
    rows = [[column.cell(room, _ANY_TIME) for column in ROOMS] for room in nodes[:_ROWS_SHOWN]]
    lines = table(titles, rows)
    left = sum(room.count for room in nodes[_ROWS_SHOWN:])
    return [*lines, *wrapped(fmt("and {} more", counted(left, "node")))] if left else lines


def _nodes(room: NodeRoom) -> Safe:
    if room.count <= _NAMES_SHOWN:
        return listed(room.names)
    return fmt("{} and {} alike", room.names[0], room.count - 1)


def why_no_more(room: NodeRoom) -> Safe:
    """What keeps the next copy off such a node, in a few words."""
    cause = room.causes[0] if room.causes else None
    if cause is None:
        return Safe("-")
    return _fragment(room, cause) or _of_node(cause) or title(cause.code)


def _why_no_more(room: NodeRoom) -> Safe:
    """The same, unless nothing is known, or free devices are too few and not all that takes some could be read."""
    if room.bound is Bound.UNKNOWN:
        return UNKNOWN
    guessed = room.bound is not Bound.EXACT and room.copies and room.causes and _fragment(room, room.causes[0])
    return UNKNOWN if guessed else why_no_more(room)


def _whole(title: str, count: Callable[[NodeRoom], Count]) -> ListColumn[NodeRoom]:
    """A count of whole devices, which says nothing of those that are shared: why no more fits has their amounts."""
    plain = count_column(title, count)
    return replace(plain, cell=lambda room, now: Safe("-") if too_little_left(room) else plain.cell(room, now))


#: The grid of the TUI chooses from them.
ROOMS: Final[tuple[ListColumn[NodeRoom], ...]] = (
    ListColumn("NODES", lambda room, _: _nodes(room)),
    count_column("FIT", lambda room: Count(room.copies, room.bound)),
    count_column("DEVICES", lambda room: Count(room.devices.matching, room.devices.matching_bound)),
    _whole("IN USE", lambda room: Count(room.devices.in_use, room.devices.in_use_bound)),
    _whole("LEFT OVER", lambda room: Count(room.devices.left, room.devices.others_bound)),
    ListColumn("WHY NO MORE", lambda room, _: _why_no_more(room), lambda room: str(_why_no_more(room))),
)


_OWN_WORDS: Final = {Code.NODE_UNSCHEDULABLE: Safe("cordoned"), Code.NO_DEVICE_IN_CLASS: Safe("no device of the class")}
_OF_DEVICES: Final = frozenset({Code.DEVICES_IN_USE, Code.DEVICES_TAINTED, Code.TOO_FEW_DEVICES, Code.REQUESTS_COMPETE})


def _fragment(room: NodeRoom, cause: Cause) -> Safe:
    """Free devices that are too few here, though there may be enough of them elsewhere."""
    if short := too_little_left(room):
        return short
    if cause.code is Code.DEVICES_IN_USE and isinstance(cause.detail, Funnel):
        free = len(cause.detail.left)
        # Of several requests the columns are about the largest.
        if cause.request and free != room.devices.left:
            return fmt("only {} free for {}", free, cause.request) if free else fmt("none free for {}", cause.request)
    if cause.code is Code.DEVICES_IN_USE and room.devices.left:
        return fmt("only {} free here", room.devices.left)
    devices = room.devices
    all_held = devices.taken + devices.in_use == devices.matching
    if devices.taken and not devices.left and (all_held or cause.code in _OF_DEVICES):
        if not room.copies:
            return Safe("taken by copies on other nodes")
        return Safe("all taken by these" if devices.taken == devices.matching else "no free device left")
    if cause.code is Code.REQUESTS_COMPETE and devices.left:
        return fmt("too few for all requests: {} left", devices.left)
    if cause.code is Code.CONSTRAINT:
        return Safe("free devices differ in a value that must be the same")
    return Safe("")


def _of_node(cause: Cause) -> Safe:
    match cause.detail:
        case NodeShortage():
            return fmt("not enough {}", cause.detail.resource)
        case NodeTaint():
            return fmt("taint {}", cause.detail.taint)
    return _OWN_WORDS.get(cause.code, Safe(""))
