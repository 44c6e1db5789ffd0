"""The verdict on some pods of the files in one sentence: whether they fit, how many of them, or who else decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import msgspec

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.pod.missing import DEVICE_CLASS
from kubectl_dra.diagnosis.records import ObjectRef, QuotaLimit
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.pending.quotas import limit_text, refused_unless, where_admitted
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled
from kubectl_dra.output.simulation import manifests
from kubectl_dra.output.simulation.domains import told_once, too_small, too_small_text
from kubectl_dra.output.simulation.numbers import makes_none_text, whole_groups
from kubectl_dra.output.simulation.queues import if_admitted
from kubectl_dra.output.words import counted, every, listed, object_name, plural
from kubectl_dra.reports.base import Fits
from kubectl_dra.reports.simulation import Counted, PodSimulation, SimulationReport
from kubectl_dra.reports.simulation.alternatives import TakenAlternative
from kubectl_dra.reports.simulation.stops import AtMost
from kubectl_dra.reports.simulation.whole import POD_GROUP, by_group

#: What names that are made of words begin with, where they begin a sentence.
_BEGINNINGS: Final = ("One pod of ", "A bare pod with ")
_PODS_NAMED: Final = 8
_SHARERS: Final = 3


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
        what = listed(["claims", *pod.amounts])
        its = (
            fmt("its {} fit", what)
            if pod.wanted in (None, 1)
            else fmt("the {} of {} fit", what, counted(pod.copies, "pod"))
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
    if pod.lacks and not pod.capped and (pod.fits is Fits.UNKNOWN or pod.open_classes.at_most or pod.limit):
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
    if pod.limit is not None:
        return _kept_out(name, pod.wanted or 0, pod.limit)
    if pod.open_classes.at_most is not None:
        return _limited(name, pod, pod.open_classes.names, pod.open_classes.at_most)
    if pod.wanted == 1 or pod.wanted is None:
        inside = Safe(name[:1].lower() + name[1:]) if name.startswith(_BEGINNINGS) else name
        return fmt("Whether {} fits is unknown.", inside)
    wanted = counted(pod.wanted, "copy")
    if not pod.copies:
        return fmt("{}: whether any of {} fits is unknown.", name, wanted)
    return fmt("{}: at least {} of {} fit; whether more do is unknown.", name, pod.copies, wanted)


def _kept_out(name: Safe, wanted: int, limit: QuotaLimit) -> Safe:
    """What is sure, whatever devices there are: how many the quota lets in. That it lets in one is known here."""
    they = Safe("it" if limit.copies == 1 else "these")
    are = Safe("is" if limit.copies == 1 else "are")
    enough = fmt("A limit of {} would let in {}", limit.needed, every(wanted, "copy"))
    text = "{}: at most {} of {} {} admitted: {}. {}. Whether devices are free for {} is unknown."
    return fmt(text, name, limit.copies, counted(wanted, "copy"), are, limit_text(limit.shortage), enough, they)


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


def mixed_text(report: SimulationReport) -> Safe | None:
    """Which of several do not fit, where others do; None where one sentence about one of them says it all."""
    shown = list(told_once(by_group(report.pods)))
    failing = [pod for pod in shown if pod.fits is Fits.NO]
    never, later = [pod for pod in failing if never_fits(pod)], [pod for pod in failing if pod.in_turn]
    if not failing or len(shown) in (len(never), len(later)) or report.gangs:
        return None
    together = _in_all(report, never, shown) if never else Safe("")
    if len(failing) == len(never) == 1 and not together:
        return None  # its own sentence comes first, which has the cause too
    parts = [fmt("{} runs {} of {} at a time", name_of(pod), pod.copies, pod.wanted or 0) for pod in later]
    parts = parts[:_PODS_NAMED]
    if never:
        parts.insert(0, fmt("{} {} not{}", _names(never), Safe(plural("does", len(never))), together))
    return fmt("Not everything fits{}: {}.", Safe("" if never else " at once"), Safe("; ").join(parts))


def never_fits(pod: PodSimulation) -> bool:
    """Whether some of it do not fit, and no others of the files have to end for that."""
    return pod.fits is Fits.NO and not pod.in_turn


def _names(pods: Sequence[PodSimulation]) -> Safe:
    """Each object once, with the kinds of its pods."""
    more = fmt(" and {} more", len(pods) - _PODS_NAMED) if len(pods) > _PODS_NAMED else Safe("")
    if len(pods) > 1 and len({(pod.alone, pod.subject.kind) for pod in pods}) == 1 and pods[0].alone:
        # One kind of claims or templates that no pod uses.
        keys = [str(pod.subject.key) for pod in pods[:_PODS_NAMED]]
        return fmt("bare pods with {} {}", pods[0].subject.kind, listed(keys, "or")) + more
    roles: dict[ObjectRef, list[PodSimulation]] = {}
    for pod in pods[:_PODS_NAMED]:
        roles.setdefault(pod.subject, []).append(pod)
    named = ((of[0], [pod.role for pod in of[1:]]) for of in roles.values())
    return Safe("; ").join(_with_roles(first, rest) for first, rest in named) + more


def _with_roles(first: PodSimulation, rest: Sequence[str]) -> Safe:
    others = list(filter(None, rest))
    if not first.role or not others:
        return name_of(first)
    head = name_of(msgspec.structs.replace(first, role=""))
    return fmt("{}, {}", head, listed([first.role, *others]))


def _in_all(report: SimulationReport, never: Sequence[PodSimulation], shown: Sequence[PodSimulation]) -> Safe:
    """How many of an object's pods fit in all, where one of its kinds of pods is all that never does."""
    first = never[0]
    its = [pod for pod in shown if pod.subject == first.subject]
    others = any(pod.subject != first.subject for pod in never)
    if others or len(its) < 2 or any(pod.wanted is None or pod.capped or pod.undecided for pod in its):
        return Safe("")
    partly = any(each.left_out for each in report.manifests if each.object == first.subject)
    whose = Safe("" if partly else f"{safe(first.subject.kind)}'s ")
    text = ": {} of the {}{} pods tried fit" if partly else ": {} of the {}{} pods fit"
    # Of pods that are refused it is only said how many would fit.
    fit = fmt(text, sum(pod.copies for pod in its if not pod.refused), whose, sum(pod.wanted or 0 for pod in its))
    return fit + whole_groups(its, never)


