"""``get -w``: everything once, then every line that is new or different."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kubectl_dra.commands.errors import CommandError
from kubectl_dra.commands.following import check_watch, follow
from kubectl_dra.commands.get_answers import Call, Item, Section, new_call, note_missing, print_sections, sections_of
from kubectl_dra.commands.get_query import Query, Wanted
from kubectl_dra.commands.options import Options
from kubectl_dra.commands.show import is_document, note_evidence, write
from kubectl_dra.output.console import flush, write_data
from kubectl_dra.output.documents import to_bytes
from kubectl_dra.output.exit_codes import ExitCode


def watch(options: Options, query: Query, wanted: Sequence[Wanted], needs: Sequence[str], *, local: bool) -> int:
    """Everything once, then what is new or different, as kubectl does; never ends by itself."""
    check_watch(options)
    before: set[bytes] | None = None
    for cluster in follow(options, needs, local=local):
        call = new_call(options, query, cluster)
        try:
            sections = sections_of(call, wanted)
        except CommandError:
            if before is None:
                raise
            # The only one that was named is gone for now.
            sections = []
        before = _print_changes(call, wanted, sections, before)
        query = dataclasses.replace(query, no_headers=True)
        flush()
    return ExitCode.OK


def _print_changes(
    call: Call, wanted: Sequence[Wanted], sections: Sequence[Section], before: set[bytes] | None
) -> set[bytes]:
    """Print the lines that were not there ``before`` (None: nothing was); the lines of now."""
    documents = is_document(call.options)
    lines = [[(_line(item, documents), item) for item in section.items] for section in sections]
    fresh = [
        dataclasses.replace(section, items=[item for line, item in items if before is None or line not in before])
        for section, items in zip(sections, lines, strict=True)
    ]
    if before is None:
        note_evidence(call.cluster.evidence, call.options)
        note_missing(call, wanted)
    if documents:
        _print_one_by_one(call, fresh)
    elif before is None or any(section.items for section in fresh):
        print_sections(call, wanted, fresh)
    return {line for items in lines for line, _ in items}


def _line(item: Item, documents: bool) -> bytes:
    """What makes a line another one: of API objects every field, of rows what they show."""
    return item.document() if documents else to_bytes(item.row)


def _print_one_by_one(call: Call, sections: Sequence[Section]) -> None:
    for section in sections:
        for item in section.items:
            if call.options.output == "yaml":
                write_data("---")
            write(item.document(), call.options)
