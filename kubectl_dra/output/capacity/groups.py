"""How many whole groups fit of pods that are of use together only, in a sentence."""

from __future__ import annotations

from kubectl_dra.diagnosis.records import Bound
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.simulation.names import object_name
from kubectl_dra.output.words import counted, plural
from kubectl_dra.reports.capacity.groups import GroupCapacity, GroupPart


def group_text(found: GroupCapacity) -> Safe:
    """How many whole groups fit, and what is in one."""
    parts, name = Safe(", ").join(_part(each, found) for each in found.parts), object_name(found.subject)
    least, most = found.groups.value, found.most
    if found.groups.bound is Bound.EXACT:
        number = counted(least, "more time") if least else Safe("")
    elif found.groups.bound is Bound.AT_MOST:
        number = fmt("at most {}", counted(found.groups.value, "more time"))
    else:
        number = fmt("at least {} and at most {}", counted(least, "more time"), most)
    what = fmt("A group of {} ({})" if found.each else "{} ({})", name, parts)
    if found.scheduler:
        text = "{}: scheduler {} decides; by the rules of the default scheduler it would {} now."
        return fmt(text, what, found.scheduler, fmt("fit {}", number) if number else Safe("not fit"))
    if not number:
        do = Safe("does" if found.short == 1 else "do")
        few = fmt(": {} of its {} pods {}", found.short, found.parts[0].pods, do) if found.short else Safe("")
        return fmt("{} does not fit now{}.", what, few)
    fewer = Safe("; that its pods have to be in one domain may allow fewer" if found.kept_together else "")
    return fmt("{} fits {} now{}.", what, number, fewer)


def _part(part: GroupPart, of: GroupCapacity) -> Safe:
    """``1 leader``, ``2 pods of 8 devices each``; of several roles ``8 trainer pods``."""
    if of.each:
        pods = counted(part.pods, part.role)
    elif part.role and len(of.parts) > 1:
        pods = fmt("{} {} {}", part.pods, part.role, Safe(plural("pod", part.pods)))
    else:
        pods = counted(part.pods, "pod")
    if not part.devices:
        return pods
    return fmt("{} of {}{}", pods, counted(part.devices, "device"), Safe(" each" if part.pods > 1 else ""))
