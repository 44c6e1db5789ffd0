"""The filter plugins that run before DynamicResources, one module each, and the order in which a node meets them.

Volume and topology plugins also run before DynamicResources but are not simulated: ``unsimulated`` knows which pods
they concern, ``plugins`` their words.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.nodefilters.chain import NodeFilters, Rejection, Request, preselected

__all__ = ["NodeFilters", "Rejection", "Request", "preselected"]
