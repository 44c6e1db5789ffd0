"""The verdict on some pods of the files in one sentence: whether they fit, how many of them, or who else decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.read_names import DEVICE_CLASS
from kubectl_dra.output.pending.quotas import refused_unless, where_admitted
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.simulation import manifests
from kubectl_dra.output.simulation.domains import too_small, too_small_text
from kubectl_dra.output.simulation.names import object_name
from kubectl_dra.output.simulation.numbers import makes_none_text
from kubectl_dra.output.simulation.queues import if_admitted
from kubectl_dra.output.words import counted, every, listed
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Counted, PodSimulation
from kubectl_dra.reports.simulation.open_classes import AtMost
from kubectl_dra.reports.simulation.whole import POD_GROUP

#: What names that are made of words begin with, where they begin a sentence.
_BEGINNINGS: Final = ("One pod of ", "A bare pod with ")


def _decide(pod: PodSimulation) -> str:
    return "decides" if len(pod.open) == 1 else "decide"


def is_enough(pod: PodSimulation) -> bool:
    """Who asks how many fit wants the number, and in a line why there are no more."""
    return pod.wanted is None and pod.copies > 0


def _up_to_driver(pod: PodSimulation) -> bool:
    """Whether nodes fit and only a driver's controller, which can't be asked here, knows the rest."""
    causes = pod.pending.causes if pod.pending is not None else ()
    return pod.copies == 0 and bool(causes) and causes[0].code is Code.SCHEDULER_WILL_ASK


def name_of(pod: PodSimulation) -> Safe:
    """What is tried, as it begins a sentence."""
    name = object_name(pod.subject)
    if pod.subject.kind.startswith("ResourceClaim"):
        return fmt("A bare pod with {}", name)
    if pod.held:
        name = fmt("{}, which is suspended,", name)
    return fmt("{}, {}", name, pod.role) if pod.role else name


def verdict_of(pod: PodSimulation) -> Safe:
    name = name_of(pod)
    if (none := _not_made(name, pod)) is not None:
        return none
    if (small := too_small(pod)) is not None:
        return too_small_text(object_name(pod.subject), small)
    if pod.misread and not pod.lacks:
        return fmt("{} fits only without the fields that a server drops.", name)
    if pod.stuck:
        return fmt("{}: its rollout would get stuck.", name)
    if pod.scheduler and pod.wanted != 0:
        return _elsewhere(name, pod)
    if pod.rest_by and pod.copies and pod.lacks and not (pod.capped or pod.undecided):
        return fmt("{}: the claims of {} of {} fit.", name, pod.copies, counted(pod.wanted or 0, "pod"))
    if pod.rest_by and pod.copies and not pod.lacks:
        its = (
            Safe("its claims fit")
            if pod.wanted in (None, 1)
            else fmt("the claims of {} fit", counted(pod.copies, "pod"))
        )
        return fmt("{}: {}; the rest of its pods is made by {} and was not tried.", name, its, pod.rest_by)
    if pod.counted is Counted.UNKNOWN and pod.growing is not None and not pod.lacks:
        return makes_none_text(name, pod.growing)
    if pod.counted is Counted.UNKNOWN:
        name = fmt("One pod of {}", name)
        if pod.fits is Fits.UNKNOWN and not pod.lacks and not pod.may_be_fewer:
            return fmt("{} fits; how many it makes is unknown.", name)
    if pod.wanted == 0:
        if pod.counted is Counted.PER_NODE:
            return fmt("{} makes no pods: no node admits them (node selector, affinity, taints).", name)
        return fmt("{} makes no pods: its number of copies is 0.", name)
    if _up_to_driver(pod):
        return fmt("{}: its driver decides whether it fits.", name)
    if pod.may_be_fewer and pod.copies:
        return _at_most(name, pod)
    if (admitted := if_admitted(name, pod)) is not None:
        return admitted
    if pod.lacks and not pod.capped and (pod.fits is Fits.UNKNOWN or pod.open_classes.at_most is not None):
        return _unknown(name, pod)
    return _number_that_fits(name, pod)


def _number_that_fits(name: Safe, pod: PodSimulation) -> Safe:
    """Where nothing else decides."""
    if pod.wanted is None and pod.undecided:
        return fmt("{} fits at least {}; whether more do is unknown.", name, counted(pod.copies, "time"))
    if pod.wanted == 1:
        return fmt("{} fits." if pod.fits is Fits.YES else "{} does not fit.", name)
    if pod.wanted is None and pod.capped:
        return fmt("{} fits at least {} times; no more were tried.", name, pod.copies)
    if pod.wanted is None:
        return fmt("{} fits {}.", name, counted(pod.copies, "time"))
    if pod.capped:
        wanted = counted(pod.wanted or 0, "copy")
        return fmt("{}: at least {} of {} fit; no more were tried.", name, pod.copies, wanted)
    what = "pod" if pod.subject.kind == POD_GROUP else "copy"
    if pod.copies == pod.wanted:
        return fmt("{}: {} fit.", name, every(pod.wanted, what))
    return fmt("{}: {} of {} fit.", name, pod.copies, counted(pod.wanted, what))


def _not_made(name: Safe, pod: PodSimulation) -> Safe | None:
    """Why no pod of it comes into being, or gets to a node."""
    if pod.blocked:
        return manifests.blocked_text(name, pod.blocked[0], maker=True)
    if pod.refused:
        return fmt("{}: its pods would be refused: {}.", name, manifests.refused_words(pod.refused))
    if pod.awaits:
        roles, do = listed(pod.awaits), Safe("does" if len(pod.awaits) == 1 else "do")
        return fmt("{}: none of its pods is created until {} is ready, and that {} not fit.", name, roles, do)
    return manifests.bypassing_text(name, pod.bypasses, unknown=pod.unknown_node) if pod.bypasses else None


def _elsewhere(name: Safe, pod: PodSimulation) -> Safe:
    """What the default scheduler would do, where another one decides."""
    if pod.undecided and not pod.copies:
        text = "{}: scheduler {} decides; whether {} would fit by the rules of the default scheduler is unknown."
        return fmt(text, name, pod.scheduler, Safe("it" if pod.wanted in (None, 1) else "any copy"))
    decides = fmt("{}: scheduler {} decides; by the rules of the default scheduler", name, pod.scheduler)
    least = Safe("at least " if pod.capped or pod.undecided else "")
    if pod.wanted is None:
        return fmt("{} it would fit {}{}.", decides, least, counted(pod.copies, "time"))
    if pod.wanted == 1:
        return fmt("{} it would{} fit.", decides, Safe("" if pod.copies else " not"))
    return fmt("{} {}{} of {} would fit.", decides, least, pod.copies, counted(pod.wanted, "copy"))


def _unknown(name: Safe, pod: PodSimulation) -> Safe:
    """Where something that decides is not known."""
    if pod.open_classes.at_most is not None:
        return _limited(name, pod, pod.open_classes.names, pod.open_classes.at_most)
    if pod.wanted == 1 or pod.wanted is None:
        inside = Safe(name[:1].lower() + name[1:]) if name.startswith(_BEGINNINGS) else name
        return fmt("Whether {} fits is unknown.", inside)
    wanted = counted(pod.wanted, "copy")
    if not pod.copies:
        return fmt("{}: whether any of {} fits is unknown.", name, wanted)
    return fmt("{}: at least {} of {} fit; whether more do is unknown.", name, pod.copies, wanted)


def _limited(name: Safe, pod: PodSimulation, names: Sequence[str], most: AtMost) -> Safe:
    """What is sure, whatever the classes select that were not read."""
    kind = Safe("DeviceClass" if len(names) == 1 else "DeviceClasses")
    classes, why = fmt("{} {}", kind, listed(names)), _too_few(most)
    several = pod.wanted not in (None, 1)
    if not most.copies:
        text = (
            "{}: none of its copies fits, whatever {} selects: {}."
            if several
            else "{} does not fit, whatever {} selects: {}."
        )
        return fmt(text, name, classes, why)
    user = next((each.user for each in pod.undecided if each.kind == DEVICE_CLASS and each.user), "")
    unread = fmt("which {} may not read", user) if user else Safe("which could not be read")
    if not several:
        text = "{} fits at most {}: {}. Whether it does depends on {}, {}."
        return fmt(text, name, counted(most.copies, "time"), why, classes, unread)
    they = Safe("that one does" if most.copies == 1 else "these do")
    fit = Safe("fits" if most.copies == 1 else "fit")
    text = "{}: at most {} of {} {}: {}. Whether {} depends on {}, {}."
    return fmt(text, name, most.copies, counted(pod.wanted or 0, "copy"), fit, why, they, classes, unread)


def _too_few(most: AtMost) -> Safe:
    only = fmt("only {}", counted(most.devices, "free device")) if most.devices else Safe("no free device")
    matching = fmt("the selectors of request {}", most.request) if most.selected else Safe("the request")
    takes = fmt(", of which it takes {}", most.each) if most.each > 1 else Safe("")
    return fmt("{} {} {}{}", only, Safe("matches" if most.devices < 2 else "match"), matching, takes)


def _at_most(name: Safe, pod: PodSimulation) -> Safe:
    """What the devices allow, where something else decides as well."""
    if pod.unspecified and not pod.lacks:
        return _required(name, pod)
    coming = pod.being_bound
    if coming is not None and pod.wanted is not None and not (pod.open or pod.quota or pod.beside or pod.lacks):
        fit = Safe(" fits") if pod.wanted == 1 else fmt(": {} fit", every(pod.wanted, "copy"))
        are = Safe("are" if len(coming.pods) > 1 else "is")
        return fmt("{}{} unless {} {} being bound already.", name, fit, listed(coming.pods), are)
    if pod.wanted == 1:
        others = listed([each.plugin for each in pod.open])
        if not pod.open:
            return fmt("{}: nothing that was read keeps it from running; whether it fits is unknown.", name)
        return fmt("{} fits by what is simulated; {} {} as well.", name, others, Safe(_decide(pod)))
    if pod.capped:
        return fmt("{}: at least {} copies would fit by what is simulated.", name, pod.copies)
    if pod.wanted is None:
        return fmt("{} fits at most {}.", name, counted(pod.copies, "time"))
    return fmt("{}: at most {} of {} fit.", name, pod.copies, counted(pod.wanted, "copy"))


def _required(name: Safe, pod: PodSimulation) -> Safe:
    """Where a quota requires what a container does not request."""
    if pod.wanted is None and not (pod.capped or pod.undecided):
        doubt = pod.unspecified[0]
        text = "{}: {}; {}, at most {} fit."
        return fmt(text, name, refused_unless(doubt, "it"), where_admitted(doubt), pod.copies)
    them, they = ("its pods", "they fit") if pod.wanted not in (None, 1) else ("it", "it fits")
    return fmt("{}: {}; whether {} is unknown.", name, refused_unless(pod.unspecified[0], them), Safe(they))
