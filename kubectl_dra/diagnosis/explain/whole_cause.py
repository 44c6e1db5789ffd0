"""From the causes of single nodes to the cause of the whole: what only the view over all devices and nodes tells.

A funnel says what one node lacks. Whether the class has devices at all, whether anything publishes the attribute that
a selector reads, and whether the requests could be served on different nodes, is found here; the code follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.explain import class_facts, shortfall
from kubectl_dra.diagnosis.explain.class_facts import ClassFacts, offers
from kubectl_dra.diagnosis.explain.gone_nodes import meant_by, published_for_gone
from kubectl_dra.diagnosis.explain.rejections import nowhere
from kubectl_dra.diagnosis.records import (
    Cause,
    ClassOffer,
    FatalError,
    Funnel,
    LabelOnNodes,
    NodeDevices,
    NodeGroup,
    NodeOutcome,
    NoSingleNode,
    ObjectRef,
    PoolProblem,
    RequestNodes,
    Unpublished,
    UnpublishedInConstraint,
)
from kubectl_dra.model.forms import forms
from kubectl_dra.model.ids import Key
from kubectl_dra.model.likeness import similar
from kubectl_dra.model.meta import NodeSelector, NodeSelectorRequirement
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.selectors.compiling import Selector, compile_selector, literals, near_names

_NODES: Final = 5
_SERVING: Final = 3
_NAMES: Final = 12
#: The class of a request of a claim.
ClassOf = Callable[[ObjectRef, str], str]
#: Of a class with more selectors than these nothing is said: each is compared with the labels of all nodes.
_SELECTORS: Final = 20


def refined(
    state: ClusterState, claims: Sequence[ResourceClaim], causes: tuple[Cause, ...], groups: tuple[NodeGroup, ...]
) -> tuple[tuple[Cause, ...], tuple[NodeGroup, ...]]:
    """Causes and groups with codes and evidence of the whole cluster; ``claims`` as in the attempt."""
    refiner = _Refiner(state, claims)
    whole = _unused_there(_served_nowhere_first(tuple(map(refiner.cause, causes)), groups))
    found = tuple(
        msgspec.structs.replace(group, causes=tuple(map(refiner.cause, group.causes))) if group.causes else group
        for group in groups
    )
    whole += tuple(refiner.misnamed(whole))
    scattered = no_single_node(groups, refiner.class_of)
    if scattered is not None:
        nodes = tuple(name for group in groups if group.outcome is NodeOutcome.CANNOT_ALLOCATE for name in group.nodes)
        at = next((i for i, cause in enumerate(whole) if isinstance(cause.detail, Funnel | ClassOffer)), len(whole))
        whole = (*whole[:at], Cause(Code.NO_SINGLE_NODE, scattered, nodes=nodes), *whole[at:])
    return whole, found


def _served_nowhere_first(causes: tuple[Cause, ...], groups: tuple[NodeGroup, ...]) -> tuple[Cause, ...]:
    """What no node has before what one has, on which something else lacks."""
    served = {
        (each.claim, each.request.partition("/")[0])
        for group in groups
        for each in group.requests
        if each.funnel is not None and shortfall.serves(each.funnel)
    }
    of_devices = [cause for cause in causes if isinstance(cause.detail, Funnel | ClassOffer)]
    ordered = iter(sorted(of_devices, key=lambda cause: (cause.claim, cause.request.partition("/")[0]) in served))
    return tuple(next(ordered) if isinstance(cause.detail, Funnel | ClassOffer) else cause for cause in causes)


def _unused_there(causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """The pool first that is not used on the only nodes with devices of the class, not the nodes that have none."""
    offer = causes[0].detail if causes and causes[0].code is Code.DEVICES_FOR_OTHER_NODES else None
    if not isinstance(offer, ClassOffer) or not offer.nodes or offer.on_nodes > len(offer.nodes):
        return causes
    unused = (each for each in causes if isinstance(each.detail, PoolProblem) and set(offer.nodes) <= set(each.nodes))
    first = next(unused, None)
    return causes if first is None else (first, *(each for each in causes if each is not first))


class _Refiner:
    def __init__(self, state: ClusterState, claims: Sequence[ResourceClaim]) -> None:
        self._state = state
        self._classes: dict[tuple[Key, str], tuple[str, tuple[str, ...]]] = {}
        self._claims = {Key(claim.metadata.namespace, claim.metadata.name): claim for claim in claims}
        for claim in claims:
            key = Key(claim.metadata.namespace, claim.metadata.name)
            for name, form in forms(claim.spec):
                self._classes[key, name] = form.device_class_name, tuple(each.expression for each in form.selectors)

    def class_of(self, claim: ObjectRef | None, request: str) -> str:
        """The class of a request; empty where it is not known."""
        return self._classes.get((claim.key, request), ("", ()))[0] if claim is not None else ""

    def cause(self, cause: Cause) -> Cause:
        """The cause with what the whole cluster says about it."""
        if isinstance(cause.detail, FatalError):
            return self._failing(cause, cause.detail)
        if cause.code is Code.CONSTRAINT:
            return self._constraint(cause)
        if cause.code is Code.DEVICES_IN_USE and (found := self._constraint(cause)) is not cause:
            # Free, they would not satisfy it either.
            return msgspec.structs.replace(found, code=Code.CONSTRAINT)
        if cause.code is Code.SELECTOR_MATCHES_NOTHING and isinstance(cause.detail, Funnel):
            return self._no_match(cause, cause.detail)
        if cause.code is Code.NO_DEVICE_IN_CLASS and isinstance(cause.detail, Funnel):
            facts = offers(self._state).of(self.class_of(cause.claim, cause.request))
            return self._no_device(cause, cause.detail, facts) if facts is not None else cause
        return cause

    def misnamed(self, causes: Sequence[Cause]) -> Iterator[Cause]:
        """What is there beside devices that nobody can have: some that are published for a node by another name."""
        told = {(each.claim, each.request) for each in causes if each.code is Code.DEVICES_OF_GONE_NODES}
        for cause in causes:
            if isinstance(cause.detail, Funnel) and (cause.claim, cause.request) not in told:
                name, expressions = self._classes.get(((cause.claim or ObjectRef("")).key, cause.request), ("", ()))
                gone = published_for_gone(self._state, name, expressions)
                if gone is not None and gone.meant:
                    told.add((cause.claim, cause.request))
                    yield msgspec.structs.replace(cause, code=Code.DEVICES_OF_GONE_NODES, detail=gone, nodes=())

    # --- nothing of the class -----------------------------------------------------------------------------------------

    def _no_device(self, cause: Cause, funnel: Funnel, facts: ClassFacts) -> Cause:
        name, selected = self.class_of(cause.claim, cause.request), len(facts.devices)
        code = Code.DEVICES_FOR_OTHER_NODES if selected else Code.NO_DEVICE_IN_CLASS
        if selected and self._are_gone(facts):
            code = Code.DEVICES_OF_GONE_NODES
        if not selected and facts.published:
            code = Code.CLASS_SELECTS_NOTHING
        offer = ClassOffer(
            name,
            funnel.needed,
            funnel.all_devices,
            facts.published,
            selected,
            () if selected else facts.drivers,
            tuple(facts.nodes)[:_NODES],
            "" if selected else facts.expression,
            () if selected else _similar_drivers(facts),
            facts.clause,
            facts.seen,
            len(facts.nodes),
            labels_of_no_node(self._state, facts.node_selectors),
        )
        if code is Code.DEVICES_OF_GONE_NODES:
            offer = msgspec.structs.replace(offer, meant=meant_by(offer.nodes, self._state.inventory.nodes))
        return msgspec.structs.replace(cause, code=code, detail=offer)

    def _are_gone(self, facts: ClassFacts) -> bool:
        """Whether every device of the class is published for one node, and none of these nodes exists."""
        state = self._state
        if not state.evidence.complete("Node", "") or sum(facts.nodes.values()) < len(facts.devices):
            return False
        return not any(name in state.inventory.nodes for name in facts.nodes)

    # --- nothing that matches -----------------------------------------------------------------------------------------

    def _no_match(self, cause: Cause, funnel: Funnel) -> Cause:
        """With the first name that a selector reads and no device of the class publishes, where there is one."""
        asked = (cause.claim or ObjectRef("")).key, cause.request
        name, expressions = self._classes.get(asked, ("", ()))
        gone = published_for_gone(self._state, name, expressions)
        if gone is not None:
            detail = msgspec.structs.replace(gone, needed=funnel.needed, all_devices=funnel.all_devices)
            return msgspec.structs.replace(cause, code=Code.DEVICES_OF_GONE_NODES, detail=detail)
        known = offers(self._state)
        for expression in expressions:
            for mention in compile_selector(Selector(None, 0, expression), self._state.features).mentions:
                read = mention.name and (mention.field, mention.domain.text, mention.name.text)
                # What is published is found soon; what the class has at all is looked up only where it is not.
                if not read or known.publishes(name, *read) or (facts := known.of(name)) is None:
                    continue
                field, domain, own = read
                names = facts.catalog.names(field, domain)
                found = Unpublished(
                    name,
                    expression,
                    field,
                    domain,
                    own,
                    len(facts.devices),
                    funnel.needed,
                    names[:_NAMES],
                    near_names(own, names),
                    facts.catalog.domains_with(field, own),
                )
                return msgspec.structs.replace(cause, code=Code.ATTRIBUTE_UNPUBLISHED, detail=found)
        return cause

    # --- constraints --------------------------------------------------------------------------------------------------

    def _constraint(self, cause: Cause) -> Cause:
        """With the attribute, where nothing that the constraint is about publishes it."""
        claim = self._claims.get(cause.claim.key) if cause.claim is not None else None
        for constraint in claim.spec.devices.constraints if claim is not None else ():
            attribute = constraint.match_attribute or constraint.distinct_attribute or ""
            domain, _, name = attribute.rpartition("/")
            known, classes = offers(self._state), self._classes_of(cause.claim, constraint.requests)
            if cause.code is not Code.CONSTRAINT and not _is_about(cause.request, constraint.requests):
                continue
            if not domain or not classes or any(known.publishes(each, "attributes", domain, name) for each in classes):
                continue
            catalogs = {each: facts.catalog for each in classes if (facts := known.of(each)) is not None}
            published = [named for each in catalogs.values() for named in each.counts if named[0] == "attributes"]
            names = {f"{of}/{own}": own for _, of, own in sorted(published)}
            near = near_names(name, names.values())
            found = UnpublishedInConstraint(
                attribute,
                tuple(constraint.requests),
                tuple(full for full, own in names.items() if own == name),
                tuple(full for own in near for full in names if own != name and names[full] == own),
                tuple(names)[:_NAMES],
                tuple(sorted(catalogs)),
            )
            return msgspec.structs.replace(cause, detail=found)
        return cause

    def _classes_of(self, claim: ObjectRef | None, requests: Sequence[str]) -> list[str]:
        """The classes of the requests (of all where none is named), as far as they exist."""
        found = (
            name
            for (key, request), (name, _) in self._classes.items()
            if claim is not None and key == claim.key and _is_about(request, requests)
        )
        return [name for name in dict.fromkeys(found) if name in self._state.inventory.classes]

    # --- a selector that fails ----------------------------------------------------------------------------------------

    def _failing(self, cause: Cause, error: FatalError) -> Cause:
        if cause.code is not Code.SELECTOR_FAILS or not error.expression:
            return cause
        of_class = error.owner.startswith("class ")
        name = error.owner.removeprefix("class ") if of_class else self.class_of(cause.claim, cause.request)
        if not name and cause.claim is not None:
            classes = {found[0] for (key, _), found in self._classes.items() if key == cause.claim.key}
            name = classes.pop() if len(classes) == 1 else ""
        told = class_facts.told(self._state, error, name, of_class=of_class)
        return msgspec.structs.replace(cause, code=Code.CLASS_SELECTOR_FAILS if of_class else cause.code, detail=told)


def _is_about(request: str, requests: Collection[str]) -> bool:
    """Whether a constraint on ``requests``, none for all of them, compares the devices of one."""
    return not requests or request in requests or request.partition("/")[0] in requests


def _similar_drivers(facts: ClassFacts) -> tuple[str, ...]:
    """Published drivers that look like one that stands in the selector as a text."""
    texts = literals(facts.expression)
    return tuple(dict.fromkeys(name for text in texts if "." in text for name in similar(text, facts.drivers)))


# --- several requests -------------------------------------------------------------------------------------------------


def no_single_node(groups: Sequence[NodeGroup], class_of: ClassOf) -> NoSingleNode | None:
    """The requests and their nodes, if each could be served on some node and no node serves all; else None.

    Only nodes on which devices were tried count. Alternatives are one request: the best one is told.
    """
    served: dict[tuple[ObjectRef, str], dict[str, tuple[str, Funnel]]] = {}
    tried = [group for group in groups if group.outcome is NodeOutcome.CANNOT_ALLOCATE and group.requests]
    for group in tried:
        for report in group.requests:
            choice = (report.claim, report.request.partition("/")[0])
            nodes = served.setdefault(choice, {})
            if report.funnel is not None and shortfall.serves(report.funnel):
                nodes.update((name, (report.request, report.funnel)) for name in group.nodes if name not in nodes)
    if len(served) < 2 or not all(served.values()):
        return None
    names = [set(nodes) for nodes in served.values()]
    if set.intersection(*names):
        return None
    return NoSingleNode(tuple(_request_nodes(key[0], nodes, class_of) for key, nodes in served.items()))


def _request_nodes(claim: ObjectRef, nodes: Mapping[str, tuple[str, Funnel]], class_of: ClassOf) -> RequestNodes:
    ranked = sorted(nodes.items(), key=lambda item: (-_free(item[1][1]), item[0]))
    request, funnel = ranked[0][1]
    return RequestNodes(
        claim.name,
        request,
        class_of(claim, request),
        funnel.needed,
        funnel.all_devices,
        tuple(NodeDevices(name, _free(found)) for name, (_, found) in ranked[:_SERVING]),
        max(0, len(ranked) - _SERVING),
    )


def _free(funnel: Funnel) -> int:
    return min(len(funnel.left), funnel.together)


# --- labels that no node has ------------------------------------------------------------------------------------------


def labels_of_no_node(state: ClusterState, selectors: Collection[NodeSelector]) -> tuple[LabelOnNodes, ...]:
    """For each term of each selector a label that no node has; nothing where some term may match a node."""
    if not selectors or len(selectors) > _SELECTORS or not state.evidence.complete("Node", ""):
        return ()
    found: dict[LabelOnNodes, None] = {}
    for selector in selectors:
        for term in selector.node_selector_terms:
            wishes = [text for each in term.match_expressions for text in _wish(each)]
            label = next(nowhere(state, wishes), None)
            if label is None:
                return ()
            found[label] = None
    return tuple(found)


def _wish(requirement: NodeSelectorRequirement) -> Iterator[str]:
    """What the node has to have, as :class:`LabelOnNodes` writes it; nothing for operators that exclude."""
    if requirement.operator == "In" and len(requirement.values) == 1:
        yield f"{requirement.key}={requirement.values[0]}"
    elif requirement.operator == "In" and requirement.values:
        yield f"{requirement.key} In [{' '.join(requirement.values)}]"
    elif requirement.operator == "Exists":
        yield f"{requirement.key} Exists"
