"""What keeps a pod off nodes beside devices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from kubectl_dra.diagnosis import records
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.model.names import HOSTNAME
from kubectl_dra.output.pending.amounts import shortage_text
from kubectl_dra.output.pending.gangs import elsewhere_sentence
from kubectl_dra.output.pending.pods_there import beside, repelling, taken_by
from kubectl_dra.output.pending.reasons.sentence import Sentence, with_detail
from kubectl_dra.output.pending.volumes import volume_sentence
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import counted, did_you_mean, listed, plural
from kubectl_dra.scheduler.reasons import ADDED_AFFINITY, DEFAULT_SPREAD

_VALUES: Final = 3
#: The field of a node by which a term may name it.
_NAME: Final = "metadata.name"


def _node_taints(taint: records.NodeTaint, _cause: records.Cause) -> Safe:
    return fmt("nodes have the taint {}, which the pod does not tolerate", taint.taint)


def _node_selection(selection: records.NodeSelection, cause: records.Cause) -> Safe:
    if not selection.unmatched:
        return Safe(cause.code.meaning)
    text = "no node matches the pod's node selector or affinity: it requires {}{}"
    return fmt(text, listed(selection.unmatched), nowhere([selection]))


def nowhere(selections: Iterable[records.NodeSelection]) -> Safe:
    """`` (no node has that label)``: what the nodes have in place of what is wanted; empty where that is not known."""
    labels = list(dict.fromkeys(label for each in selections for label in each.nowhere))
    return label_note(labels[0]) if labels else Safe("")


def label_note(found: records.LabelOnNodes) -> Safe:
    """What the nodes have in place of one label."""
    label, values = found.label, found.values
    if label == _NAME:
        return fmt(" (no node has that name{})", did_you_mean(found.similar, "; "))
    if not values:
        near = did_you_mean(found.similar, "; ")
        return fmt(" (no node has the label {}{})", label, near)
    few = len(values) <= _VALUES
    some = listed(values, "or") if few else counted(len(values), "other value")
    near = Safe("") if few else did_you_mean(found.similar, "; ")
    return fmt(" (no node has that; {} is {} on those that have it{})", label, some, near)


def _shortage(shortage: records.NodeShortage, _cause: records.Cause) -> Safe:
    return fmt("{} has {}", shortage.node, shortage_text(replace(shortage, others_less=False)))


def ports_taken(ports: records.TakenPorts) -> Safe:
    """``the host port 0.0.0.0:80/TCP taken by ml/proxy``."""
    return fmt(
        "the host {} {} taken{}", Safe(plural("port", len(ports.ports))), listed(ports.ports), taken_by(ports.by)
    )


def _ports(ports: records.TakenPorts, _cause: records.Cause) -> Safe:
    return Safe(ports_taken(ports).removeprefix("the "))


def keeps_away(kept: records.KeptAway, several: bool) -> Safe:
    """The predicate about the node, or ``several`` of them."""
    if kept.terms:
        return repelling(kept.terms, several=several)
    verb = Safe("run" if several else "runs")
    return fmt("{} pods whose required anti-affinity keeps it away (per {})", verb, listed(kept.topology_keys))


def _volume(trouble: records.VolumeTrouble, cause: records.Cause) -> Safe:
    return volume_sentence(trouble) or Safe(cause.code.meaning)


def _spread(spread: records.Spread, _cause: records.Cause) -> Safe:
    if not spread.value:
        return fmt("nodes lack the label {}, which its spread constraint requires", spread.topology_key)
    which = fmt(" with {}", spread.selector) if spread.selector else Safe("")
    return fmt(
        "{}={} already has {} {}{} and the emptiest domain {}; its spread constraint allows a difference of {}",
        spread.topology_key,
        spread.value,
        spread.pods,
        Safe(plural("pod", spread.pods)),
        which,
        spread.fewest,
        spread.max_skew,
    )


#: Labels in the affinity that a webhook writes into pods whose object has the annotation ``exclusive-topology``.
#: Upstream: jobset, pkg/webhooks/pod_mutating_webhook.go; lws, pkg/webhooks/pod_webhook.go, setExclusiveAffinities.
_EXCLUSIVE: Final = {
    "jobset.sigs.k8s.io/job-key": "JobSet",
    "leaderworkerset.sigs.k8s.io/group-key": "LeaderWorkerSet",
    "leaderworkerset.sigs.k8s.io/subgroup-key": "LeaderWorkerSet",
}


def has_company(company: records.Company, several: bool, *, anti: bool) -> Safe:
    """The predicate about the node, or ``several``; ``anti``: the pod keeps away from others."""
    which = fmt("with {} ", company.selector) if company.selector else Safe("")
    verb = Safe("have" if several else "has")
    if anti and company.by:
        exclusive = next((kind for label, kind in _EXCLUSIVE.items() if label in company.selector), "")
        if exclusive:
            with_them = beside(company.by, company.topology_key, several)
            text = "{}, which the exclusive topology of its {} excludes (per {})"
            return fmt(text, with_them, exclusive, company.topology_key)
        about = [fmt("pods with {}", company.selector)] if company.selector else []
        about += [fmt("per {}", company.topology_key)] if company.topology_key == HOSTNAME else []
        whom = fmt(" ({})", Safe(", ").join(about)) if about else Safe("")
        with_them = beside(company.by, company.topology_key, several)
        return fmt("{}, which its own anti-affinity excludes{}", with_them, whom)
    if anti:
        return fmt("{} a pod {}that its anti-affinity excludes (per {})", verb, which, company.topology_key)
    where = fmt("; such pods run on {}", listed(company.nodes)) if company.nodes else Safe("")
    told = fmt("{} no pod {}that its affinity requires (per {}{})", verb, which, company.topology_key, where)
    if company.waiting:
        names = listed([str(ref.key) for ref in company.waiting])
        return fmt("{}: {} {} pending, too", told, names, Safe("is" if len(company.waiting) == 1 else "are"))
    return fmt("{}: there is no such pod", told) if company.nobody else told


def lacks_features(missing: records.MissingFeatures, several: bool) -> Safe:
    """The predicate about the node, or ``several`` of them."""
    return fmt("{} not declare {}", Safe("do" if several else "does"), listed(missing.features))


def _kept_away(kept: records.KeptAway, _cause: records.Cause) -> Safe:
    return fmt("nodes {}", keeps_away(kept, several=True))


def _company(company: records.Company, cause: records.Cause) -> Safe:
    return fmt("nodes {}", has_company(company, several=True, anti=cause.code is Code.UNWANTED_COMPANY))


def _features(missing: records.MissingFeatures, _cause: records.Cause) -> Safe:
    return fmt("nodes {}", lacks_features(missing, several=True))


def _not_simulated(found: records.OpenPlugins, _cause: records.Cause) -> Safe:
    names = [each.plugin for each in found.plugins]
    verbs = Safe("also decides and is") if len(names) == 1 else Safe("also decide and are")
    return fmt("{} {} not simulated", listed(names), verbs)


def _plugin(text: records.PluginText, _cause: records.Cause) -> Safe:
    return fmt("{} says: {}", text.plugin, text.text)


#: Rules of the scheduler's own configuration, which no object of the cluster shows.
_CONFIGURED: Final = {
    DEFAULT_SPREAD: Safe(
        "the scheduler turned it away by spread constraints of its own configuration (the pod itself has none)"
    ),
    ADDED_AFFINITY: Safe("the scheduler turned it away by a node affinity that its configuration adds to all pods"),
}


def _other_plugin(cause: records.Cause) -> Safe:
    match cause.detail:
        case records.PluginText(plugin=plugin) if plugin in _CONFIGURED:
            return _CONFIGURED[plugin]
        case records.PluginText() as text:
            return _plugin(text, cause)
        case records.GangElsewhere() as gang:
            return elsewhere_sentence(gang, cause)
    return Safe(cause.code.meaning)


def _no_nodes(_cause: records.Cause) -> Safe:
    return Safe("the cluster has no nodes")


SENTENCES: Final[dict[Code, Sentence]] = {
    Code.NO_NODES: _no_nodes,
    Code.NODE_TAINTS: with_detail(records.NodeTaint, _node_taints),
    Code.NODE_AFFINITY: with_detail(records.NodeSelection, _node_selection),
    Code.NODE_RESOURCES: with_detail(records.NodeShortage, _shortage),
    Code.NODE_PORTS: with_detail(records.TakenPorts, _ports),
    Code.KEPT_AWAY: with_detail(records.KeptAway, _kept_away),
    Code.VOLUMES: with_detail(records.PluginText, _plugin),
    Code.VOLUME_CLAIM: with_detail(records.VolumeTrouble, _volume),
    Code.VOLUME_ELSEWHERE: with_detail(records.VolumeTrouble, _volume),
    Code.NO_VOLUME: with_detail(records.VolumeTrouble, _volume),
    Code.VOLUME_IN_USE: with_detail(records.VolumeTrouble, _volume),
    Code.VOLUME_LIMIT: with_detail(records.VolumeTrouble, _volume),
    Code.VOLUME_DRIVER_MISSING: with_detail(records.VolumeTrouble, _volume),
    Code.TOPOLOGY: with_detail(records.PluginText, _plugin),
    Code.SPREAD: with_detail(records.Spread, _spread),
    Code.NO_COMPANY: with_detail(records.Company, _company),
    Code.UNWANTED_COMPANY: with_detail(records.Company, _company),
    Code.NODE_FEATURES: with_detail(records.MissingFeatures, _features),
    Code.OTHER_PLUGIN: _other_plugin,
    Code.NOT_SIMULATED: with_detail(records.OpenPlugins, _not_simulated),
}
