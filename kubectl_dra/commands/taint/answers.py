"""What taint-device does: plan, dry run, preview, and then the dialogue; or the list of taints."""

from __future__ import annotations

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console, is_document, note_evidence, print_pages, write
from kubectl_dra.commands.shared.signals import signals_raise
from kubectl_dra.commands.shared.unread import code_of, noted_around, nothing_read
from kubectl_dra.commands.taint.planning import TaintPlanner, write_plan
from kubectl_dra.commands.taint.source import open_source
from kubectl_dra.commands.taint.words import TaintArgs, TaintWords, parse_words
from kubectl_dra.model.taint_plan import TaintPlan
from kubectl_dra.output.console import is_dialogue
from kubectl_dra.output.documents import list_bytes
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.safe import Safe
from kubectl_dra.output.taints.list_page import list_page, list_summary
from kubectl_dra.output.taints.plan_page import plan_page
from kubectl_dra.output.taints.results import dry_lines, present_lines, rule_reference
from kubectl_dra.output.unread import around
from kubectl_dra.reports.invocations import try_dra
from kubectl_dra.reports.taints.taint_list import listed_taints
from kubectl_dra.reports.taints.taint_plan import KINDS
from kubectl_dra.reports.unread import TAINTED_PODS, unread


def answer(options: Options, asked: TaintArgs) -> int:
    """Run the command; returns the exit code."""
    if asked.listing:
        return _list(options, asked)
    words = parse_words(asked.words, match=bool(asked.match))
    _check(options, asked, words)
    with open_source(options) as source:
        planner = TaintPlanner(source, words, asked.match, asked.force)
        plan = planner.plan()
        note_evidence(planner.state, options)
        if asked.dry_run == "server":
            planner.check(plan)
        if asked.dry_run != "none":
            return _show_plan(options, planner, plan, server=asked.dry_run == "server")
        from kubectl_dra.commands.taint.dialogue import Dialogue

        with signals_raise():
            return Dialogue(options, asked, planner).run(plan)


def _check(options: Options, asked: TaintArgs, words: TaintWords) -> None:
    """Combinations that make no sense, before anything is read."""
    planning = asked.dry_run != "none"
    if options.exit_code:
        raise UsageProblem("--exit-code is for --list: 3 if anything is tainted", "leave out --exit-code")
    if options.from_ is not None and asked.dry_run != "client":
        raise UsageProblem("nothing can be written to what --from names", "--dry-run=client shows the plan")
    for flag, given in (("--observe", asked.observe), ("--wait", asked.wait)):
        if given and planning:
            raise UsageProblem(f"{flag} needs a rule, which a dry run does not make", "leave out one of them")
        if given and words.removal:
            raise UsageProblem(f"{flag} is about eviction, which a removal ends", f"leave out {flag}")
    if asked.force and not words.removal:
        raise UsageProblem("--force is for the removal of rules that others made", "KEY- --force")
    if asked.observe and (len(words.devices) != 1 or words.is_several):
        raise UsageProblem("--observe counts for one device", "name one device")
    if not planning:
        _check_consent(asked, several=bool(asked.match) or words.is_several)


def _check_consent(asked: TaintArgs, several: bool) -> None:
    """Somebody must have seen what will be written."""
    if asked.yes and several:
        raise UsageProblem("-y is for one device: of several the number has to be typed in", "leave out -y")
    if not asked.yes and not is_dialogue():
        hint = "--dry-run=server shows the plan" if several else "-y to write without a question, or --dry-run=server"
        raise UsageProblem("there is no terminal to ask on", hint)


# --- dry runs -------------------------------------------------------------------------------------------------------


def _show_plan(options: Options, planner: TaintPlanner, plan: TaintPlan, server: bool) -> int:
    terminal = console(options)
    page = plan_page(plan, planner.missing, planner.notes(), planner.state.evidence.address) if plan.writes else []
    lines = [*page, *([Safe("")] if page else []), *present_lines(plan), *dry_lines(plan, server)]
    if is_document(options):
        write_plan(options, planner, plan, page)
        return ExitCode.OK
    if options.output == "name":
        lines = [rule_reference(name) for name in (*plan.present, *(each.name for each in plan.writes))]
    for line in lines:
        terminal.out(line)
    return ExitCode.OK


# --- the list -------------------------------------------------------------------------------------------------------


def _list(options: Options, asked: TaintArgs) -> int:
    if asked != TaintArgs(listing=True, timeout=asked.timeout):
        raise UsageProblem(
            "--list takes no words and no other options", try_dra("get", "taints", "NAME").then(" shows one")
        )
    from kubectl_dra.commands.shared.cluster import read_cluster

    cluster = read_cluster(options, KINDS)
    note_evidence(cluster.state, options)
    state = cluster.state
    taints = listed_taints(state)
    found = unread(state, TAINTED_PODS, shown=bool(taints))
    if is_document(options):
        write(list_bytes("TaintList", list_summary(taints, found.bound), taints, missing=found.missing), options)
    elif not found.answered:
        raise nothing_read(found, options, state.evidence.address)
    elif options.output == "name":
        with noted_around(found.missing, options, state.evidence.address):
            for each in taints:
                if each.taint.rule:
                    console(options).out(rule_reference(each.taint.rule))
    else:
        page = list_page(taints, state.now, found.bound, state.evidence.address)
        print_pages([around(page, found.missing, state.evidence.address)], options)
    return code_of(found, options, state.evidence.address, bad=bool(taints))
