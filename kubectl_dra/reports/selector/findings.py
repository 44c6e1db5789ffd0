"""What was found on the devices that are meant: conditions that removed some, errors, names that some or all lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_dra.cel.mentions import Mention, Word, mentions
from kubectl_dra.cel.printer import string_source
from kubectl_dra.reports.selector.compiling import Compiled, near_names
from kubectl_dra.reports.selector.edits import selection
from kubectl_dra.reports.selector.judging import Judged, has_name
from kubectl_dra.reports.selector.records import Clause, DomainUse, Failure, NameUse, Outcome, Seen
from kubectl_dra.reports.selector.rewrites import missing_key
from kubectl_dra.reports.selector.scoping import Member, Setting, by_pool

_SEEN: Final = 20
_EXAMPLES: Final = 3
_POOLS: Final = 20


@dataclass(frozen=True)
class Findings:
    """The selectors, of which the first ``class_selectors`` are a class's, what the others name, and the devices.

    ``meant`` are devices with what became of them; ``meant_members`` are there even if nothing could be evaluated.
    """

    setting: Setting
    selectors: Sequence[Compiled]
    class_selectors: int
    mentions: Sequence[Mention]
    meant: Sequence[tuple[Member, Judged]]
    meant_members: Sequence[Member]

    def clauses(self) -> Iterator[Clause]:
        """The conditions in order, with what each removed; those of the class only if they removed something."""
        seen: dict[tuple[int, int], Counter[tuple[tuple[str, str | None], ...]]] = {}
        for _, judged in self.meant:
            if judged.outcome is Outcome.NO:
                seen.setdefault((judged.selector, judged.clause), Counter())[judged.seen] += 1
        for number, selector in enumerate(self.selectors):
            for index, (clause, _) in enumerate(selector.clauses):
                values = seen.get((number, index), Counter())
                if number >= self.class_selectors or values:
                    yield _clause(selector, clause.text, clause.start, clause.end, values)

    def failures(self) -> Iterator[Failure]:
        """The errors, the most frequent first."""
        groups: dict[tuple[int, str, int], list[Member]] = {}
        for member, judged in self.meant:
            if judged.outcome is Outcome.FAILS:
                groups.setdefault((judged.selector, judged.error, judged.place), []).append(member)
        for (number, error, place), members in sorted(groups.items(), key=lambda item: -len(item[1])):
            yield self._failure(number, error, place, members)

    def _failure(self, number: int, error: str, place: int, members: Sequence[Member]) -> Failure:
        selector = self.selectors[number]
        key = missing_key(error)
        mention = self._missing_mention(selector, key, members[0]) if key is not None else None
        word = self._wrong_word(mention) if mention is not None else None
        return Failure(
            device_class=selector.device_class,
            index=selector.index,
            error=error,
            offset=word.start if word is not None else place,
            length=word.end - word.start if word is not None else 1,
            devices=len(members),
            skipped=sum(member.skipped for member in members),
            examples=tuple(str(member.id) for member in members[:_EXAMPLES]),
            key=key,
            near=self._near(mention) if mention is not None else (),
        )

    @staticmethod
    def _missing_mention(selector: Compiled, key: str, member: Member) -> Mention | None:
        """The first mention of a name that the device does not have."""
        assert selector.program is not None  # noqa: S101 - it was evaluated
        for mention in mentions(selector.program.checked.parsed):
            named = mention.name is not None and mention.name.text == key and not mention.guarded
            if named and not has_name(member, mention.field, mention.domain.text, key):
                return mention
        return None

    def _wrong_word(self, mention: Mention) -> Word | None:
        """The domain if no device has it, else the name."""
        return mention.name if mention.domain.text in self.setting.catalog.domains else mention.domain

    def _near(self, mention: Mention) -> tuple[str, ...]:
        """Names that exist, if the one mentioned does not exist at all."""
        catalog = self.setting.catalog
        if mention.domain.text not in catalog.domains:
            return near_names(mention.domain.text, catalog.domains)[:1]
        if mention.name is None or catalog.counts[mention.field, mention.domain.text, mention.name.text]:
            return ()
        other = "capacity" if mention.field == "attributes" else "attributes"
        if catalog.counts[other, mention.domain.text, mention.name.text]:
            domain = string_source(mention.domain.text)
            return (f"device.{other}[{domain}]{selection(mention.name.text)}",)
        return near_names(mention.name.text, catalog.names(mention.field, mention.domain.text))

    # --- names --------------------------------------------------------------------------------------------------------

    def names(self) -> Iterator[NameUse]:
        """The attributes and capacities that the selectors name."""
        uses: dict[tuple[str, str, str], list[Mention]] = {}
        for mention in self.mentions:
            if mention.name is not None:
                uses.setdefault((mention.field, mention.domain.text, mention.name.text), []).append(mention)
        for (field, domain, name), found in uses.items():
            lacking = [m for m in self.meant_members if not has_name(m, field, domain, name)]
            pools = [str(pool) for pool in by_pool(lacking)]
            yield NameUse(
                field=field,
                domain=domain,
                name=name,
                have=len(self.meant_members) - len(lacking),
                of=len(self.meant_members),
                lacking=tuple(pools[:_POOLS]),
                more=max(0, len(pools) - _POOLS),
                guarded=all(mention.guarded for mention in found),
                near=self._near(found[0]),
            )

    def unknown_domains(self) -> Iterator[DomainUse]:
        """The domains that no device in scope has."""
        known = self.setting.catalog.domains
        for domain in dict.fromkeys(mention.domain.text for mention in self.mentions):
            if known and domain not in known:
                yield DomainUse(domain, near_names(domain, known)[:1])


def _clause(
    selector: Compiled, text: str, start: int, end: int, values: Counter[tuple[tuple[str, str | None], ...]]
) -> Clause:
    ranked = sorted(values.items(), key=lambda item: (-item[1], str(item[0])))
    known = [(dict(names), number) for names, number in ranked if names]
    return Clause(
        device_class=selector.device_class,
        index=selector.index,
        text=text,
        start=start,
        end=end,
        removes=sum(values.values()),
        seen=tuple(Seen(names, number) for names, number in known[:_SEEN]),
        more=sum(number for _, number in known[_SEEN:]),
    )
