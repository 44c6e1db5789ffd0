"""Fields in another case than the API has: the server compares names letter by letter, and drops all others.

Upstream: sigs.k8s.io/json, UnmarshalCaseSensitivePreserveInts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from kubectl_dra.api.strict import STEP

Tree = dict[str, Any]
#: Below a field that was corrected there may be others.
_ROUNDS: Final = 8


def recased(
    tree: Tree, unknown: Callable[[], Iterable[str]], known: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Rename fields that differ from one in nothing but case; the path of each as written, and the right name.

    ``unknown``: the paths of all fields that the API does not have, as the tree is by now; ``known``: the fields of the
    object at the end of some steps, numbers in lists among them.
    """
    for _ in range(_ROUNDS):
        found = [(path, right) for path in unknown() if (right := _renamed(tree, path, known))]
        yield from found
        if not found:
            return


def rename(holder: Tree, wrong: str, right: str) -> bool:
    """Rename a field in its place; False where the right one is there as well."""
    if wrong not in holder or right in holder:
        return False
    items = [(right if key == wrong else key, value) for key, value in holder.items()]
    holder.clear()
    holder.update(items)
    return True


def _renamed(tree: Tree, path: str, known: Callable[[Sequence[str]], Iterable[str]]) -> str:
    """The right name of the field at a path, which it has then; empty where there is none."""
    *steps, wrong = [json.loads(step) if step.startswith('"') else step for step in STEP.findall(path)]
    right = next((each for each in known(steps) if each.lower() == wrong.lower()), "")
    holder: Any = tree
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder.get(step)
        if not isinstance(holder, dict | list):
            return ""
    return right if right and isinstance(holder, dict) and rename(holder, wrong, right) else ""
