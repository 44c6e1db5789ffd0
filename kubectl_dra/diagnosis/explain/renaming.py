"""One pod's claims in place of another's: in references and in the allocator's typed errors, never inside texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from kubectl_dra.allocation.errors import AllocationError
from kubectl_dra.diagnosis.explain import error_codes
from kubectl_dra.diagnosis.records import Cause, FatalError, NodeGroup, ObjectRef, RequestReport
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.model.resource import DeviceClass, ResourceClaim
from kubectl_dra.scheduler.allocation_errors import allocation_error

_SAME: Final[Mapping[Key, Key]] = MappingProxyType({})


class ClaimNames(msgspec.Struct, frozen=True):
    """Which claim stands for which; what is not in ``claims`` keeps its name."""

    claims: Mapping[Key, Key] = msgspec.field(default_factory=lambda: _SAME)

    def error(self, error: AllocationError) -> AllocationError:
        claim = getattr(error, "claim", None)
        if not isinstance(claim, Key) or self.claims.get(claim, claim) == claim:
            return error
        return msgspec.structs.replace(error, claim=self.claims[claim])

    def ref(self, ref: ObjectRef) -> ObjectRef:
        key = self.claims.get(ref.key)
        return ref if key is None else ObjectRef.of(ref.kind, key)


class Renaming:
    """Names with what is needed to word fatal errors anew: the errors behind texts, the other pod's claims, classes."""

    def __init__(
        self,
        names: ClaimNames,
        errors: Mapping[str, AllocationError],
        claims: Sequence[ResourceClaim],
        classes: Mapping[str, DeviceClass],
        minor: int,
    ) -> None:
        self._names = names
        self._errors = errors
        self._claims = {key_of(claim.metadata): claim for claim in claims}
        self._classes = classes
        self._minor = minor

    def group(self, group: NodeGroup) -> NodeGroup:
        return msgspec.structs.replace(
            group,
            messages=tuple(map(self._text, group.messages)),
            requests=tuple(map(self._report, group.requests)),
            claims=tuple(map(self._names.ref, group.claims)),
            causes=tuple(map(self.cause, group.causes)),
        )

    def cause(self, cause: Cause) -> Cause:
        detail = cause.detail
        if isinstance(detail, FatalError) and detail.text in self._errors:
            error = self._names.error(self._errors[detail.text])
            return error_codes.fatal_cause(error, self._claims, self._classes, cause.nodes, self._minor)
        if cause.claim is None:
            return cause
        return msgspec.structs.replace(cause, claim=self._names.ref(cause.claim))

    def _report(self, report: RequestReport) -> RequestReport:
        return msgspec.structs.replace(report, claim=self._names.ref(report.claim))

    def _text(self, text: str) -> str:
        error = self._errors.get(text)
        return text if error is None else allocation_error(self._names.error(error), self._minor)
