"""Objects of the files that controllers make of others of them, as ``kubectl get -o yaml`` lists both.

They are not applied beside their owners: what names an owner by a uid that the cluster does not have is deleted
(upstream: pkg/controller/garbagecollector), and the owner makes its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.api.planned import Planned
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.meta import ObjectMeta


def without_owned(objects: Sequence[Planned]) -> tuple[list[Planned], tuple[ObjectRef, ...]]:
    """The objects but those whose owner is among them and makes pods; and which these are."""
    makers = {(each.kind, each.key.namespace, each.name) for each in objects if each.pods}
    kept, owned = list[Planned](), list[ObjectRef]()
    for each in objects:
        metadata: ObjectMeta | None = getattr(each.record, "metadata", None)
        owner = metadata.controller if metadata is not None else None
        if owner is not None and (owner.kind, each.key.namespace, owner.name) in makers:
            owned.append(ObjectRef(each.kind, each.key.namespace, each.name))
        else:
            kept.append(each)
    return kept, tuple(owned)
