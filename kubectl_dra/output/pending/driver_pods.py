"""Pods of drivers that do not run, in words, and the command that shows why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import counted
from kubectl_dra.reports.invocations import Words, kubectl, of, within
from kubectl_dra.reports.pending.failing_pods import FailingPod

#: By the words of libraries. Upstream: NVIDIA's NVML, NVML_ERROR_LIB_RM_VERSION_MISMATCH, NVML_ERROR_DRIVER_NOT_LOADED.
_CURES: Final = (
    (
        re.compile(r"(?:Driver/library|NVML/RM) version mismatch", re.IGNORECASE),
        Safe(
            "The NVIDIA kernel module on that node is of another version than the libraries, as after an update of the "
            "driver: drain and reboot the node, or unload the nvidia modules and load them again."
        ),
    ),
    (
        re.compile(r"\bdriver not loaded\b|couldn't communicate with the NVIDIA driver", re.IGNORECASE),
        Safe("The NVIDIA kernel module is not loaded on that node: install the driver there, or see why it fails."),
    ),
)
_BACKOFF: Final = "BackOff"
_NOT_READY: Final = "not ready"


def failing_clause(pod: FailingPod) -> Safe:
    """``is in CrashLoopBackOff (41 restarts: failed to initialize NVML)``."""
    told = last_words_of(pod)
    return fmt("{} ({})", state_of(pod), told) if told else state_of(pod)


def state_of(pod: FailingPod) -> Safe:
    """``is in CrashLoopBackOff``."""
    if pod.state == _NOT_READY:
        return Safe("is not ready")
    return fmt("is in {}" if pod.state.endswith(_BACKOFF) else "does not run: {}", pod.state)


def last_words_of(pod: FailingPod) -> Safe:
    """``41 restarts: failed to initialize NVML``, ``812 restarts, last exit code 1``; empty where nothing is known."""
    restarts, how = counted(pod.restarts, "restart") if pod.restarts else Safe(""), last_exit(pod)
    if pod.message:
        return fmt("{}: {}", restarts, pod.message) if restarts else safe(pod.message)
    return Safe(", ").join([text for text in (restarts, how) if text])


def failing_sentence(pods: Sequence[FailingPod], whose: str = "its") -> Safe:
    """``its pod dra/plugin-x is in CrashLoopBackOff (41 restarts)``, of all of them."""
    told = [fmt("pod {} {}", str(each.pod.key), failing_clause(each)) for each in pods]
    return fmt("{} {}", Safe(whose), Safe("; ").join(told))


def known_cure(pods: Iterable[FailingPod]) -> Safe | None:
    """What helps where the last words of a driver's pod have one known cause."""
    words = " ".join(each.message for each in pods)
    return next((cure for pattern, cure in _CURES if pattern.search(words)), None)


def last_exit(pod: FailingPod) -> Safe:
    """How the container ended, where it left no words: ``last exit code 1``."""
    if not pod.ended or pod.ended == pod.state:
        return Safe("")
    return fmt("last {}", pod.ended) if pod.ended.startswith("exit") else fmt("last exit {}", pod.ended)


def why_words(pod: FailingPod) -> Words | None:
    """The log of the run that ended, or the events of a pod that never ran."""
    where, name = within(pod.pod.namespace), of("pod", pod.pod.name)
    if pod.restarts:
        return kubectl("logs", name, where, "--all-containers", "--previous")
    return kubectl("describe", name, where)
