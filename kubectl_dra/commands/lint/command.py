"""``kubectl dra lint``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

import dataclasses
from typing import Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra lint -f trainer.yaml
  kubectl dra lint all.yaml --devices demo     # selectors on devices
  kubectl dra lint all.yaml -o sarif > x.sarif # for code scanning
  kubectl dra lint *.yaml -o github            # annotations of a pull request"""


@click.command("lint", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), filename=True, output=("json", "yaml", "sarif", "github"), text=True)
@click.option(
    "--devices",
    multiple=True,
    metavar="FILE",
    help="Try selectors on the devices of a snapshot or manifest, as --from does; may be repeated.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "never"]),
    default="error",
    help="Exit with 1 if there is a finding of this severity or worse.",
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(options: Options, devices: tuple[str, ...], fail_on: str, files: tuple[str, ...]) -> int:
    """Check manifests without a cluster: fields, versions, selectors, names across files.

    Finds what a server would refuse or drop, claims that no container uses, templates in another namespace. Exits
    with 1 if there is an error, so that it can guard commits and pull requests.
    """
    options = dataclasses.replace(options, filenames=(*options.filenames, *files))
    if not options.manifests:
        raise UsageProblem("nothing to check", "kubectl dra lint -f FILE")
    if options.kustomize and files:
        raise UsageProblem("files and -k can't be combined", "leave one of them out")
    from kubectl_dra.commands.lint.answers import answer

    return answer(options, devices, fail_on)
