"""Messages of programs that are not Kubernetes' own: whose words they are, and what helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.elsewhere import KAI, YUNIKORN
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.plugin_words import OF_PLUGINS, rule_of
from kubectl_dra.output.pending.queue_limits import limit_advice, limit_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.scheduler.fit_error import parse_fit_error
from kubectl_dra.scheduler.reasons import ADDED_AFFINITY, DEFAULT_SPREAD, is_simulated, plugin_of

_FOREIGN: Final = "Words of {}, a plugin that is not in the default profile of kube-scheduler. {}"
_CONFIGURED: Final = "Words of {}: the rule stands in the configuration of the scheduler, not in the pod. {}"


def of_others(message: str) -> tuple[Code, Sequence[Safe]] | None:
    """The reason under which ``why-pending`` tells of such a message, with what it means; None of any other."""
    plugin = rule_of(message) or plugin_of(message.rstrip(". "))
    if plugin in OF_PLUGINS:
        text = _CONFIGURED if plugin in (ADDED_AFFINITY, DEFAULT_SPREAD) else _FOREIGN
        return Code.OTHER_PLUGIN, _lines(fmt(text, plugin, OF_PLUGINS[plugin]), Code.OTHER_PLUGIN)
    for system in (KAI, YUNIKORN):
        gang = GangElsewhere(system.name, system.resource, words=message)
        if (limit := limit_of(gang)) is not None:
            text = fmt("Words of {}, another scheduler. {}", system.name, limit_advice(gang, limit))
            return Code.OTHER_SCHEDULER, _lines(text, Code.OTHER_SCHEDULER)
    return None


def has_words_of_kubernetes(message: str) -> bool:
    """Whether a scheduler counts nodes in the words of a plugin of the default profile, too."""
    said = parse_fit_error(message)
    return said is not None and any(map(is_simulated, said.reasons))


def _lines(text: Safe, code: Code) -> list[Safe]:
    pod = Safe("For your pod: kubectl dra why-pending POD -n NAMESPACE")
    return [*wrapped(text), Safe(""), pod, fmt("More: kubectl dra explain {}", code)]
