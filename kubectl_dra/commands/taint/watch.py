"""Following what the eviction controller does: its counts for --observe, the end of pods for --wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.model.core import Pod
from kubectl_dra.model.ids import Key
from kubectl_dra.model.meta import Condition
from kubectl_dra.model.taint_plan import Hit, TaintPlan
from kubectl_dra.output.console import Console
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.taints.results import left_text, progress_text
from kubectl_dra.reports.taints.taint_observation import condition_of
from kubectl_dra.source.live import Session
from kubectl_dra.source.live.write import read_pod, read_rule

_COUNT_SECONDS: Final = 20.0
_COUNT_PAUSE: Final = 0.25
_PAUSE: Final = 1.0


def controllers_word(session: Session, api_version: str, name: str) -> Condition | None:
    """What the controller writes into a new rule; None if it does not within 20 s. Raises ``ClusterError``."""
    deadline = session.clock.monotonic() + _COUNT_SECONDS
    while session.clock.monotonic() < deadline:
        rule = read_rule(session, api_version, name)
        condition = condition_of(rule) if rule is not None else None
        if condition is not None:
            return condition
        session.clock.sleep(_COUNT_PAUSE)
    return None


def wait_for_eviction(session: Session, plan: TaintPlan, timeout: float | None, terminal: Console) -> None:
    """Until every pod that the plan evicts is gone. Raises ``ClusterError``, and CommandError when time is up."""
    began, said = session.clock.monotonic(), Safe("")
    evicted = plan.evicted()
    while True:
        going, waiting = _remaining(session, evicted)
        text = progress_text(len(evicted) - len(going) - len(waiting), len(going), len(evicted))
        if text != said and evicted:
            terminal.note(text)
            said = text
        if not (going or waiting):
            return
        if timeout is not None and session.clock.monotonic() - began >= timeout:
            hint = "the taint stays; wait again with the same command and a longer --timeout"
            raise CommandError(Safe(f"timed out after {timeout:g} s: ") + left_text(going, waiting), hint)
        session.clock.sleep(_PAUSE)


def _remaining(session: Session, evicted: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Those that are being deleted, and those that are not yet."""
    found = [(hit, read_pod(session, Key(hit.namespace, hit.pod), hit.uid)) for hit in evicted]
    there: list[tuple[Hit, Pod]] = [(hit, pod) for hit, pod in found if pod is not None]
    going = [hit for hit, pod in there if pod.metadata.deletion_timestamp is not None]
    return going, [hit for hit, pod in there if pod.metadata.deletion_timestamp is None]
