"""Two classes with one ``extendedResourceName``, of which the one that serves it selects nothing.

Upstream: deviceclass/extendedresourcecache, updateResourceName2class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.records import Cause, ClassOffer
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.safe import Safe, command_line, fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.claims.ask import ExtendedAsk
from kubectl_dra.reports.invocations import changing, kubectl, of
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedy_commands import patch_text
from kubectl_dra.scheduler.resource_names import DEVICE_CLASS_PREFIX


def passed_over(cause: Cause, extended: Sequence[ExtendedAsk]) -> ExtendedAsk | None:
    """The resource of a class that selects nothing, where another class would serve it with devices."""
    if cause.code is not Code.CLASS_SELECTS_NOTHING or not isinstance(cause.detail, ClassOffer):
        return None
    name = cause.detail.device_class
    return next((each for each in extended if each.device_class == name and each.passed_over_devices), None)


def passed_over_note(cause: Cause, extended: Sequence[ExtendedAsk]) -> Safe:
    """Which other class has devices, and why it is not taken; empty where there is none."""
    found = passed_over(cause, extended)
    if found is None:
        return Safe("")
    text = (
        ". DeviceClass {}, with {}, has the same extendedResourceName {} and is passed over: the scheduler takes the "
        "class that was created last, and of equally old ones the first by name"
    )
    return fmt(text, found.passed_over, counted(found.passed_over_devices, "device"), found.resource)


def passed_over_advice(found: ExtendedAsk) -> Safe:
    """The selectors of both may be right: only one of them can have the name."""
    text = (
        "A cluster administrator removes extendedResourceName from {}. A running scheduler takes {} instead as soon as "
        "that class is changed as well, by an annotation for example, or when it restarts. Or let the pod request {}, "
        "or a claim of class {}, in place of {}."
    )
    other = found.passed_over
    return fmt(text, found.device_class, other, f"{DEVICE_CLASS_PREFIX}{other}", other, found.resource)


def passed_over_commands(report: PendingReport, address: Address) -> Iterator[Safe]:
    """How the name goes from the one class, and the scheduler learns of the other one."""
    found = passed_over(report.causes[0], report.extended)
    if found is None or report.remedies:
        return
    patch = patch_text([("/spec/extendedResourceName", None)])
    remove = kubectl("patch", of("deviceclass", found.device_class), "--type=json", "-p", patch)
    annotate = kubectl("annotate", of("deviceclass", found.passed_over), "serves-extended-resource=true", "--overwrite")
    for text, words in (("To remove it: {}", remove), ("Then: {}", annotate)):
        yield from command_line(text, changing(words, address))
