"""What ``--sort-by`` takes: the titles of columns, as far as they are one word; a test compares them with the lists."""

from __future__ import annotations

from typing import Final

from kubectl_dra.commands.completion import Completions
from kubectl_dra.commands.completion.line import TypedLine
from kubectl_dra.commands.completion.names import Tables, fitting

_STATES: Final = "devices free partly used tainted blocked closed"
#: Written down, because what makes the lists takes longer to load than anyone waits for a TAB.
_OF_TYPES: Final = {
    "pools": f"driver pool nodes {_STATES} generation slices state",
    "devices": "driver pool device state nodes taints",
    "claims": "namespace name state devices classes nodes age",
    "classes": f"name {_STATES} claims pending selectors age",
    "taints": "taint from devices tainted claims status age",
    "podgroups": "namespace name policy pods running state topology claims workload age",
    "nodes": f"name status {_STATES} drivers taints age",
    "slices": "name driver pool nodes devices generation age",
    "templates": "namespace name requests pods age",
}
_OF_PODS: Final = "namespace pod age code needs closest reason"


def sort_columns(line: TypedLine, _tables: Tables) -> Completions:
    """Columns of the TYPE that stands in the line already; none of a word that is no type."""
    from kubectl_dra.commands.get.query import type_of

    typed = line.words[0].partition("/")[0] if line.words else ""
    titles = _OF_PODS if line.command.name == "why-pending" else _OF_TYPES.get(type_of(typed) or "", "")
    return Completions(fitting(line, ((title, "") for title in titles.split())))
