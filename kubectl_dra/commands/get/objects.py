"""The lists of get that are of API objects: claims, classes, groups, taints, slices and templates."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api import kinds
from kubectl_dra.commands.get.query import CLAIMS, CLASSES, POD_GROUPS, SLICES, TAINTS, TEMPLATES, TypeArgs
from kubectl_dra.commands.get.sections import GetCall, Section, chosen_of, labelled, object_item, object_section
from kubectl_dra.commands.shared.show import is_document
from kubectl_dra.output.devices import lists
from kubectl_dra.output.safe import fmt
from kubectl_dra.output.taints.list_page import KEEPS_NOBODY, on_nothing
from kubectl_dra.output.taints.misdirected import correction_command, correction_text
from kubectl_dra.output.words import counted
from kubectl_dra.reports.claims.claim_list import claim_rows, unused_claims
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.object_lists import slice_rows, template_rows
from kubectl_dra.reports.groups.group_state import group_rows
from kubectl_dra.reports.taints.misdirected import correction
from kubectl_dra.reports.taints.published_names import PublishedNames
from kubectl_dra.reports.taints.taint_list import TaintStatus, not_published, rule_row, taint_rows
from kubectl_dra.reports.taints.taint_observation import NO_EFFECT

_ON_NONE: Final = "note: rule {} is on no device. {}"


def _claims(call: GetCall, wanted: TypeArgs) -> Section:
    state = call.state
    chosen = chosen_of(call, wanted, state.inventory.claims)
    if call.query.unused:
        chosen, unknown = unused_claims(chosen, state)
        if unknown:
            them = counted(unknown, "claim")
            call.notes.append(fmt("note: left out {} of which it is not known, because pods could not be read", them))
    return object_section(call, kinds.RESOURCE_CLAIM, chosen, claim_rows(chosen, state), lists.CLAIMS)


def _classes(call: GetCall, wanted: TypeArgs) -> Section:
    state = call.state
    chosen = chosen_of(call, wanted, state.inventory.classes)
    classic = len(state.inventory.classic.classes)
    if classic and not wanted.names:
        text = "note: left out {} {} of resource.k8s.io/v1alpha2: kubectl get resourceclasses shows what they say"
        call.notes.append(fmt(text, classic, "ResourceClass" if classic == 1 else "ResourceClasses"))
    rows = class_rows(chosen, state)
    return object_section(call, kinds.DEVICE_CLASS, chosen, rows, lists.class_columns(rows))


def _groups(call: GetCall, wanted: TypeArgs) -> Section:
    chosen = chosen_of(call, wanted, call.state.inventory.groups.pod_groups)
    return object_section(call, kinds.POD_GROUP, chosen, group_rows(chosen, call.state), lists.GROUPS)


def _taints(call: GetCall, wanted: TypeArgs) -> Section:
    state = call.state
    rules = state.inventory.taint_rules
    chosen = {rule.metadata.name for rule in chosen_of(call, wanted, rules)}
    if wanted.names or call.options.selector or is_document(call.options) or call.options.output == "name":
        rows = tuple(rule_row(rules[name], state) for name in sorted(chosen))
    else:
        rows = taint_rows(state)
    published = PublishedNames(state)
    for row in rows:
        name, near = not_published(row, state, published) if row.status is TaintStatus.HITS_NOTHING else ("", ())
        if name:
            call.notes.append(fmt("note: rule {} {}", row.rule, on_nothing(name, near)))
        meant = correction(rules[row.rule], state, published) if row.status is TaintStatus.HITS_NOTHING else None
        if meant is not None:
            command = correction_command(row.rule, meant, state.evidence.address)
            text = fmt("note: {}", correction_text(meant)) if name else fmt(_ON_NONE, row.rule, correction_text(meant))
            call.notes.append(fmt("{}: {}", text, command) if command else fmt("{}.", text))
    if idle := sum(row.effect == NO_EFFECT for row in rows):
        call.notes.append(fmt("note: {} with effect None: {}", counted(idle, "taint"), KEEPS_NOBODY))
    items = [
        object_item(kinds.DEVICE_TAINT_RULE, row.rule or "", rules[row.rule] if row.rule else None, row) for row in rows
    ]
    return Section("", items, lambda: labelled(call, lists.TAINTS, rules.values()))


def _slices(call: GetCall, wanted: TypeArgs) -> Section:
    chosen = chosen_of(call, wanted, call.state.inventory.slices)
    return object_section(call, kinds.RESOURCE_SLICE, chosen, slice_rows(chosen, call.state), lists.SLICES)


def _templates(call: GetCall, wanted: TypeArgs) -> Section:
    chosen = chosen_of(call, wanted, call.state.inventory.templates)
    rows = template_rows(chosen, call.state)
    return object_section(call, kinds.RESOURCE_CLAIM_TEMPLATE, chosen, rows, lists.TEMPLATES)


SECTIONS: Final = {
    CLAIMS: _claims,
    CLASSES: _classes,
    TAINTS: _taints,
    POD_GROUPS: _groups,
    SLICES: _slices,
    TEMPLATES: _templates,
}
