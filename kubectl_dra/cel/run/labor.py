"""A bound on the work of one evaluation that costs do not see.

Upstream charges many operations by the size of their outermost list or text only, or not at all, so that a cheap
expression can keep it busy for hours. Whoever walks through values here reports it, and the evaluation ends undecided
when that gets out of hand: the real one would still go on.
"""

from __future__ import annotations

import threading
from typing import Final

from kubectl_dra.cel.run.values import Cancelled

# Elements visited; some seconds at most.
_LIMIT: Final = 5_000_000
# Characters that count as one element.
_CHARACTERS: Final = 32


class _Account(threading.local):
    left = _LIMIT


_account: Final = _Account()


def begin() -> None:
    """A new evaluation begins in this thread."""
    _account.left = _LIMIT


def charge_work(elements: int) -> None:
    """Report that so many elements are about to be visited. Raises :class:`Cancelled` when it is too much."""
    _account.left -= elements
    if _account.left < 0:
        raise Cancelled("evaluation would take too long", undecided=True)


def write(characters: int) -> None:
    """Report that a text of so many characters is about to be made."""
    charge_work(characters // _CHARACTERS)
