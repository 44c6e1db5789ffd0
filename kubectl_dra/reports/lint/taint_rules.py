"""DeviceTaintRules that are on no device of the files: a name in their selector is almost that of a driver or pool."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set

from kubectl_dra.api.kinds import NODE
from kubectl_dra.api.planned import Planned
from kubectl_dra.model.ids import PoolId
from kubectl_dra.model.resource import DeviceTaintRule, ResourceSlice
from kubectl_dra.reports.lint.objects import UnplacedFinding
from kubectl_dra.reports.lint.records import Rule
from kubectl_dra.selectors.mistyped import KnownNames

_PATH = "spec.deviceSelector"


def pools_of(objects: Sequence[Planned]) -> frozenset[PoolId]:
    """The pools of which the files have slices."""
    specs = (each.record.spec for each in objects if isinstance(each.record, ResourceSlice))
    return frozenset(PoolId(spec.driver, spec.pool.name) for spec in specs)


def nodes_of(objects: Sequence[Planned]) -> frozenset[str]:
    """The nodes in the files."""
    return frozenset(each.name for each in objects if each.kind == NODE.name)


def taint_rule_findings(
    planned: Planned, published: Set[PoolId], nodes: Collection[str] = ()
) -> Iterator[UnplacedFinding]:
    """Nothing of a name that is like none, or that of a node: other slices of the cluster may have it."""
    rule = planned.record
    selector = rule.spec.device_selector if isinstance(rule, DeviceTaintRule) else None
    if selector is None:
        return
    drivers = {pool.driver for pool in published}
    pools = {pool.pool for pool in published if selector.driver in (None, pool.driver)}
    for field, name, known in (("driver", selector.driver, drivers), ("pool", selector.pool, pools)):
        near = KnownNames(known, nodes).meant(name) if name is not None else ()
        if near:
            text = f"no ResourceSlice of the files is of {field} {name}; did you mean {' or '.join(near[:2])}?"
            yield UnplacedFinding(Rule.TAINT_RULE, text, f"{_PATH}.{field}")
            return
