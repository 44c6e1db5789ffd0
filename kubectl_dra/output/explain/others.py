"""Messages of programs that are not Kubernetes' own: whose words they are, and what helps."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.elsewhere import KAI, YUNIKORN
from kubectl_dra.diagnosis.records import GangElsewhere
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.plugin_words import OF_PLUGINS, rule_of
from kubectl_dra.output.pending.queue_limits import limit_advice, limit_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.scheduler.reasons import plugin_of


def of_others(message: str) -> tuple[Code, Sequence[Safe]] | None:
    """The reason under which ``why-pending`` tells of such a message, with what it means; None of any other."""
    plugin = rule_of(message) or plugin_of(message.rstrip(". "))
    if plugin in OF_PLUGINS:
        text = "Words of {}, a plugin that is not in the default profile of kube-scheduler. {}"
        return Code.OTHER_PLUGIN, _lines(fmt(text, plugin, OF_PLUGINS[plugin]), Code.OTHER_PLUGIN)
    for system in (KAI, YUNIKORN):
        gang = GangElsewhere(system.name, system.resource, words=message)
        if (limit := limit_of(gang)) is not None:
            text = fmt("Words of {}, another scheduler. {}", system.name, limit_advice(gang, limit))
            return Code.OTHER_SCHEDULER, _lines(text, Code.OTHER_SCHEDULER)
    return None


def _lines(text: Safe, code: Code) -> list[Safe]:
    pod = Safe("For your pod: kubectl dra why-pending POD -n NAMESPACE")
    return [*wrapped(text), Safe(""), pod, fmt("More: kubectl dra explain {}", code)]
