"""Names of objects as candidates, step by step where there are very many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

from kubectl_dra.commands.completing import Answer, Candidate, Directive
from kubectl_dra.commands.completing.line import Line

if TYPE_CHECKING:
    from kubectl_dra.commands.completing.cache import Rows

# More pools than this are completed in two steps, the driver first.
_POOLS_AT_ONCE: Final = 200


class Tables(Protocol):
    """Where names come from: a live cluster or a file."""

    def config(self, *words: str) -> Rows:
        """Names in the kubeconfig."""
        ...

    def table(self, resource: str, *flags: str, namespaced: bool = False) -> Rows:
        """Objects by name, with the columns of their table."""
        ...

    def devices(self, driver: str = "") -> Rows:
        """Devices and their values, as :meth:`Kubectl.devices`."""
        ...


Values = Callable[[Line, Tables], Answer]
Names = Iterable[tuple[str, str]]


def fitting(line: Line, names: Names, prefix: str = "") -> list[Candidate]:
    """Names with their descriptions that begin with what is typed; words typed before are not offered again."""
    found = (Candidate(prefix + name, text) for name, text in names)
    return [each for each in found if each.value.startswith(line.current) and each.value not in line.words]


def column(rows: Rows, description: int = 0) -> Names:
    """The first column as names, described by another one (0: not described)."""
    return ((row[0], row[description] if 0 < description < len(row) else "") for row in rows)


def named(resource: str, description: int = 0, *, namespaced: bool = False) -> Values:
    """Names of all objects of a resource, described by a column of their table."""

    def values(line: Line, tables: Tables) -> Answer:
        return Answer(fitting(line, column(tables.table(resource, namespaced=namespaced), description)))

    return values


def configured(*words: str) -> Values:
    """What a ``kubectl config get-…`` lists."""

    def values(line: Line, tables: Tables) -> Answer:
        return Answer(fitting(line, ((name, "") for name, _ in column(tables.config(*words)) if name != "NAME")))

    return values


def drivers(line: Line, tables: Tables) -> Answer:
    """Drivers that have pools."""
    return Answer(fitting(line, ((driver, "") for driver in {driver: None for driver, _, _ in _pool_rows(tables)})))


def pools(line: Line, tables: Tables) -> Answer:
    """``DRIVER/POOL``; the pool alone where the driver is not what is being typed."""
    rows = _pool_rows(tables)
    whole = fitting(line, ((f"{driver}/{pool}", node) for driver, pool, node in rows))
    return Answer(whole or fitting(line, ((pool, driver) for driver, pool, _ in rows)))


def devices(line: Line, tables: Tables) -> Answer:
    """Step by step: the driver where there are very many pools, the pool, then its devices."""
    rows = _pool_rows(tables)
    driver = next((driver for driver, pool, _ in rows if line.current.startswith(f"{driver}/{pool}/")), "")
    if driver:
        return Answer(fitting(line, device_names(tables.devices(driver))))
    found = fitting(line, ((f"{driver}/{pool}/", node) for driver, pool, node in rows))
    if len(found) > _POOLS_AT_ONCE and "/" not in line.current:
        found = fitting(line, ((f"{driver}/", "") for driver in {driver: None for driver, _, _ in rows}))
    return Answer(found, Directive.NO_FILES | Directive.NO_SPACE)


def device_names(rows: Rows) -> Names:
    """``DRIVER/POOL/DEVICE``, described by its first values."""
    values: dict[str, list[str]] = {}
    for driver, pool, device, field, _, value in rows:
        known = values.setdefault(f"{driver}/{pool}/{device}", [])
        if field == "attributes" and len(known) < 2:
            known.append(value)
    return ((name, ", ".join(known)) for name, known in values.items())


def _pool_rows(tables: Tables) -> list[tuple[str, str, str]]:
    """Driver, pool and node of each pool, once, from kubectl's table NAME NODE DRIVER POOL AGE.

    The column NODE is blank for slices that are not of one node.
    """
    rows = [row for row in tables.table("resourceslices.resource.k8s.io") if len(row) in (4, 5)]
    return list(dict.fromkeys((row[-3], row[-2], row[1] if len(row) == 5 else "") for row in rows))
