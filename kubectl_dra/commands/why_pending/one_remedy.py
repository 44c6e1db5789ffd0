"""``why-pending --remedy N``: the commands of one way out and nothing else, for a shell."""

from __future__ import annotations

from kubectl_dra.api.kinds import BY_NAME, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import console
from kubectl_dra.commands.shared.types import ObjectArgs
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.invocation import Address, CommandLine
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.pending.remedies import numbered_steps, recorded_lines, remedy_text
from kubectl_dra.output.safe import Safe, command, fmt, safe
from kubectl_dra.output.unread import lacking_lines, unread_sentence
from kubectl_dra.output.words import counted
from kubectl_dra.reports.invocations import dra, of, shell_line, try_dra, try_kubectl, within
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from kubectl_dra.source.rehearsal import rehearse

_JSON = "-o json has the ways out in .remedies, N at index N-1"


def check_dry_run(options: Options, number: int | None) -> None:
    """Raises a usage error for a dry run of nothing, or of a file."""
    if number is None:
        raise UsageProblem(
            "--dry-run is about one way out", try_dra("why-pending", "POD", "--remedy", "N", "--dry-run=server")
        )
    if options.from_ is not None:
        raise UsageProblem("--dry-run=server needs a live cluster", "leave out --from")


def check_single(options: Options, targets: ObjectArgs, *, remedies: bool) -> None:
    """Raises a usage error for words and options that don't go with the number of a way out."""
    if targets.single is None or targets.single.kind is RESOURCE_CLAIM:
        raise UsageProblem("--remedy is about one pod", try_dra("why-pending", "POD", "--remedy", "N"))
    if remedies:
        raise UsageProblem("--remedy and --remedies cannot be combined", "leave out --remedies")
    if options.watch:
        raise UsageProblem("--remedy and -w cannot be combined", "leave out -w")
    if options.output:
        raise UsageProblem(f"--remedy and -o {options.output} cannot be combined", _JSON)


def one_remedy(options: Options, report: PendingReport, number: int, address: Address, *, dry_run: bool = False) -> int:
    """Print way out ``number`` of a pod; returns the exit code. Raises ``CommandError`` where it has no commands.

    ``dry_run``: what the server would say of each command, instead of the commands.
    """
    ref, found = report.pod, report.remedies
    look = shell_line(dra("why-pending", of("pod", ref.name, ref.namespace)), ("kubectl", "dra", "why-pending", "-A"))
    decisive = [each for each in report.missing if each.decides]
    if not found and decisive:
        text = f"ways out of pod {ref.key} are unknown: {unread_sentence(decisive)}"
        raise CommandError(text, _right(decisive[0]), details=lacking_lines(decisive, address))
    if number > len(found):
        has = f"{counted(len(found), 'way')} out, not {number}" if found else "no way out"
        raise CommandError(f"pod {ref.key} has {has}", look)
    lines = numbered_steps(number, found[number - 1])
    if not lines:
        text = remedy_text(found[number - 1])
        templates = [each for each in report.missing if each.kind == RESOURCE_CLAIM_TEMPLATE.name]
        if templates:
            what = f"way out {number} of pod {ref.key} ({text}) may need a ResourceClaimTemplate that could not be read"
            right = try_kubectl("auth", "can-i", "list", RESOURCE_CLAIM_TEMPLATE.resource, within(ref.namespace))
            raise CommandError(what, right, details=lacking_lines(templates, address))
        raise CommandError(f"way out {number} of pod {ref.key} has no command: {text}", look)
    if dry_run:
        return _rehearsed(options, found[number - 1])
    for line in (*recorded_lines(address), *lines):
        console(options).out(line)
    return ExitCode.OK


def _right(missing: Missing) -> CommandLine:
    """What shows whether the right is there; kinds of other projects are in none of our lists."""
    kind = BY_NAME.get(missing.kind)
    scope = within(missing.namespace) if missing.namespace else ("-A",) if kind is not None and kind.namespaced else ()
    resource = f"{missing.rule.resource}.{missing.rule.api_group}".rstrip(".")
    return try_kubectl("auth", "can-i", "list", resource, scope)


def _rehearsed(options: Options, remedy: RemedyReport) -> int:
    """What the server would say of each command; exit code 1 where it would refuse one."""
    told = console(options)
    for step in remedy.steps:
        for each in rehearse(step.commands, step.manifest):
            line = command(each.words)
            assert line is not None  # noqa: S101 - it has just been printable
            if not each.tried:
                told.out(fmt("not tried: {}", line))
                continue
            for text in each.said.splitlines():
                (told.out if each.accepted else told.note)(safe(text))
            if not each.accepted:
                told.note(fmt("refused: {}", line))
                return ExitCode.ERROR
    told.out(Safe("The server accepts every command that can be tried; nothing was changed."))
    return ExitCode.OK
