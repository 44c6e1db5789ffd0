"""The lists of get that are of API objects: claims, classes, groups, taints, slices and templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kubectl_dra.api import kinds
from kubectl_dra.commands.describe.claim_answers import claim_not_found
from kubectl_dra.commands.describe.podgroup_answers import group_not_found
from kubectl_dra.commands.get.query import CLAIMS, CLASSES, POD_GROUPS, SLICES, TAINTS, TEMPLATES, TypeArgs
from kubectl_dra.commands.get.sections import GetCall, Section, chosen_of, labelled, namespaced_of, object_item
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import key_not_found
from kubectl_dra.commands.shared.show import is_document
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import key_of
from kubectl_dra.output.devices import lists, node_page
from kubectl_dra.output.safe import fmt
from kubectl_dra.output.words import counted
from kubectl_dra.reports.claims.claim_list import claim_rows, unused_claims
from kubectl_dra.reports.devices.class_list import class_rows
from kubectl_dra.reports.devices.object_lists import slice_rows, template_rows
from kubectl_dra.reports.groups.group_list import group_rows
from kubectl_dra.reports.taints.taint_list import rule_row, taint_rows


def _claims(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    chosen = namespaced_of(call, wanted.names, facts.inventory.claims, lambda key: claim_not_found(key, facts))
    if call.query.unused:
        chosen, unknown = unused_claims(chosen, facts)
        if unknown:
            them = counted(unknown, "claim")
            call.notes.append(fmt("note: left out {} of which it is not known, because pods could not be read", them))
    by_key = {key_of(claim.metadata): claim for claim in chosen}
    rows = claim_rows(chosen, facts)
    items = [object_item(kinds.RESOURCE_CLAIM, row.name, by_key[Key(row.namespace, row.name)], row) for row in rows]
    everywhere = call.options.all_namespaces
    return Section("", items, lambda: labelled(call, lists.CLAIMS if everywhere else lists.CLAIMS[1:], _labels(chosen)))


def _classes(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    chosen = chosen_of(call, wanted, kinds.DEVICE_CLASS, facts.inventory.classes.values())
    classic = len(facts.inventory.classic.classes)
    if classic and not wanted.names:
        text = "note: left out {} {} of resource.k8s.io/v1alpha2: kubectl get resourceclasses shows what they say"
        call.notes.append(fmt(text, classic, "ResourceClass" if classic == 1 else "ResourceClasses"))
    rows = class_rows(chosen, facts)
    items = [object_item(kinds.DEVICE_CLASS, row.name, facts.inventory.classes[row.name], row) for row in rows]
    return Section("", items, lambda: labelled(call, lists.CLASSES, _labels(chosen)))


def _groups(call: GetCall, wanted: TypeArgs) -> Section:
    facts, groups = call.facts, call.facts.inventory.groups.pod_groups
    names = tuple(dict.fromkeys(wanted.names))
    rows = group_rows(namespaced_of(call, names, groups, lambda key: group_not_found(key, facts)), facts)
    items = [object_item(kinds.POD_GROUP, row.name, groups[Key(row.namespace, row.name)], row) for row in rows]
    everywhere = call.options.all_namespaces
    columns = lists.GROUPS if everywhere else lists.GROUPS[1:]
    return Section("", items, lambda: labelled(call, columns, _labels(groups.values())))


def _taints(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    rules = facts.inventory.taint_rules
    chosen = {rule.metadata.name for rule in chosen_of(call, wanted, kinds.DEVICE_TAINT_RULE, rules.values())}
    if wanted.names or call.options.selector or is_document(call.options) or call.options.output == "name":
        rows = tuple(rule_row(rules[name], facts) for name in sorted(chosen))
    else:
        rows = taint_rows(facts)
    items = [
        object_item(kinds.DEVICE_TAINT_RULE, row.rule or "", rules[row.rule] if row.rule else None, row) for row in rows
    ]
    return Section("", items, lambda: labelled(call, lists.TAINTS, _labels(rules.values())))


def _slices(call: GetCall, wanted: TypeArgs) -> Section:
    facts = call.facts
    chosen = chosen_of(call, wanted, kinds.RESOURCE_SLICE, facts.inventory.slices.values())
    rows = slice_rows(chosen, facts)
    items = [object_item(kinds.RESOURCE_SLICE, row.name, facts.inventory.slices[row.name], row) for row in rows]
    return Section("", items, lambda: labelled(call, node_page.SLICES, _labels(chosen)))


def _templates(call: GetCall, wanted: TypeArgs) -> Section:
    facts, templates = call.facts, call.facts.inventory.templates

    def missing(key: Key) -> CommandError:
        all_ = ("get", TEMPLATES, "-A")
        return key_not_found(kinds.RESOURCE_CLAIM_TEMPLATE, key, templates, facts.evidence, ("get",), all_)

    chosen = namespaced_of(call, tuple(dict.fromkeys(wanted.names)), templates, missing)
    items = [
        object_item(kinds.RESOURCE_CLAIM_TEMPLATE, row.name, templates[Key(row.namespace, row.name)], row)
        for row in template_rows(chosen, facts)
    ]
    columns = node_page.TEMPLATES if call.options.all_namespaces else node_page.TEMPLATES[1:]
    return Section("", items, lambda: labelled(call, columns, _labels(chosen)))


def _labels(objects: Iterable[Any]) -> Mapping[tuple[str, str], Mapping[str, str]]:
    """The labels of objects by namespace and name."""
    return {(each.metadata.namespace, each.metadata.name): each.metadata.labels for each in objects}


SECTIONS: Final = {
    CLAIMS: _claims,
    CLASSES: _classes,
    TAINTS: _taints,
    POD_GROUPS: _groups,
    SLICES: _slices,
    TEMPLATES: _templates,
}
