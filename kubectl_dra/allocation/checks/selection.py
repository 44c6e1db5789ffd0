"""The selectors and derived attributes of one attempt: what they say, and the errors with which they end it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.allocation import errors
from kubectl_dra.allocation.checks.requests import Request
from kubectl_dra.allocation.input.candidates import Candidate
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import Device, DeviceAttribute
from kubectl_dra.selectors.compiling import Selector
from kubectl_dra.selectors.evaluate import (
    Decision,
    DerivedFailure,
    Detail,
    Outcome,
    SelectorSet,
    common_content,
    derive,
)
from kubectl_dra.selectors.visible import Columns

#: Where so many devices of a driver in a row are like no other, as by their uuids, they are no longer compared.
_PATIENCE: Final = 256


class SelectorMemo:
    """Evaluates the selectors and derived attributes of one attempt, each once per content."""

    def __init__(self, requests: Sequence[Request], constrained: Iterable[str], features: Features) -> None:
        self._shows_sharing = features.shows_sharing
        sets = {r.selectors: SelectorSet(r.selectors, features.shows_sharing) for r in requests}
        self._sets = [sets[request.selectors] for request in requests]
        self._distinct = [each for selectors, each in sets.items() if selectors]
        self._derivations = tuple(dict.fromkeys(e for request in requests for e in request.derived.values()))
        constrained = tuple(constrained)
        self._visible = common_content(self._distinct, self._derivations, constrained)
        #: Equal for two attempts that see the same of every device.
        self.identity: Hashable = tuple(s for s in sets if s), self._derivations, constrained, self._shows_sharing
        self._seen: dict[Hashable, Hashable] = {}
        # By driver: how many devices in a row had a content that none had before.
        self._alone: dict[str, int] = {}
        self._derived: dict[tuple[str, Hashable], DeviceAttribute | DerivedFailure] = {}

    def forget(self) -> None:
        """Drop what was evaluated so far."""
        self._seen.clear()
        self._derived.clear()
        for each in self._distinct:
            each.forget()

    def columns(self, published: Mapping[str, Collection[str]]) -> Columns | None:
        """The attributes and capacities that are read, of those that devices of each driver publish; None: any."""
        return self._visible.columns(published)

    def seen(self, driver: str, device: Device, sound: bool = False) -> Hashable:
        """Equal for two devices of which the attempt's expressions and constraints say the same for the same reason.

        Devices on which something fails are told apart by their content, because errors name the device. ``sound``: it
        is known already that no attribute is broken.
        """
        alone = self._alone.get(driver, 0)
        if alone > _PATIENCE:
            return self._judged(driver, device, sound)
        content = self._visible.content(driver, device, sound)
        found = self._seen.get(content)
        self._alone[driver] = alone + 1 if found is None else 0
        if found is None:
            found = self._seen[content] = self._judged(driver, device, sound)
        return found

    def _judged(self, driver: str, device: Device, sound: bool) -> Hashable:
        said: list[Hashable] = []
        for each in self._distinct:
            # Kept here with the content: the set need not keep it once more.
            decision, clause = each.judged(driver, device, sound)
            if decision.outcome not in (Outcome.MATCHES, Outcome.NO):
                return self._visible.content(driver, device, sound)
            of_class = decision.selector < 0 or each.selectors[decision.selector].device_class is not None
            said.append((decision.selector, -1 if of_class else clause))
        for expression in self._derivations:
            value = self._derive(expression, driver, device)
            if isinstance(value, DerivedFailure):
                return self._visible.content(driver, device, sound)
            said.append(value)
        return driver, device.allow_multiple_allocations, tuple(said), self._visible.constrained(driver, device)

    def decision(self, request: Request, candidate: Candidate) -> Decision:
        """What class and request say of a device; errors are part of it."""
        return self._sets[request.number].of(candidate.pool.id.driver, candidate.device)

    def detail(self, request: Request, candidate: Candidate) -> Detail:
        """What decided that."""
        return self._sets[request.number].detail(candidate.pool.id.driver, candidate.device)

    def refusing(self, request: Request, candidate: Candidate) -> Selector | None:
        """The first selector of class and request that says no. Raises :class:`Aborted` for an error."""
        decision = self.decision(request, candidate)
        if decision.outcome is Outcome.MATCHES:
            return None
        selector = request.selectors[decision.selector]
        if decision.outcome is Outcome.NO:
            return selector
        if decision.outcome is Outcome.UNDECIDED:
            raise errors.UndecidedError(decision.error)
        at = (request.claim, selector.device_class, selector.index)
        if not decision.compiles:
            raise errors.Aborted(errors.SelectorNotCompiled(*at, decision.error))
        raise errors.Aborted(errors.SelectorFailed(*at, candidate.id, decision.error))

    def derived(self, request: Request, attribute: str, candidate: Candidate) -> DeviceAttribute:
        """A derived attribute of a device. Raises :class:`Aborted` for an error."""
        found = self._derive(request.derived[attribute], candidate.pool.id.driver, candidate.device)
        if not isinstance(found, DerivedFailure):
            return found
        if found.undecided:
            raise errors.UndecidedError(found.error)
        if not found.compiles:
            raise errors.Aborted(errors.DerivedAttributeNotCompiled(attribute, found.error))
        raise errors.Aborted(errors.DerivedAttributeFailed(attribute, candidate.id, found.error))

    def _derive(self, expression: str, driver: str, device: Device) -> DeviceAttribute | DerivedFailure:
        key = (expression, self._visible.content(driver, device))
        if key not in self._derived:
            self._derived[key] = derive(expression, driver, device, self._shows_sharing)
        return self._derived[key]
