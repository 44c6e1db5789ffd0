"""The pods that an object of any kind makes: where its pod templates stand, how many of each, and what was assumed.

``kinds`` is the table of kinds whose fields are known; ``shape`` finds templates in any other kind by their shape. What
an object makes beside pods stands in ``made``.
"""

from __future__ import annotations

from kubectl_dra.api.workloads.expand import Expansion, MadeTemplate, expand

__all__ = ["Expansion", "MadeTemplate", "expand"]
