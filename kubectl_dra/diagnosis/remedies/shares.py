"""Devices that are groups of what is counted: so much of one of them, in place of so many of them.

Drivers publish processors one by one, or all of a NUMA node as one device that several claims share by its capacity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.diagnosis.records import Funnel, StageName
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, ClaimEditor
from kubectl_dra.model.forms import Form
from kubectl_dra.model.quantity import Quantity
from kubectl_dra.model.resource import CapacityRequirements

_COST: Final = 37


def candidates(case: Case, editor: ClaimEditor, request: Form, funnels: Sequence[Funnel]) -> Iterator[Candidate]:
    """The number of devices as an amount of the one capacity that they have; none where there are so many devices."""
    count = request.count
    if request.allocation_mode != "ExactCount" or request.capacity is not None or count < 2:
        return
    if any(funnel.total >= count for funnel in funnels):
        return
    name = _capacity(case, funnels)
    if name:

        def edit(exactly: Form) -> Form:
            amount = CapacityRequirements(requests={name: Quantity(count)})
            return msgspec.structs.replace(exactly, count=1, capacity=amount)

        yield editor.edit(f"share[{name}]", str(count), str(count), edit, _COST)


def _capacity(case: Case, funnels: Sequence[Funnel]) -> str:
    """The name of the only capacity of the devices of the class, where all of them are shared; else empty."""
    names = set[str]()
    for each in dict.fromkeys(name for funnel in funnels for name in funnel.after(StageName.SELECTORS)):
        found = case.state.device(each)
        if found is None or not found[1].allow_multiple_allocations or len(found[1].capacity) != 1:
            return ""
        names.update(found[1].capacity)
    return names.pop() if len(names) == 1 else ""
