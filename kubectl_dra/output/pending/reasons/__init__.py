"""One sentence per reason code: what is wrong, with the names and numbers of its evidence.

Every sentence is a clause that can follow "Pod X cannot be scheduled:", without a full stop.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, GangElsewhere
from kubectl_dra.output.pending.gangs import GROUP_CODES, elsewhere_sentence, group_sentence
from kubectl_dra.output.pending.reasons import classic, devices, errors, nodes, running, untried
from kubectl_dra.output.pending.reasons.sentence import Sentence, with_detail
from kubectl_dra.output.safe import Safe


def title(code: Code | None) -> Safe:
    """The few words of a code; a dash without one."""
    return Safe(code.label) if code is not None else Safe("-")


def reason_sentence(cause: Cause) -> Safe:
    """The clause of one cause; the code's general meaning where its evidence does not allow a more precise one."""
    sentence = _SENTENCES.get(cause.code)
    return sentence(cause) if sentence is not None else Safe(cause.code.meaning)


_SENTENCES: Final[dict[Code, Sentence]] = {
    Code.QUEUED: with_detail(GangElsewhere, elsewhere_sentence),
    **dict.fromkeys(GROUP_CODES, lambda cause: group_sentence(cause, reason_sentence)),
    **untried.SENTENCES,
    **devices.SENTENCES,
    **classic.SENTENCES,
    **errors.SENTENCES,
    **nodes.SENTENCES,
    **running.SENTENCES,
}
