"""What a pod asks of plugins that are not in the default profile, or decide about several pods at once.

What the configuration of a scheduler adds (plugins and extenders of its own) can't be read.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.records import OpenPlugin
from kubectl_dra.model.core import Pod


def open_plugins(pod: Pod) -> tuple[OpenPlugin, ...]:
    """The plugins that decide about something in the pod's spec, with the fields that they look at."""
    if pod.spec.scheduling_group is None:
        return ()
    return (OpenPlugin("GangScheduling", ("spec.schedulingGroup",)),)
