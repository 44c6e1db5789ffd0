"""Ways out that would only undo what is supposed."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.diagnosis.remedies.records import Action, EditClaim, EditPod, Uncordon
from kubectl_dra.diagnosis.whatif.records import AddTaint, Drain, Switch
from kubectl_dra.model.taint_text import NO_EXECUTE, taint_text


def undoes(action: Action, switches: Iterable[Switch]) -> bool:
    """Whether an action lets pods back to where a switch drives them away: a drained node, a taint that evicts."""
    return any(_undoes(action, switch) for switch in switches)


def _undoes(action: Action, switch: Switch) -> bool:
    match switch, action:
        case Drain(node=node), Uncordon(node=name):
            return node == name
        case AddTaint(effect=effect), EditClaim(field=field, after=after) | EditPod(field=field, after=after):
            return effect == NO_EXECUTE and field.startswith("tolerations[") and after == taint_text(switch)
    return False
