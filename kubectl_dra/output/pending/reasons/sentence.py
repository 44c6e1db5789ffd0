"""What the sentences of all reasons are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kubectl_dra.diagnosis.records import (
    Cause,
    ObjectRef,
)
from kubectl_dra.output.safe import Safe, safe

DetailT = TypeVar("DetailT")
Sentence = Callable[[Cause], Safe]


def object_name(ref: ObjectRef | None) -> Safe:
    """``namespace/name``, or the name alone for cluster-scoped objects."""
    return safe(str(ref.key)) if ref is not None else Safe("")


def with_detail(kind: type[DetailT], say: Callable[[DetailT, Cause], Safe]) -> Sentence:
    """A sentence about evidence of this kind; the code's general meaning where there is another."""
    return partial(_said, kind, say)


def _said(kind: type[DetailT], say: Callable[[DetailT, Cause], Safe], cause: Cause) -> Safe:
    return say(cause.detail, cause) if isinstance(cause.detail, kind) else Safe(cause.code.meaning)
