"""How a simulation calls objects of the files."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.safe import Safe, fmt


def object_name(ref: ObjectRef) -> Safe:
    """``KIND NAMESPACE/NAME``; of an object without a name, its kind."""
    name = str(ref.key) if ref.namespace else ref.name
    return fmt("{} {}", ref.kind, name) if ref.name else fmt("{} without a name", ref.kind)
