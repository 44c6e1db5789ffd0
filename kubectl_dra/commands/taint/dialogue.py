"""From a plan to writes: preview, question, second reading, and exactly the writes that were shown.

Nothing is written on a plan that differs from the one that was agreed to; it is shown anew instead.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from kubectl_dra.commands.shared.address import completed
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document
from kubectl_dra.commands.taint.planning import TaintPlanner, write_plan
from kubectl_dra.commands.taint.watch import controllers_word, wait_for_eviction
from kubectl_dra.commands.taint.words import TaintArgs
from kubectl_dra.model.taint_plan import TaintPlan, Verb
from kubectl_dra.model.taint_text import NO_EXECUTE
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import Safe, command, fmt
from kubectl_dra.output.taints.plan_page import plan_page
from kubectl_dra.output.taints.results import (
    change_lines,
    comparison_lines,
    done_line,
    has_effect_none,
    present_lines,
    rule_reference,
    truth_text,
)
from kubectl_dra.output.words import counted
from kubectl_dra.reports.invocations import (
    changing,
    dra,
    kubectl,
    of,
    of_device,
    plain_word,
    shell_line,
    try_dra,
    try_kubectl,
)
from kubectl_dra.reports.taints import taint_observation
from kubectl_dra.reports.taints.taint_plan import with_effect
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live.errors import ApiError
from kubectl_dra.source.live.write import WriteOutcome, WriteState, carry_out, read_rule

NO_SCHEDULE: Final = "NoSchedule"
_QUESTIONS: Final = {Verb.CREATE: "Create it?", Verb.PATCH: "Change it?", Verb.DELETE: "Delete it?"}
# Without anybody to ask, a cluster that changes between every two readings is left alone.
_ATTEMPTS: Final = 3
_LIST: Final = try_dra("taint-device", "--list")


class Consent(StrEnum):
    """What the user wants done with a plan."""

    ALL = "all"
    STEPS = "steps"
    NOTHING = "nothing"


class Dialogue:
    def __init__(self, options: Options, asked: TaintArgs, planner: TaintPlanner) -> None:
        self._options = options
        self._asked = asked
        self._planner = planner
        self._terminal = console(options)
        self._outcomes: list[WriteOutcome] = []
        self._shown: list[Safe] = []

    def run(self, plan: TaintPlan) -> int:
        """Carry the dialogue through; returns the exit code."""
        if self._asked.observe and not self._observe():
            return ExitCode.ERROR
        plan, choice = self._agree(plan, steps=not self._asked.yes and offers_steps(plan))
        if choice is Consent.NOTHING:
            return self._nothing()
        if choice is Consent.STEPS:
            return self._second_step(plan)
        return self._finish(self._carry_out(plan))

    # --- agreeing ---------------------------------------------------------------------------------------------------

    def _agree(self, plan: TaintPlan, steps: bool = False, effect: str = "") -> tuple[TaintPlan, Consent]:
        """A plan that was shown, agreed to, and found unchanged by a second reading."""
        attempts = 0
        while plan.writes:
            attempts += 1
            if self._asked.yes and attempts > _ATTEMPTS:
                raise CommandError("the affected pods keep changing: nothing was written", "the same without -y")
            self._planner.check(plan)
            self._preview(plan)
            choice = Consent.ALL if self._asked.yes else self._ask(plan, steps)
            if choice is Consent.NOTHING:
                return plan, choice
            again = self._planner.plan(effect)
            if again.substance == plan.substance:
                return again, choice
            self._say_changes(plan, again)
            plan = again
        return plan, Consent.ALL

    def _preview(self, plan: TaintPlan) -> None:
        self._shown = plan_page(
            plan, self._planner.missing, self._planner.notes(), self._planner.state.evidence.address
        )
        for line in self._shown:
            self._terminal.note(line)

    def _ask(self, plan: TaintPlan, steps: bool) -> Consent:
        self._terminal.note(Safe(""))
        choice = self._ask_steps() if steps else Consent.ALL
        if choice is Consent.NOTHING:
            return choice
        if (asked := self._planner.to_type(plan)) is not None:
            number, what = asked
            typed = self._terminal.ask(fmt("Type the number of {} above to go on:", Safe(what)))
            return choice if typed == str(number) else Consent.NOTHING
        if steps:
            return choice
        return Consent.ALL if self._yes(f"{_QUESTIONS[plan.writes[0].verb]} [y/N]") else Consent.NOTHING

    def _ask_steps(self) -> Consent:
        self._terminal.note(Safe("Safer in two steps: first NoSchedule, so that no new pod gets it meanwhile."))
        word = self._terminal.ask(Safe("[t]wo steps, [a]ll at once, [N]othing?")).lower()
        if word in ("t", "two", "two steps"):
            return Consent.STEPS
        return Consent.ALL if word in ("a", "all", "all at once") else Consent.NOTHING

    def _yes(self, question: str) -> bool:
        return self._terminal.ask(Safe(question)).lower() in ("y", "yes")

    def _say_changes(self, before: TaintPlan, after: TaintPlan) -> None:
        self._terminal.note(Safe("Meanwhile this has changed, so nothing was written:"))
        for line in change_lines(before, after):
            self._terminal.note(Safe("  ") + line)
        self._terminal.note(Safe(""))

    # --- writing ----------------------------------------------------------------------------------------------------

    def _carry_out(self, plan: TaintPlan) -> TaintPlan:
        """Write; after a conflict agree again. The plan that was carried out. Raises CommandError."""
        for _ in range(_ATTEMPTS):
            outcomes = self._write(plan)
            failed = next((outcome for outcome in outcomes if not outcome.done), None)
            if failed is None:
                return plan
            if failed.state is not WriteState.CONFLICT:
                raise failure(failed, outcomes)
            self._terminal.note(
                fmt("The rules were changed by someone else first: {}.", truth_text(failed.write, failed.now))
            )
            plan, choice = self._agree(self._planner.plan(plan.taint.effect), effect=plan.taint.effect)
            if choice is Consent.NOTHING:
                raise CommandError("nothing more was written", _LIST)
        raise CommandError("the same rules keep changing under other hands", _LIST)

    def _write(self, plan: TaintPlan) -> tuple[WriteOutcome, ...]:
        """The writes of a plan; each is told when it is done, and an interruption says what it left open."""
        before = len(self._outcomes)
        try:
            return carry_out(self._planner.source.live, plan, self._report)
        except KeyboardInterrupt:
            done = len(self._outcomes) - before
            if done < len(plan.writes):
                text = "Interrupted: {} of {} written; whether rule {} was is not known: {}"
                look = completed(try_kubectl("get", "devicetaintrules"), self._options)
                count = counted(len(plan.writes), "rule")
                self._terminal.note(fmt(text, done, count, plan.writes[done].name, look))
            raise

    def _report(self, outcome: WriteOutcome) -> None:
        self._outcomes.append(outcome)
        if outcome.done and not is_document(self._options):
            only_name = self._options.output == "name"
            self._terminal.out(rule_reference(outcome.write.name) if only_name else done_line(outcome.write))
        if outcome.state is WriteState.CONFIRMED and outcome.error is not None:
            self._terminal.note(fmt("warning: {}; but it was done", outcome.error.what))

    def _finish(self, plan: TaintPlan) -> int:
        if is_document(self._options):
            self._write_document(plan)
        elif not plan.writes:
            for line in present_lines(plan, only_names=self._options.output == "name"):
                self._terminal.out(line)
        if self._asked.wait:
            wait_for_eviction(self._planner.source.live, plan, self._asked.timeout, self._terminal)
        return ExitCode.OK

    def _write_document(self, plan: TaintPlan) -> None:
        outcomes = [{"rule": each.write.name, "verb": each.write.verb, "state": each.state} for each in self._outcomes]
        write_plan(self._options, self._planner, plan, self._shown, outcomes)

    def _nothing(self) -> int:
        self._terminal.note(Safe("Nothing was written."))
        return ExitCode.ERROR

    # --- two steps --------------------------------------------------------------------------------------------------

    def _second_step(self, agreed: TaintPlan) -> int:
        """NoSchedule as the first step of what was agreed to, then NoExecute with a preview of its own."""
        first = with_effect(agreed, NO_SCHEDULE)
        self._carry_out(first)
        self._terminal.note(Safe(""))
        try:
            second, choice = self._agree(self._planner.plan(NO_EXECUTE), effect=NO_EXECUTE)
        except KeyboardInterrupt:
            self._say_first_step_stays(first)
            raise
        if choice is Consent.NOTHING:
            self._say_first_step_stays(first)
            return ExitCode.ERROR
        return self._finish(self._carry_out(second))

    def _line(self, words: tuple[str, ...] | None) -> Safe | None:
        """A command that changes the same cluster, as it is printed."""
        return command(changing(words, self._planner.state.evidence.address))

    def _say_first_step_stays(self, first: TaintPlan) -> None:
        devices = [device.id for device in first.devices]
        undo = self._line(dra("taint-device", of_device(devices[0]), plain_word(f"{first.taint.key}-")))
        self._terminal.note(Safe(""))
        stays = fmt("Nobody is evicted. NoSchedule stays on {}", counted(len(devices), "device"))
        self._terminal.note(stays + (fmt("; to remove it: {}", undo) if undo and len(devices) == 1 else Safe("")))

    # --- observing --------------------------------------------------------------------------------------------------

    def _observe(self) -> bool:
        """Let the controller count; whether to go on."""
        planner, source = self._planner, self._planner.source
        while True:
            plan = planner.plan(NO_EXECUTE)
            if not has_effect_none(source.api_version, planner.state.evidence.server_version):
                raise CommandError(f"{source.api_version} of this server has no effect None", "leave out --observe")
            counting = taint_observation.observation(plan, source.api_version)
            self._check_free(counting)
            planner.check(counting)
            self._preview(counting)
            self._terminal.note(Safe("It will be deleted as soon as the controller has counted."))
            if not (self._asked.yes or self._yes("\nCreate it for counting? [y/N]")):
                self._nothing()
                return False
            again = planner.plan(NO_EXECUTE)
            if again.substance == plan.substance:
                break
            self._say_changes(plan, again)
        return self._count(counting, again)

    def _check_free(self, counting: TaintPlan) -> None:
        name, device = counting.writes[0].name, counting.devices[0].id
        if name in self._planner.state.inventory.taint_rules:
            what = f"rule {name} exists: another count is running, or one was interrupted"
            end = try_dra("taint-device", of_device(device), plain_word(f"{counting.taint.key}:None-"))
            raise CommandError(what, end.then(" removes it") if end else try_dra("get", "taints"))

    def _count(self, counting: TaintPlan, plan: TaintPlan) -> bool:
        source, state = self._planner.source, self._planner.state
        session = source.live
        try:
            (created,) = carry_out(session, counting)
            if not created.done:
                raise failure(created, (created,))
            condition = controllers_word(session, source.api_version, created.write.name)
        finally:
            # Also when the user interrupts, whether or not the answer had come: it was only to be there for a moment.
            self._end_counting(counting)
        if condition is None:
            self._terminal.note(Safe("The controller has not counted: is it running, with its feature gate on?"))
            return not self._asked.yes
        counts = taint_observation.counts_of(condition)
        if counts is None:
            self._terminal.note(fmt("The controller says: {}", condition.message))
            return not self._asked.yes
        expected = taint_observation.expected_counts(plan, state)
        agree = taint_observation.agrees(counts, expected, plan)
        for line in comparison_lines(counts, expected, agree):
            self._terminal.note(line)
        self._terminal.note(Safe(""))
        return agree or not self._asked.yes

    def _end_counting(self, counting: TaintPlan) -> None:
        session, planned = self._planner.source.live, counting.writes[0]
        left = True
        try:
            rule = read_rule(session, planned.api_version, planned.name)
            if rule is None or not taint_observation.is_counting(rule, counting):
                left = False
                return
            left = not all(
                outcome.done for outcome in carry_out(session, taint_observation.end_of_observation(counting, rule))
            )
        except ClusterError:
            left = True
        finally:
            # Also for whoever does not want to wait for the answer.
            if left:
                removing = self._line(kubectl("delete", of("devicetaintrule", planned.name))) or Safe("remove it")
                text = "warning: rule {} may still be there, without effect: {}"
                self._terminal.note(fmt(text, planned.name, removing))


def offers_steps(plan: TaintPlan) -> bool:
    """Only a new NoExecute has a first step: a rule that is there already keeps new claims away."""
    evicting = not plan.removal and plan.taint.effect == NO_EXECUTE
    return evicting and all(each.verb is Verb.CREATE for each in plan.writes)


def failure(failed: WriteOutcome, outcomes: tuple[WriteOutcome, ...]) -> CommandError:
    """What went wrong, and what is true now."""
    error = failed.error
    what = error.what if error is not None else "the write failed"
    name = failed.write.name
    if failed.state is WriteState.UNKNOWN:
        truth = fmt("whether rule {} was written is not known", name)
    else:
        truth = fmt("now {}", truth_text(failed.write, failed.now))
        if not isinstance(error, ApiError):
            truth += Safe(", but the request may still arrive")
    done = sum(outcome.done for outcome in outcomes)
    if len(outcomes) > 1:
        truth += fmt("; {} of {} written", done, counted(len(outcomes), "rule"))
    look = shell_line(kubectl("get", of("devicetaintrule", name)), ("kubectl", "get", "devicetaintrules"))
    return CommandError(fmt("{}: {}", what, truth), look.then("; then the same again"))