def alternative_lines(pod: PodSimulation) -> Iterator[Safe]:
    """One line for each request."""
    for name, group in groupby(pod.alternatives, lambda each: each.request):
        taken = list(group)
        whose = fmt("request {} gets", name)
        if len(taken) == 1:
            text = fmt("{} its alternative {}, number {} of {}", whose, _what(taken[0]), taken[0].rank, taken[0].of)
        else:
            several = [fmt("{} {}", _what(each), counted(each.claims, "time")) for each in taken]
            text = fmt("{} alternative {}", whose, listed(several))
        yield from wrapped(text, indent=2)


def _what(taken: TakenAlternative) -> Safe:
    return fmt("{} ({})", taken.alternative, counted(taken.devices, "device"))


def sharing_text(pod: PodSimulation) -> Safe:
    """That copies share devices, behind the verdict; empty where they do not, or there is one copy only."""
    if not pod.shared or pod.wanted is None or pod.wanted < 2:
        return Safe("")
    names, first = listed([each.name for each in pod.shared]), pod.shared[0]
    claims = fmt("ResourceClaim {}" if len(pod.shared) == 1 else "ResourceClaims {}", names)
    if len(pod.shared) == 1 and first.devices:
        what = fmt(" {}", first.device_class) if first.device_class else Safe("")
        number = counted(first.devices, "device")
        head, _, noun = number.partition(" ")
        claims = fmt("the {}{} {} of {}", safe(head), what, safe(noun), claims)
    where = Safe(", on one node") if any(each.local for each in pod.shared) and len(pod.nodes) == 1 else Safe("")
    return fmt(" All {} copies share {}{}; from a ResourceClaimTemplate each gets its own.", pod.wanted, claims, where)


def with_alike(pods: Iterable[PodSimulation]) -> Iterator[tuple[PodSimulation, Sequence[PodSimulation]]]:
    """Every answer with the others that are alike; of each entry of a catalogue its own answer is asked for."""
    known = list(pods)
    alike: dict[tuple[ObjectRef, str], list[PodSimulation]] = {}
    for pod in known:
        if pod.like is not None and not pod.alone:
            alike.setdefault((pod.like, pod.role), []).append(pod)
    for pod in known:
        if pod.like is None or pod.alone:
            yield pod, alike.get((pod.subject, pod.role), ()) if pod.like is None else ()


def stage_text(pod: PodSimulation) -> Safe:
    """What has ended before; in a workflow only its steps tell."""
    if pod.counted is Counted.UNKNOWN:
        return Safe("tried without the pods of its other templates, which may have ended before")
    text = fmt("starts once {} {} complete", listed(pod.after), Safe("is" if len(pod.after) == 1 else "are"))
    if pod.held_up_by:
        text += fmt(", and {} {} not fit", listed(pod.held_up_by), Safe(plural("does", len(pod.held_up_by))))
    return text


def given_lines(pod: PodSimulation) -> Iterator[Safe]:
    """What is taken for granted of pods and of volumes that they share, or what the scheduler does not look at."""
    if pod.tolerated:
        yield from wrapped(fmt("for pods that tolerate {}", listed(pod.tolerated)), indent=2)
    for each in (claim for claim in pod.shared if claim.others and pod.copies):
        text = "shares ResourceClaim {}{} with {}"
        others = listed([object_name(one) for one in each.others[:_SHARERS]])
        rest = len(each.others) + each.more - _SHARERS
        more = fmt(" and {} more", rest) if rest > 0 else Safe("")
        where = Safe(", which is on this node only,") if each.local else Safe("")
        yield from wrapped(fmt(text, each.name, where, others + more), indent=2)
    if pod.shared_volumes:
        text = "taken as reachable from all these nodes once it is made: the volume of PersistentVolumeClaim {}"
        yield from wrapped(fmt(text, listed(pod.shared_volumes)), indent=2)
    if pod.attached_once:
        text = (
            "Warning: PersistentVolumeClaim {} is ReadWriteOnce. If its volume has to be attached, only one of these "
            "nodes has it at a time, and pods on the others stay in ContainerCreating (FailedAttachVolume): give each "
            "pod a volume of its own, or claim ReadWriteMany."
        )
        yield from wrapped(styled(fmt(text, listed(pod.attached_once)), Style.WARN))
