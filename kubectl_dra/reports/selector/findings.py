"""What was found on the devices that are meant: conditions that removed some, errors, names that some or all lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.reports.selector.records import Clause, DomainUse, Failure, NameUse, Seen
from kubectl_dra.reports.selector.scoping import ScopedDevice, Setting
from kubectl_dra.selectors.compiling import Compiled, Mention, near_names
from kubectl_dra.selectors.edits import path
from kubectl_dra.selectors.evaluate import Outcome, Reading, value_text
from kubectl_dra.selectors.rewrite import missing_key
from kubectl_dra.selectors.trial import SelectorTrial

_SEEN: Final = 20
_EXAMPLES: Final = 3
_POOLS: Final = 20


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
        """The errors, the most frequent first."""
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
        )

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
