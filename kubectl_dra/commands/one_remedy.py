"""``why-pending --remedy N``: the commands of one way out and nothing else, for a shell."""

from __future__ import annotations

from kubectl_dra.api.kinds import RESOURCE_CLAIM
from kubectl_dra.commands.errors import CommandError, UsageProblem
from kubectl_dra.commands.options import Options
from kubectl_dra.commands.show import console
from kubectl_dra.commands.types import Targets
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.output.pending.remedies import numbered_steps, recorded_lines, remedy_text
from kubectl_dra.output.words import counted
from kubectl_dra.reports.invocations import dra, of, shell_line, try_dra
from kubectl_dra.reports.pending import PendingReport

_JSON = "-o json has the ways out in .remedies, N at index N-1"


def check_single(options: Options, targets: Targets, *, remedies: bool) -> None:
    """Raises a usage error for words and options that don't go with the number of a way out."""
    if targets.single is None or targets.single.kind is RESOURCE_CLAIM:
        raise UsageProblem("--remedy is about one pod", try_dra("why-pending", "POD", "--remedy", "N"))
    if remedies:
        raise UsageProblem("--remedy and --remedies exclude each other", "leave out --remedies")
    if options.watch:
        raise UsageProblem("--remedy and -w exclude each other", "leave out -w")
    if options.output:
        raise UsageProblem(f"--remedy and -o {options.output} exclude each other", _JSON)


def one_remedy(options: Options, report: PendingReport, number: int, address: Address) -> int:
    """Print way out ``number`` of a pod; returns the exit code. Raises ``CommandError`` where it has no commands."""
    ref, found = report.pod, report.remedies
    look = shell_line(dra("why-pending", of("pod", ref.name, ref.namespace)), ("kubectl", "dra", "why-pending", "-A"))
    if number > len(found):
        has = counted(len(found), "way") + " out" if found else "no way out"
        raise CommandError(f"pod {ref.key} has {has}, there is no number {number}", look)
    lines = numbered_steps(number, found[number - 1])
    if not lines:
        text = remedy_text(found[number - 1])
        raise CommandError(f"way out {number} of pod {ref.key} has no command: {text}", look)
    for line in (*recorded_lines(address), *lines):
        console(options).out(line)
    return ExitCode.OK
