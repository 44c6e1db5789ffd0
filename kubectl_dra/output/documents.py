"""JSON and YAML: lossless, 7-bit, for programs. Reports and lists get our envelope, API objects their own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from kubectl_dra.api.quantities import encode_hook
from kubectl_dra.api.trees import in_utf8
from kubectl_dra.model.base import ReportRecord
from kubectl_dra.output.console import write_data, write_lines, write_text
from kubectl_dra.output.safe import Safe, plain
from kubectl_dra.output.templates import is_template, writer_of

API_VERSION: Final = "kubectl-dra/v1alpha1"
_INDENT: Final = 2
# DEL is 7-bit but a control character; JSON lets it stand.
_NOT_PRINTABLE: Final = re.compile("[^\x00-\x7e]")
# A list or object that holds only scalars: strings are taken whole, so that brackets in them are no ends.
_LEAF: Final = re.compile(r'([\[{])\n((?:"(?:[^"\\]|\\.)*+"|[^"\[\]{}])*+)([\]}])')
_FOLDED: Final = 100
_DEEP: Final = 10
_OURS: Final = f'{{"apiVersion":"{API_VERSION}"'.encode()
_encoder: Final = msgspec.json.Encoder(enc_hook=encode_hook)

#: The head of a ``v1`` List like kubectl's.
OBJECTS_HEAD: Final = b'{"apiVersion":"v1","kind":"List"}'

Writer = Callable[[bytes], str]


def report_bytes(kind: str, report: object) -> bytes:
    """One report in its envelope: ``apiVersion``, ``kind`` and the report's own fields."""
    return _enveloped(kind, to_bytes(report))


def document(
    report: ReportRecord, summary: Safe, text: Sequence[Safe] | None = None, **more: object
) -> dict[str, object]:
    """The fields of a report behind ``summary``, its sentence; ``text`` is its page, where that was asked for.

    The words for people may change; codes are the contract.
    """
    # Raw parts (drivers' own JSON) pass through as they are.
    fields = msgspec.json.decode(to_bytes(report.for_json()), type=dict[str, msgspec.Raw])
    found: dict[str, object] = {"summary": str(plain(summary)), **fields, **more}
    return found if text is None else {**found, "output": {"text": "\n".join(map(plain, text))}}


def list_bytes(kind: str, summary: Safe, reports: Iterable[object], **fields: object) -> bytes:
    """Reports as ``KIND`` with ``items``; ``summary``, a sentence, and ``fields`` (what is missing) are before them."""
    items = b",".join(to_bytes(report) for report in reports)
    return list_head(kind, summary, **fields)[:-1] + b',"items":[' + items + b"]}"


def list_head(kind: str, summary: Safe, **fields: object) -> bytes:
    """``KIND`` without its ``items``, which :func:`list_pieces` adds; without a kind a ``v1`` List like kubectl's."""
    head = to_bytes({"summary": str(plain(summary)), **fields})
    return _enveloped(kind, head) if kind else OBJECTS_HEAD[:-1] + b"," + head[1:]


def objects_bytes(objects: Sequence[bytes]) -> bytes:
    """API objects, already encoded, as a ``v1`` List like kubectl's."""
    return OBJECTS_HEAD[:-1] + b',"items":[' + b",".join(objects) + b"]}"


def to_json(data: bytes) -> str:
    """Indented JSON in 7 bits; numbers keep their literal."""
    try:
        text = msgspec.json.format(data, indent=_INDENT).decode("utf-8", "replace")
    except msgspec.DecodeError:
        # The escape of a lone surrogate, which only the standard library's JSON takes.
        text = json.dumps(json.loads(data), indent=_INDENT)
    return _NOT_PRINTABLE.sub(_escaped, text)


def folded(text: str) -> str:
    """Indented JSON with short parts that hold no others in one line each, for those who read it.

    Deep inside, the members of one object share lines.
    """
    return "\n".join(_filled(_LEAF.sub(_in_one_line, text).split("\n")))


