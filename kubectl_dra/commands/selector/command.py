"""``kubectl dra test-selector``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Expression, Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra test-selector 'device.driver == "gpu.example.com"'
  kubectl dra test-selector EXPR --class gpu.example.com  # behind that class
  kubectl dra test-selector EXPR --explain POOL/DEVICE    # sub-expressions
  kubectl dra test-selector -f claim.yaml --exit-code     # all its selectors"""


@click.command("test-selector", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), filename=True, exit_code=True, output=("wide", "json", "yaml"), text=True)
@click.option("--class", "device_class", default=None, metavar="NAME", help="As a request for this DeviceClass.")
@click.option("--driver", default=None, metavar="NAME", help="Only devices of this driver.")
@click.option("--pool", default=None, metavar="[DRIVER/]POOL", help="Only devices of this pool.")
@click.option("--node", default=None, metavar="NAME", help="Only devices that this node can use.")
@click.option(
    "--explain",
    default=None,
    metavar="DRIVER/POOL/DEVICE",
    help="Show what each sub-expression evaluates to on one device.",
)
@click.option("--cross-check", is_flag=True, help="Compare with an independent CEL engine.")
@click.option("-i", "--interactive", is_flag=True, help="Open it in the selector lab of the terminal UI.")
@click.argument("words", nargs=-1, type=Expression(), metavar="[EXPR]")
def command(
    options: Options,
    cross_check: bool,
    interactive: bool,
    device_class: str | None,
    driver: str | None,
    pool: str | None,
    node: str | None,
    explain: str | None,
    words: tuple[str, ...],
) -> int:
    """Try a device selector on real devices before anyone uses it: what it matches, and where it fails.

    With -f: every selector of claims, templates and classes in a file. With --class the selectors of the class come
    first, as for a request.
    """
    if interactive:
        from kubectl_dra.commands.tui.answers import start_lab

        return start_lab(options, words, device_class)
    from kubectl_dra.commands.selector.answers import SelectorArgs, answer

    return answer(options, SelectorArgs(words, device_class, driver, pool, node, explain, cross_check))
