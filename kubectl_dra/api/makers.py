"""What objects of other projects say of the pods that they make, each read when somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubectl_dra.api.controllers import RUNTIMES
from kubectl_dra.api.decode import DecodeError, read_header
from kubectl_dra.api.planned import Planned, read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import group_of
from kubectl_dra.api.workloads.expand import CountSource
from kubectl_dra.api.workloads.kinds import KNOWN
from kubectl_dra.model.base import Record
from kubectl_dra.model.makers import Maker, managed_elsewhere
from kubectl_dra.model.meta import LocalObject
from kubectl_dra.model.names import DEFAULT_NAMESPACE

_SUSPEND: Final = "spec.suspend"
_meta: Final = msgspec.json.Decoder(LocalObject)


class _RunPolicy(Record, frozen=True):
    managed_by: str = ""


class _Spec(_RunPolicy, frozen=True):
    """``spec`` of all others."""

    run_policy: _RunPolicy = _RunPolicy()


class _Managed(Record, frozen=True):
    spec: _Spec = _Spec()


#: Of these it is not known how many pods there are.
_UNCOUNTED: Final = (CountSource.UNKNOWN, CountSource.PER_NODE)
_managed: Final = msgspec.json.Decoder(_Managed)
MakerKey = tuple[str, str, str]


class Makers(Mapping[MakerKey, Maker]):
    """Objects by kind, namespace and name; each is read when somebody asks for it."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._found: dict[MakerKey, Source] = {}
        self._runtimes: list[Source] = []
        for source in sources:
            if (group_of(source.api_version), source.kind) in RUNTIMES:
                self._runtimes.append(source)
                continue
            try:
                meta = read_header(source.data).metadata
            except DecodeError:
                continue
            if meta is not None and meta.name:
                self._found[source.kind, meta.namespace or DEFAULT_NAMESPACE, meta.name] = source

    def __getitem__(self, key: MakerKey) -> Maker:
        source = self._found[key]
        found = read_all([source, *self._runtimes], DEFAULT_NAMESPACE)[0]
        return _maker(found, group_of(source.api_version), _labels(source.data), _manager(source.data))

    def __iter__(self) -> Iterator[MakerKey]:
        """The keys, in the order of the file."""
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _labels(data: bytes) -> dict[str, str]:
    try:
        return _meta.decode(data).metadata.labels
    except (ValueError, RecursionError):
        return {}


def _manager(data: bytes) -> str:
    try:
        spec = _managed.decode(data).spec
    except (ValueError, RecursionError):
        return ""
    return managed_elsewhere(spec.managed_by or spec.run_policy.managed_by)


def _maker(planned: Planned, group: str, labels: dict[str, str], managed_by: str) -> Maker:
    known = KNOWN.get((group, planned.kind))
    field = (known.suspend if known is not None else "") or _SUSPEND
    plans = [plan for plan in planned.pods if plan.copies != 0]
    # Some run only after others have ended, or one on each node.
    open_ = any(plan.after or plan.awaits or plan.copies is None or plan.count in _UNCOUNTED for plan in plans)
    return Maker(
        suspended_by=field if planned.suspended else "",
        queue=planned.queue,
        pods=tuple((plan.role, plan.pod) for plan in plans),
        copies=() if open_ else tuple(plan.copies or 0 for plan in plans),
        scaled=bool(planned.pods) and all(plan.copies == 0 for plan in planned.pods),
        untried=planned.error or planned.untried,
        labels=labels,
        managed_by=managed_by,
    )
