"""Claims that the allocator does not search for: classic DRA (v1alpha2, up to 1.30), controllers of v1alpha3 (1.31).

Where a driver's controller decides, the negotiation between scheduler and driver is explained and the driver's choice
never guessed; structured parameters of 1.30 are simulated. The functions are those that later generations have, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.diagnosis.classic.attempt import attempt
from kubectl_dra.diagnosis.classic.negotiation import judge
from kubectl_dra.diagnosis.classic.placing import allocated
from kubectl_dra.model.classic import ClassicResourceClaim
from kubectl_dra.model.resource import ResourceClaim

__all__ = ["allocated", "attempt", "concerns", "judge"]


def concerns(claims: Iterable[ResourceClaim]) -> bool:
    """Whether any of the claims follows the rules here."""
    return any(isinstance(claim, ClassicResourceClaim) for claim in claims)
