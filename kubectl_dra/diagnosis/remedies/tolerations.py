"""Remedies that tolerate taints of devices, in the request of a claim; those of a pod are for taints of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubectl_dra.allocation.input.taints import tolerates
from kubectl_dra.diagnosis.records import Funnel, StageName
from kubectl_dra.diagnosis.remedies.candidate import Candidate, Case, ClaimEditor, first_of, removals
from kubectl_dra.model.forms import Form
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.resource import DeviceTaint, DeviceToleration

_COST: Final = 30
_TAINT: Final = re.compile(r"(?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>\w+)")


def candidates(case: Case, editor: ClaimEditor, request: Form, funnels: Sequence[Funnel]) -> Iterator[Candidate]:
    """For each taint in the way: a toleration of its key corrected, else one more."""
    for text in dict.fromkeys(removal.reason for removal in removals(funnels, StageName.TAINTS)):
        match = _TAINT.fullmatch(text)
        if match is None:
            continue
        taint = DeviceTaint(match["key"], match["value"] or "", match["effect"])
        toleration = DeviceToleration(taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect)

        def edit(exactly: Form, more: DeviceToleration = toleration) -> Form:
            return msgspec.structs.replace(exactly, tolerations=(*exactly.tolerations, more))

        # Who tolerates it in the pod wants the device, and has written it in the wrong place.
        mine = (DeviceToleration(t.key, t.operator, t.value, t.effect) for t in case.pod.spec.tolerations if t.key)
        own = taint.key if any(tolerates(each, taint) for each in mine) else ""
        more = editor.edit(f"tolerations[{len(request.tolerations)}]", own, text, edit, _COST)
        yield from first_of([*_corrected_tolerations(editor, request, text, toleration), more])


def _corrected_tolerations(
    editor: ClaimEditor, request: Form, text: str, wanted: DeviceToleration
) -> Iterator[Candidate]:
    """A toleration of the same key and effect with the value of the taint, where it has one that looks like it.

    Any other is meant as it is written: what it tolerates the request would no longer.
    """
    for index, old in enumerate(request.tolerations):
        if old.key != wanted.key or old.effect not in ("", wanted.effect) or not similar(old.value, (wanted.value,)):
            continue
        value = msgspec.structs.replace(wanted, toleration_seconds=old.toleration_seconds)

        def edit(exactly: Form, index: int = index, value: DeviceToleration = value) -> Form:
            kept = exactly.tolerations
            return msgspec.structs.replace(exactly, tolerations=(*kept[:index], value, *kept[index + 1 :]))

        before = f"{old.key}={old.value}" + (f":{old.effect}" if old.effect else "")
        yield editor.edit(f"tolerations[{index}]", before, text, edit, _COST)
