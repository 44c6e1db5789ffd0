"""The words about what a rule that is on no device is probably meant for, and what its correction would do at once."""

from __future__ import annotations

import json
from typing import Final

from kubectl_dra.model.invocation import Address, CommandLine
from kubectl_dra.model.taint_plan import Fate
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.taints.hits import who_text
from kubectl_dra.output.words import counted, first_of
from kubectl_dra.reports.invocations import changing, kubectl, of, shell_line
from kubectl_dra.reports.taints.misdirected import RuleCorrection

_NAMED: Final = 3
_ENDS: Final = {
    Fate.EVICTED: "evict {} at once",
    Fate.LATER: "evict {} when their tolerations end",
    Fate.ON_BINDING: "evict {} once bound to a node",
    Fate.UNCERTAIN: "perhaps evict {}",
}


def correction_text(found: RuleCorrection) -> Safe:
    """``With driver gpu.nvidia.com it would be on … and evict pod a/b at once``; a command may come next."""
    where = Safe(", ").join(found.devices) if found.number <= _NAMED else counted(found.number, "device")
    told = [fmt(words, whom) for fate, words in _ENDS.items() if (whom := _who(found, fate))]
    return fmt("With {} {} it would be on {} and {}", Safe(found.field), found.value, where, _joined(told))


def _who(found: RuleCorrection, fate: Fate) -> Safe:
    hit = [str(who_text(each)) for each in found.hits if each.fate is fate]
    if not hit:
        return Safe("")
    return first_of(hit, _NAMED) if len(hit) <= _NAMED else fmt("{} ({})", counted(len(hit), "pod"), first_of(hit, 1))


def _joined(texts: list[Safe]) -> Safe:
    return Safe(", ").join(texts) if texts else Safe("evict no pod")


def correction_command(rule: str, found: RuleCorrection, address: Address) -> CommandLine:
    """The patch; empty where it would evict pods, as another name may be meant, and for names that the API cannot
    hold.
    """
    if any(each.fate in _ENDS for each in found.hits):
        return CommandLine(())
    patch = json.dumps({"spec": {"deviceSelector": {found.field: found.value}}}, separators=(",", ":"))
    words = kubectl("patch", of("devicetaintrule", rule), "--type=merge", "-p", patch)
    return shell_line(changing(words, address))
