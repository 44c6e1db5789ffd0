"""Causes that no attempt finds: what only the scheduler's own message tells, and whether luck decides."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain.rejections import OTHER_CODES
from kubectl_dra.diagnosis.pod.judgement import Judgement
from kubectl_dra.diagnosis.records import Cause, Observed, PluginText
from kubectl_dra.diagnosis.said import agreement, refusals
from kubectl_dra.scheduler import reasons
from kubectl_dra.scheduler.fit_error import parse_fit_error


def from_words(
    fitting: tuple[str, ...], judgement: Judgement, seen: Observed | None, unread: tuple[str, ...]
) -> Iterator[Cause]:
    """What only the scheduler's own message tells, and whether luck decides."""
    if judgement.depends_on_node_order:
        yield Cause(Code.DEPENDS_ON_NODE_ORDER, nodes=fitting)
    if seen is None or seen.status != "False":
        return
    message = parse_fit_error(seen.message)
    if message is not None:
        for reason in agreement.not_simulated(message, bool(unread), judgement.unspread):
            plugin = reasons.plugin_of(reason, judgement.unspread)
            yield Cause(OTHER_CODES[reasons.kind_of(plugin)], PluginText(plugin, reason))
    elif refusals.is_refusal(seen.message) and not judgement.refusals:
        yield refusals.before(seen)
