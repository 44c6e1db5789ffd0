"""``kubectl dra convert``: manifests of any generation as objects of today's API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, one_of, shared_options
from kubectl_dra.reports.invocations import try_dra

if TYPE_CHECKING:
    from kubectl_dra.reports.conversion import ConversionReport

_TARGETS: Final = ("v1", "v1beta2", "v1beta1")
_EXAMPLES: Final = """\b
Examples:
  kubectl dra convert -f old.yaml > new.yaml
  kubectl dra convert -f - --to v1beta1 < claim.yaml
  kubectl dra convert -f manifests.yaml --exit-code -o json"""


@click.command("convert", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), filename=True, exit_code=True, output=("json", "yaml"))
@click.option(
    "--to",
    "--output-version",
    "target",
    default="v1",
    metavar="VERSION",
    shell_complete=one_of(_TARGETS),
    help=f"Version of resource.k8s.io to convert to: {', '.join(_TARGETS)}.",
)
def command(options: Options, target: str) -> int:
    """Convert DRA manifests between API versions, from the first prototype to v1, and report what is lost.

    Objects refer to each other: give those that belong together in one file. What can't be carried over, and what a
    server would refuse, is said on stderr; manifests that mix API versions are corrected first.
    """
    if not options.manifests:
        raise UsageProblem("nothing to convert", try_dra("convert", "-f", "FILE"))
    version = target.removeprefix("resource.k8s.io/")
    if version not in _TARGETS:
        raise UsageProblem(f'can\'t convert to "{target}"', f"--to takes {', '.join(_TARGETS)}")
    return _convert(options, version)


def _convert(options: Options, version: str) -> int:
    from kubectl_dra.api.sources import Source
    from kubectl_dra.commands.shared.manifests import objects_of
    from kubectl_dra.commands.shared.show import console
    from kubectl_dra.output.conversion import notes
    from kubectl_dra.output.exit_codes import ExitCode, finding_code
    from kubectl_dra.reports.conversion import conversion_report

    found = objects_of(options, patches=True)
    sources = [Source(each.data, each.api_version, each.kind) for each in found.objects]
    # Where each stands is not asked any more; there may be very many.
    found.objects.clear()
    report = conversion_report(sources, version)
    for line in notes(report, version):
        console(options).note(line)
    if sources:
        _write(report, options)
    if report.unreadable or found.problems:
        return ExitCode.ERROR
    return finding_code(asked=options.exit_code, bad=not report.clean)


def _write(report: ConversionReport, options: Options) -> None:
    """YAML documents one after the other, as they are applied; JSON as one object or a List."""
    from kubectl_dra.output.console import write_text
    from kubectl_dra.output.documents import OBJECTS_HEAD, to_yaml, write_document, write_list

    objects = report.objects
    if options.output != "json":
        for number, data in enumerate(objects):
            write_text(("---\n" if number else "") + to_yaml(data))
    elif len(objects) == 1:
        write_document(objects[0], "json")
    else:
        write_list(OBJECTS_HEAD, objects, "json")
