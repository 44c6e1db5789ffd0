"""What to do about pods that Pod Security refuses: the fields to set, and whom to ask for a wider level.

Upstream: pod-security-admission, admission/admission.go (EvaluatePod) and api/constants.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.output.words import object_name, shortened

if TYPE_CHECKING:
    # Pages of pods that wait say of refusals what these say, and load no manifests.
    from kubectl_dra.reports.simulation.records import ManifestReport

_REFUSED: Final = re.compile(r'violates PodSecurity "(?P<level>[a-z]+):')
_FIELDS: Final = (
    ("runAsNonRoot=true", "  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}"),
    ("drop=", "  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"),
)
_SHOWN: Final = 3
_NOT_CHECKED: Final = (
    "Whether Pod Security admits the pods of {} was not checked: namespace {} enforces level {}, and their controller "
    "makes their containers."
)
_BASELINE: Final = "baseline"
_OF: Final = ("of the pod:", "of each container:")


def refusing_level(text: str) -> str:
    """The level of the namespace that refuses pods in these words of the server; empty where another rule does."""
    found = _REFUSED.search(text)
    return found["level"] if found is not None else ""


def wider_level(namespace: str, level: str) -> Safe:
    """Whom to ask, and for what."""
    text = "ask whoever manages namespace {} for a wider level than {}: its label pod-security.kubernetes.io/enforce"
    return fmt(text, namespace, level)


def may_refuse_lines(manifests: Sequence[ManifestReport]) -> Iterator[Safe]:
    """Of pods whose namespace could not be read, or whose containers are not known: the level that may refuse them."""
    found: dict[tuple[str, str], list[ObjectRef]] = {}
    for each in manifests:
        if each.not_checked and not each.refused:
            yield from wrapped(fmt(_NOT_CHECKED, object_name(each.object), each.object.namespace, each.not_checked))
    for each in manifests:
        if each.may_refuse and not each.refused:
            found.setdefault((each.object.namespace, each.may_refuse), []).append(each.object)
    for (namespace, level), refs in found.items():
        names = shortened([object_name(ref) for ref in refs], _SHOWN)
        pods = names if all(ref.kind == "Pod" for ref in refs) else fmt("the pods of {}", names)
        be = Safe("is" if len(refs) == 1 and refs[0].kind == "Pod" else "are")
        text = "Namespace {} could not be read: if it enforces level {} of Pod Security, {} {} refused."
        at = Safe(" or restricted" if level == _BASELINE else "")
        yield from wrapped(fmt(text, namespace, fmt("{}{}", level, at), pods, be))


def security_lines(subject: ObjectRef, refused: Sequence[str]) -> Iterator[Safe]:
    """The ways out for pods that ``subject`` makes, or is; none where another rule refuses them."""
    text = next(filter(refusing_level, refused), "")
    if not text:
        return
    level = refusing_level(text)
    where = fmt("{} {}" if subject.kind == "Pod" else "the pod template of {} {}", subject.kind, subject.name)
    ways = fmt("Change what these words list in {}, or {}.", where, wider_level(subject.namespace, level))
    yield from wrapped(ways, indent=2)
    wanted = [(of_, safe(line)) for of_, (mark, line) in zip(_OF, _FIELDS, strict=True) if mark in text]
    if wanted:
        yield from wrapped(fmt("What level {} wants beside an image that does not run as root:", level), indent=2)
    for of_, line in wanted:
        yield fmt("    {}", safe(of_))
        yield fmt("    {}", line)
