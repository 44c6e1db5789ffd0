"""Sentences about a rollout that waits for itself: what it waits for, how it goes on, and how to go back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Family
from kubectl_dra.diagnosis.records import VolumeTrouble
from kubectl_dra.diagnosis.rollouts import EditRollout
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.asks import ask_words
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.output.words import counted, kind_and_name, shortened
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport

_PODS: Final = 2
_DEVICES: Final = 3
_PER_NODE: Final = "DaemonSet"
_ONE: Final = "the old pod of its own {} holds what it needs: {} has {}, and the rollout ends it only when {} is ready"


def own_rollout(report: PendingReport) -> Safe | None:
    """The clause behind ``Pod X is pending:``; None where no rollout waits for itself, or it was not asked.

    Nor where the old pods are not known to have what the new one lacks: they have devices in any case.
    """
    found, cause = _edit(report.remedies), next(iter(report.causes), None)
    if found is None or cause is None:
        return None
    kind, pods, devices = found.workload.kind, [ref.name for ref in found.pods], found.frees
    if cause.code.family is not Family.DEVICES:
        return _besides_devices(found, cause.detail)
    if len(pods) == 1:
        what = shortened([name.rpartition("/")[2] for name in devices], _DEVICES)
        return fmt(_ONE, kind, pods[0], what, _new(found))
    text = (
        "old pods of its own {} hold what it needs{}: {} have {}, and the rollout ends one only when a new one is ready"
    )
    needs = fmt(" ({})", needed) if (needed := ask_words(report.asks)) else Safe("")
    return fmt(text, kind, needs, shortened(pods, _PODS), counted(len(devices), "device"))


def _besides_devices(found: EditRollout, detail: object) -> Safe | None:
    """The old pod has the only use of a volume."""
    users = detail.users if isinstance(detail, VolumeTrouble) else ()
    holder = next((ref for ref in found.pods if str(ref.key) in users), None)
    if not isinstance(detail, VolumeTrouble) or detail.claim is None or holder is None or len(users) > 1:
        return None
    what = fmt("PersistentVolumeClaim {}, which only one pod at a time may use", detail.claim.name)
    return fmt(_ONE, found.workload.kind, holder.name, what, _new(found))


def _new(found: EditRollout) -> Safe:
    return Safe("the new one" if found.replicas == 1 or found.workload.kind == _PER_NODE else "a new one")


def rollout_edit(action: EditRollout) -> Safe:
    """What is changed, as a clause."""
    if not action.max_unavailable:
        which = (
            "the old pod before the new one starts" if action.replicas == 1 else "all old pods before new ones start"
        )
        return fmt("end {}: strategy Recreate", Safe(which))
    text = "end an old pod before the new one is ready: maxSurge=0 and maxUnavailable={}"
    return fmt(text, action.max_unavailable)


def missing_replicas(action: EditRollout) -> Safe:
    """What that costs until the rollout is done."""
    named, missing = kind_and_name(action.workload), action.max_unavailable
    if 0 < missing < action.replicas:
        pods = counted(action.replicas, "pod" if action.workload.kind == _PER_NODE else "replica")
        return fmt("during the rollout up to {} of {} may be missing", missing, pods)
    new = Safe("the new one is" if action.replicas == 1 else "new ones are")
    return fmt("no pod of {} runs until {} ready", named, new)


def undo_lines(remedies: Sequence[RemedyReport], address: Address) -> Iterator[Safe]:
    """How to give the new version up, where it has begun: of files nothing has."""
    found = _edit([each for each in remedies if each.has_steps])
    if found is not None:
        kind = found.workload.kind.lower()
        words = kubectl("rollout", "undo", of(kind, found.workload.name, found.workload.namespace))
        line = command(changing(words, address))
        if line is not None:
            yield Safe("To go back to the version before instead:")
            yield fmt("  {}", line)


def _edit(remedies: Sequence[RemedyReport]) -> EditRollout | None:
    found = (action for each in remedies if each.verified for action in each.actions)
    return next((action for action in found if isinstance(action, EditRollout)), None)
