"""Selectors tried on published devices: which of the devices they are about, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic

from kubectl_dra.cel.read.mentions import Mention
from kubectl_dra.model.features import Features
from kubectl_dra.model.resource import DeviceClass
from kubectl_dra.selectors.catalog import PublishedDevices, PublishedT
from kubectl_dra.selectors.compiling import Compiled, Selector, compile_selector
from kubectl_dra.selectors.evaluate import Decision, EvaluationBudget, Outcome, SelectorSet, placed


@dataclass(frozen=True)
class SelectorTrial(Generic[PublishedT]):
    """A list of selectors; the first ``class_selectors`` of them are those of the class that a request names.

    ``in_class``: the request names a class, which exists; ``class_found`` is false where it does not. ``of_class``: the
    selectors are those of a DeviceClass themselves. Without a class the devices that are meant follow from the domains
    which the selectors name.
    """

    selectors: tuple[Compiled, ...]
    published: PublishedDevices[PublishedT]
    features: Features
    budget: EvaluationBudget = field(default_factory=EvaluationBudget)
    class_selectors: int = 0
    in_class: bool = False
    of_class: bool = False
    class_found: bool = True

    @classmethod
    def of_request(
        cls,
        expressions: Iterable[str],
        device_class: DeviceClass | None,
        published: PublishedDevices[PublishedT],
        features: Features,
    ) -> SelectorTrial[PublishedT]:
        """The selectors of a request behind those of its class, if there is one."""
        first = device_class.spec.selectors if device_class is not None else ()
        name = device_class.metadata.name if device_class is not None else None
        selectors = (*placed(first, name), *(Selector(None, i, text) for i, text in enumerate(expressions)))
        compiled = tuple(compile_selector(each, features) for each in selectors)
        in_class = device_class is not None
        return cls(compiled, published, features, class_selectors=len(first), in_class=in_class)

    @classmethod
    def of_device_class(
        cls, device_class: DeviceClass, published: PublishedDevices[PublishedT], features: Features
    ) -> SelectorTrial[PublishedT]:
        selectors = placed(device_class.spec.selectors, device_class.metadata.name)
        compiled = tuple(compile_selector(each, features) for each in selectors)
        return cls(compiled, published, features, of_class=True)

    @cached_property
    def usable(self) -> bool:
        return self.class_found and all(selector.program is not None for selector in self.selectors)

    @cached_property
    def evaluator(self) -> SelectorSet:
        """What evaluates them, on this trial's budget."""
        return SelectorSet(self.selectors, self.features.shows_sharing, self.budget)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """What the selectors under question name."""
        own = self.selectors[self.class_selectors :]
        return tuple(mention for selector in own for mention in selector.mentions)

    @cached_property
    def drivers(self) -> frozenset[str] | None:
        """The drivers whose devices have the domains that the selectors name; None for all."""
        return self.published.catalog.drivers_with({m.domain.text for m in self.mentions}) or None

    @cached_property
    def _split(self) -> tuple[tuple[tuple[PublishedT, Decision], ...], tuple[tuple[PublishedT, Decision], ...]]:
        if not self.usable:
            return (), ()
        tried = [(each, self.evaluator.of(each.driver, each.device)) for each in self.published.items]
        inside = [self._is_meant(each, decision) for each, decision in tried]
        return (
            tuple(each for each, is_in in zip(tried, inside, strict=True) if is_in),
            tuple(each for each, is_in in zip(tried, inside, strict=True) if not is_in),
        )

    def _is_meant(self, each: PublishedT, decision: Decision) -> bool:
        if self.of_class:
            return True
        if self.in_class:
            return not (decision.outcome is Outcome.NO and decision.selector < self.class_selectors)
        return self.drivers is None or each.driver in self.drivers

    @property
    def meant(self) -> tuple[tuple[PublishedT, Decision], ...]:
        """The devices that the selectors are about; none if the scheduler can't evaluate them."""
        return self._split[0]

    @property
    def outside(self) -> tuple[tuple[PublishedT, Decision], ...]:
        return self._split[1]

    @cached_property
    def meant_devices(self) -> tuple[PublishedT, ...]:
        """The devices that they are about, also where nothing could be evaluated."""
        if self.usable:
            return tuple(each for each, _ in self.meant)
        return tuple(each for each in self.published.items if self.drivers is None or each.driver in self.drivers)

    def corrected(self, number: int, compiled: Compiled) -> SelectorTrial[PublishedT]:
        """The trial with one selector replaced: of the devices that are meant here, where a class says which."""
        selectors = (*self.selectors[:number], compiled, *self.selectors[number + 1 :])
        if not self.of_class and not self.in_class:
            return replace(self, selectors=selectors, class_found=True)
        published = PublishedDevices(self.meant_devices)
        return replace(self, selectors=selectors, published=published, of_class=True)
