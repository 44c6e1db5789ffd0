"""What was found on the devices that are meant: conditions that removed some, errors, names that some or all lack.

What stands behind devices on which a selector fails: classes that keep them away, and searches that really end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.allocation.errors import SelectorFailed
from kubectl_dra.diagnosis.explain.class_facts import mentioned_values
from kubectl_dra.diagnosis.explain.ended_searches import ended_by_selectors
from kubectl_dra.diagnosis.records import AttributeValue
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.resource import ResourceClaim
from kubectl_dra.reports.selector.records import Clause, DomainUse, FailingSearch, Failure, NameUse, Seen
from kubectl_dra.reports.selector.scoping import ScopedDevice, Setting
from kubectl_dra.selectors.compiling import Compiled, Mention, near_names
from kubectl_dra.selectors.edits import path
from kubectl_dra.selectors.evaluate import Outcome, Reading, SelectorSet, value_text
from kubectl_dra.selectors.rewrite import missing_key
from kubectl_dra.selectors.trial import SelectorTrial

_SEEN: Final = 20
_OVERLOAD: Final = "no such overload"
_EXAMPLES: Final = 3
_POOLS: Final = 20
# Enough to name one; a cluster with more classes than that which let a device through is told of the first.
_MAX_TRIED: Final = 8


@dataclass(frozen=True)
class Findings:
    """What a trial of selectors found on the devices that they are about."""

    setting: Setting
    trial: SelectorTrial[ScopedDevice]

    def clauses(self) -> Iterator[Clause]:
        """The conditions in order, with what each removed; those of the class only if they removed something."""
        seen: dict[tuple[int, int], Counter[tuple[Reading, ...]]] = {}
        for member, decision in self.trial.meant:
            if decision.outcome is Outcome.NO:
                detail = self.trial.evaluator.detail(member.driver, member.device)
                seen.setdefault((decision.selector, detail.clause), Counter())[detail.readings] += 1
        for number, selector in enumerate(self.trial.selectors):
            for index, clause in enumerate(selector.clauses):
                values = seen.get((number, index), Counter())
                if number >= self.trial.class_selectors or values:
                    yield _clause(selector, clause.text, clause.start, clause.end, values)

    def failures(self) -> Iterator[Failure]:
        groups: dict[tuple[int, str, int], list[ScopedDevice]] = {}
        for member, decision in self.trial.meant:
            if decision.outcome is Outcome.ERROR:
                place = self.trial.evaluator.detail(member.driver, member.device).place
                groups.setdefault((decision.selector, decision.error, place), []).append(member)
        for (number, error, place), members in sorted(groups.items(), key=lambda item: -len(item[1])):
            yield self._failure(number, error, place, members)

    def _failure(self, number: int, error: str, place: int, members: Sequence[ScopedDevice]) -> Failure:
        selector = self.trial.selectors[number]
        key = missing_key(error)
        mention = self._missing_mention(selector, key, members[0]) if key is not None else None
        # The domain if no device has it, else the name.
        known = mention is not None and mention.domain.text in self.setting.catalog.domains
        word = None if mention is None else mention.name if known else mention.domain
        reads = self._values(selector, members[0]) if _OVERLOAD in error else ()
        other, elsewhere = self._elsewhere(selector, reads)
        return Failure(
            device_class=selector.device_class or "",
            index=selector.index,
            error=error,
            offset=word.start if word is not None else place if place >= 0 else None,
            length=word.end - word.start if word is not None else 1,
            devices=len(members),
            skipped=sum(member.skipped for member in members),
            examples=tuple(str(member.id) for member in members[:_EXAMPLES]),
            key=key or "",
            near=self._near(mention) if mention is not None else (),
            reads=reads,
            elsewhere=elsewhere,
            other=other,
        )

    @staticmethod
    def _values(selector: Compiled, member: ScopedDevice) -> tuple[AttributeValue, ...]:
        return tuple(dict.fromkeys(mentioned_values(selector.mentions, member.driver, member.device)))

    def _elsewhere(self, selector: Compiled, reads: Sequence[AttributeValue]) -> tuple[str, tuple[AttributeValue, ...]]:
        """The first device on which the selectors do not fail, and what it has of the same names in another type."""
        types = {each.name: each.type for each in reads}
        for member, decision in self.trial.meant if types else ():
            if decision.outcome in (Outcome.MATCHES, Outcome.NO):
                values = self._values(selector, member)
                found = tuple(each for each in values if types.get(each.name, each.type) != each.type)
                if found:
                    return str(member.id), found
        return "", ()

    @staticmethod
    def _missing_mention(selector: Compiled, key: str, member: ScopedDevice) -> Mention | None:
        """The first mention of a name that the device does not have."""
        for mention in selector.mentions:
            named = mention.name is not None and mention.name.text == key and not mention.guarded
            if named and not _has(member, mention.field, mention.domain.text, key):
                return mention
        return None

    def _near(self, mention: Mention) -> tuple[str, ...]:
        """Names that exist, if the one mentioned does not exist at all."""
        catalog = self.setting.catalog
        if mention.domain.text not in catalog.domains:
            return near_names(mention.domain.text, catalog.domains)[:1]
        if mention.name is None or catalog.counts[mention.field, mention.domain.text, mention.name.text]:
            return ()
        other = "capacity" if mention.field == "attributes" else "attributes"
        if catalog.counts[other, mention.domain.text, mention.name.text]:
            return (path(other, mention.domain.text, mention.name.text),)
        return near_names(mention.name.text, catalog.names(mention.field, mention.domain.text))

    # --- names --------------------------------------------------------------------------------------------------------

    def names(self) -> Iterator[NameUse]:
        """The attributes and capacities that the selectors name."""
        uses: dict[tuple[str, str, str], list[Mention]] = {}
        for mention in self.trial.mentions:
            if mention.name is not None:
                uses.setdefault((mention.field, mention.domain.text, mention.name.text), []).append(mention)
        for (field, domain, name), found in uses.items():
            lacking = [m for m in self.trial.meant_devices if not _has(m, field, domain, name)]
            pools = list(dict.fromkeys(str(member.id.pool_id) for member in lacking))
            yield NameUse(
                field=field,
                domain=domain,
                name=name,
                have=len(self.trial.meant_devices) - len(lacking),
                of=len(self.trial.meant_devices),
                lacking=tuple(pools[:_POOLS]),
                more=max(0, len(pools) - _POOLS),
                guarded=all(mention.guarded for mention in found),
                near=self._near(found[0]),
            )

    def unknown_domains(self) -> Iterator[DomainUse]:
        """The domains that no device in scope has."""
        known = self.setting.catalog.domains
        for domain in dict.fromkeys(mention.domain.text for mention in self.trial.mentions):
            if known and domain not in known:
                yield DomainUse(domain, near_names(domain, known)[:1])


def _has(member: ScopedDevice, field: str, domain: str, name: str) -> bool:
    return value_text(member.driver, member.device, field, domain, name) is not None


def _clause(selector: Compiled, text: str, start: int, end: int, values: Counter[tuple[Reading, ...]]) -> Clause:
    ranked = sorted(values.items(), key=lambda item: (-item[1], str(item[0])))
    known = [({reading.name: reading.text for reading in found}, number) for found, number in ranked if found]
    return Clause(
        device_class=selector.device_class or "",
        index=selector.index,
        text=text,
        start=start,
        end=end,
        removes=sum(values.values()),
        seen=tuple(Seen(names, number) for names, number in known[:_SEEN]),
        more=sum(number for _, number in known[_SEEN:]),
    )


@dataclass(frozen=True, slots=True)
class Behind:
    """How classes stand to devices on which a selector fails.

    Only classes that let some of the devices through that are meant: ``keeping`` let none of the failing ones through,
    ``passing`` some.
    """

    keeping: tuple[str, ...]
    passing: tuple[str, ...]


def behind_classes(setting: Setting, failing: Sequence[ScopedDevice], meant: Sequence[ScopedDevice]) -> Behind:
    """Every class that compiles, tried on the failing devices and on those that are meant."""
    keeping: list[str] = []
    passing: list[str] = []
    for name, device_class in setting.classes.items():
        selectors = SelectorSet.of_class(device_class, setting.state.features.shows_sharing)
        if selectors.problem is not None or not _let_through(selectors, meant):
            continue
        (passing if any(selectors.matches(m.driver, m.device) for m in failing) else keeping).append(name)
    return Behind(tuple(keeping), tuple(passing))


def _let_through(selectors: SelectorSet, members: Iterable[ScopedDevice]) -> bool:
    """Whether they match any of the devices before they fail on one."""
    outcomes = (selectors.of(member.driver, member.device).outcome for member in members)
    return next((o for o in outcomes if o in (Outcome.MATCHES, Outcome.ERROR)), None) is Outcome.MATCHES


def failing_searches(
    setting: Setting,
    classes: Iterable[str],
    claim_for: Callable[[str], ResourceClaim],
    is_ours: Callable[[SelectorFailed], bool],
    failing: Mapping[DeviceId, tuple[ScopedDevice, bool]],
) -> Iterator[FailingSearch]:
    """For each class the first node by name on which the search ends with an error that is ours.

    Up to two per class: one that ends at a device that is meant, one that ends at another.
    ``failing``: the devices in scope on which the selectors fail, and whether each is outside of those meant.
    """
    kinds = {outside for _, outside in failing.values()}
    for name in list(classes)[:_MAX_TRIED]:
        said: set[bool] = set()
        ended = ended_by_selectors(setting.state, setting.cluster, claim_for(name), setting.where.node)
        for node, error, message in ended:
            if error.device in failing and is_ours(error):
                member, outside = failing[error.device]
                if outside not in said:
                    said.add(outside)
                    yield FailingSearch(name, node, str(error.device), member.state, outside, message)
            if said == kinds:
                break
