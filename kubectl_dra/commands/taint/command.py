"""``kubectl dra taint-device``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import Any, Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Expression, Options, Timeout, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra taint-device nic.example.com/rack-1/nic-0 link:NoSchedule
  kubectl dra taint-device nic.example.com/rack-1/nic-0 link:NoExecute --wait
  kubectl dra taint-device nic.example.com/rack-1/nic-0 a:NoExecute --observe
  kubectl dra taint-device nic.example.com/rack-1/nic-0 link-    # remove it
  kubectl dra taint-device 'nic.example.com/rack-1/*' link:NoSchedule  # pool
  kubectl dra taint-device node/cpu-2 ecc:NoSchedule       # its pools
  kubectl dra taint-device --match EXPR link:NoSchedule    # each match
  kubectl dra taint-device --list"""


@click.command("taint-device", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), exit_code=True, output=("json", "yaml", "name"), text=True)
@click.option("--list", "listing", is_flag=True, help="Show all device taints and the affected pods.")
@click.option(
    "--match", default="", type=Expression(), metavar="EXPR", help="Taint all devices that a CEL selector matches."
)
@click.option(
    "--dry-run",
    type=click.Choice(["none", "client", "server"]),
    is_flag=False,
    flag_value="client",
    default="none",
    help="Show the plan and write nothing; server: let the server check it too.",
)
@click.option("-y", "--yes", is_flag=True, help="Don't ask; for one device only.")
@click.option("--observe", is_flag=True, help="First let the controller count what NoExecute would do (effect None).")
@click.option("--force", is_flag=True, help="Remove rules of others too.")
@click.option("--wait", is_flag=True, help="Follow the eviction until the pods are gone.")
@click.option("--timeout", type=Timeout(), default="5m", help="How long --wait waits; 0: without end. Default 5m.")
@click.argument("words", nargs=-1, metavar="[TARGET]... KEY[=VALUE]:EFFECT|KEY[:EFFECT]-")
def command(options: Options, **values: Any) -> int:  # noqa: ANN401 - the fields of TaintArgs
    """Taint devices with DeviceTaintRules, or remove such taints: NoSchedule keeps new claims away, NoExecute also
    evicts pods.

    TARGET is a device (DRIVER/POOL/DEVICE), a pool (DRIVER/POOL/*) or a node (node/NAME).

    A whole pool, and every pool of a node, get one rule each, which also holds for devices that they publish later; so
    does a match that all devices of a pool meet.

    Shows the rules it will write and the affected pods first, then asks. Only this command, and the screen for
    taints of tui, change anything in a cluster.
    """
    from kubectl_dra.commands.taint.answers import answer
    from kubectl_dra.commands.taint.words import TaintArgs

    return answer(options, TaintArgs(**values))
