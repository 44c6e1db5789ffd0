"""Names of objects as candidates, step by step where there are very many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Protocol

from kubectl_dra.commands.completion import Completions, Directive, NextWord
from kubectl_dra.commands.completion.line import TypedLine

if TYPE_CHECKING:
    from kubectl_dra.commands.completion.cache import Rows

# More pools than this are completed in two steps, the driver first.
_POOLS_AT_ONCE: Final = 200
# So many slices are read at first; a cluster with more is asked for one driver, or for one pool.
PAGE: Final = 500
_STEP: Final = Directive.NO_FILES | Directive.NO_SPACE


class Tables(Protocol):
    """Where names come from: a live cluster or a file."""

    def config(self, *words: str) -> Rows:
        """Names in the kubeconfig."""
        ...

    def table(self, resource: str, *flags: str, namespaced: bool = False) -> Rows:
        """Objects by name, with the columns of their table."""
        ...

    def slices(self, driver: str = "") -> Rows:
        """``[driver, pool, node or ""]`` for each slice of ``driver``; without one the first :data:`PAGE` of all."""
        ...

    def devices(self, driver: str = "", pool: str = "") -> Rows:
        """``[driver, pool, device, field, qualified name or "", value]`` for each device and each of its values.

        ``field`` is ``attributes`` or ``capacity``, empty in the row that stands for the device itself. Without a
        driver those of the first :data:`PAGE` slices.
        """
        ...

    def taints(self) -> Rows:
        """``[key, value or "", effect, rule]`` for each DeviceTaintRule."""
        ...


Values = Callable[[TypedLine, Tables], Completions]
Names = Iterable[tuple[str, str]]


def fitting(line: TypedLine, names: Names, prefix: str = "") -> list[NextWord]:
    """Names with their descriptions that begin with what is typed; words typed before are not offered again."""
    found = (NextWord(prefix + name, text) for name, text in names)
    return [each for each in found if each.value.startswith(line.current) and each.value not in line.words]


def column(rows: Rows, description: int = 0) -> Names:
    """The first column as names, described by another one (0: not described)."""
    return ((row[0], row[description] if 0 < description < len(row) else "") for row in rows)


def named(resource: str, description: int = 0, *, namespaced: bool = False) -> Values:
    """Names of all objects of a resource, described by a column of their table."""

    def values(line: TypedLine, tables: Tables) -> Completions:
        return Completions(fitting(line, column(tables.table(resource, namespaced=namespaced), description)))

    return values


def configured(*words: str) -> Values:
    """What a ``kubectl config get-…`` lists."""

    def values(line: TypedLine, tables: Tables) -> Completions:
        return Completions(fitting(line, ((name, "") for name, _ in column(tables.config(*words)) if name != "NAME")))

    return values


def drivers(line: TypedLine, tables: Tables) -> Completions:
    return Completions(fitting(line, ((driver, "") for driver in _drivers(tables.slices()))))


def pools(line: TypedLine, tables: Tables) -> Completions:
    """``DRIVER/POOL``; the pool alone where the driver is not what is being typed."""
    rows, all_read = _pool_rows(line, tables)
    if not all_read:
        return _driver_step(line, rows)
    whole = fitting(line, ((f"{driver}/{pool}", node) for driver, pool, node in rows))
    return Completions(whole or fitting(line, ((pool, driver) for driver, pool, _ in rows)))


def devices(line: TypedLine, tables: Tables) -> Completions:
    """Step by step: the driver where there are very many pools, the pool, then its devices."""
    if found := fitting(line, device_names(_typed_pool(line, tables))):
        return Completions(found)
    rows, all_read = _pool_rows(line, tables)
    found = fitting(line, ((f"{driver}/{pool}/", node) for driver, pool, node in rows))
    if not all_read or (len(found) > _POOLS_AT_ONCE and "/" not in line.current):
        return _driver_step(line, rows)
    return Completions(found, _STEP)


def device_names(rows: Rows) -> Names:
    """``DRIVER/POOL/DEVICE``, described by two of its values: rather those that others share than serial numbers."""
    values: dict[str, list[str]] = {}
    for driver, pool, device, field, _, value in rows:
        known = values.setdefault(f"{driver}/{pool}/{device}", [])
        if field == "attributes":
            known.append(value)
    times = Counter(value for known in values.values() for value in known)
    for name, known in values.items():
        yield name, ", ".join(sorted(known, key=lambda value: times[value] == 1)[:2])


def _typed_pool(line: TypedLine, tables: Tables) -> Rows:
    """Devices of the pool that stands before the last slash; none while there is no pool yet."""
    driver, _, pool = line.current.rpartition("/")[0].partition("/")
    return tables.devices(driver, pool) if pool else []


def _pool_rows(line: TypedLine, tables: Tables) -> tuple[Rows, bool]:
    """Driver, pool and node of each pool that may be meant, once, and whether these are all."""
    driver, slash, _ = line.current.partition("/")
    of_driver = tables.slices(driver) if slash else []
    rows = of_driver or tables.slices()
    return [list(row) for row in dict.fromkeys(map(tuple, rows))], bool(of_driver) or len(rows) < PAGE


def _driver_step(line: TypedLine, rows: Rows) -> Completions:
    return Completions(fitting(line, ((f"{driver}/", "") for driver in _drivers(rows))), _STEP)


def _drivers(rows: Rows) -> dict[str, None]:
    return {driver: None for driver, _, _ in rows}