def _filled(lines: Iterable[str]) -> Iterator[str]:
    """Deep members that take one line each, as many on a line as there is room for."""
    last = ""
    for line in lines:
        inside = line.lstrip()
        depth = len(line) - len(inside)
        beside = depth >= _DEEP and last.startswith(line[:depth]) and last[depth] != " " and last.endswith(",")
        room = len(last) - depth + len(inside) < _FOLDED
        if beside and room and _is_whole(last[depth:]) and _is_whole(inside):
            last = f"{last} {inside}"
            continue
        if last:
            yield last
        last = line
    yield last


def _is_whole(member: str) -> bool:
    """Whether a member begins and ends on its line; texts have no line breaks."""
    return member[-1:] not in ("{", "[") and member[:1] not in ("}", "]")


def _in_one_line(match: re.Match[str]) -> str:
    opening, inside, closing = match.groups()
    line = " ".join(part.strip() for part in inside.split("\n")).rstrip()
    return f"{opening}{line}{closing}" if len(line) <= _FOLDED else match[0]


def to_yaml(data: bytes) -> str:
    """YAML in 7 bits that Kubernetes' YAML 1.1 reader takes for the same values."""
    from kubectl_dra.output.yaml_dump import dump  # PyYAML only when YAML is asked for

    # YAML can't spell half a character, which JSON's escapes can.
    return dump(json.loads(in_utf8(data)))


def list_pieces(head: bytes, items: Iterable[bytes], output: str) -> Iterator[str]:
    """The text of the object ``head`` with ``items`` as its last member, as of the whole, in pieces: one per item."""
    pieces = _yaml_pieces if output == "yaml" else _json_pieces
    yield from pieces(head, iter(items))


def _json_pieces(head: bytes, items: Iterator[bytes]) -> Iterator[str]:
    member, item = "\n" + " " * _INDENT, "\n" + " " * 2 * _INDENT
    yield to_json(head).removesuffix("\n}") + f',{member}"items": ['
    separator = end = ""
    for data in items:
        # Line breaks in texts are escaped.
        yield separator + item + to_json(data).replace("\n", item)
        separator, end = ",", member
    yield end + "]\n}\n"


def _yaml_pieces(head: bytes, items: Iterator[bytes]) -> Iterator[str]:
    first = next(items, None)
    yield to_yaml(head) + ("items: []\n" if first is None else "items:\n")
    for data in items if first is None else chain([first], items):
        yield to_yaml(b"[" + data + b"]")


WRITERS: Final[dict[str, Writer]] = {"json": to_json, "yaml": to_yaml}


def write_document(data: bytes, output: str) -> None:
    """Write encoded JSON to stdout as ``json`` or ``yaml``, or as a template; API objects as kubectl writes them."""
    if is_template(output):
        write_lines(writer_of(output)(data))
        return
    text = WRITERS[output](data)
    write_data(folded(text) if output == "json" and data.startswith(_OURS) else text)


def write_list(head: bytes, items: Iterable[bytes], output: str) -> None:
    """Write the object ``head`` with ``items`` to stdout as ``json`` or ``yaml``, as they come; or as a template."""
    if is_template(output):
        write_document("".join(list_pieces(head, items, "json")).encode(), output)
        return
    for piece in list_pieces(head, items, output):
        write_text(piece)


def _enveloped(kind: str, body: bytes) -> bytes:
    head = _encoder.encode({"apiVersion": API_VERSION, "kind": kind})
    return head[:-1] + (b"," if len(body) > 2 else b"") + body[1:]


def to_bytes(value: object) -> bytes:
    """Any record as JSON in one line, without an envelope."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        # A lone surrogate (from an argument or a file name) has no UTF-8; JSON's escapes can hold it.
        return json.dumps(msgspec.to_builtins(value, enc_hook=encode_hook)).encode("ascii")


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
