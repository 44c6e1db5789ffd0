"""The options of ``kubectl dra describe-…``. What it does with them stands in the modules that end in ``answers``."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import TEMPLATES, Options, scope_options, shared_options

_POOL: Final = """\b
Examples:
  kubectl dra describe-pool                          # all pools with totals
  kubectl dra describe-pool mig.example.com/cpu-2    # one pool, every device
  kubectl dra describe-pool cpu-2                    # of every driver
  kubectl dra describe-pool cpu-2 -o wide            # every attribute"""
_CLAIM: Final = """\b
Examples:
  kubectl dra describe-claim serve-0-net -n ml
  kubectl dra describe-claim serve-0-net -n ml -o yaml
  kubectl dra get claims -A --unused          # which ones nobody uses"""
_GROUP: Final = """\b
Examples:
  kubectl dra describe-podgroup train -n ml
  kubectl dra describe-podgroup train -n ml -o yaml
  kubectl dra why-pending podgroup/train -n ml   # why it waits"""
_NODE: Final = """\b
Examples:
  kubectl dra describe-node cpu-2
  kubectl dra describe-node cpu-2 -o wide
  kubectl dra get nodes                      # all nodes, one line each"""


@click.command("describe-pool", cls=KubectlStyle, epilog=_POOL)
@shared_options(scope=(), exit_code=True, output=("wide", "json", "yaml"), text=True)
@click.argument("names", nargs=-1, metavar="[[DRIVER/]POOL]...")
def pool(options: Options, names: tuple[str, ...]) -> int:
    """Show pools of devices: whether the scheduler can use them, what is free, tainted or taken, and by whom.

    Without a name: every pool with its totals. A name that several drivers use shows the pools of all of them.
    """
    from kubectl_dra.commands.describe.pool_answers import describe_pools

    return describe_pools(options, names)


@click.command("describe-claim", cls=KubectlStyle, epilog=_CLAIM)
@shared_options(scope=scope_options(everywhere=False), exit_code=True, output=("wide", "json", "yaml"), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def claim(options: Options, names: tuple[str, ...]) -> int:
    """Show ResourceClaims: what they request and hold, who uses them, what drivers report and were configured with."""
    from kubectl_dra.commands.describe.object_answers import describe_claims

    return describe_claims(options, names)


@click.command("describe-podgroup", cls=KubectlStyle, epilog=_GROUP)
@shared_options(scope=scope_options(everywhere=False), exit_code=True, output=("json", "yaml"), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def podgroup(options: Options, names: tuple[str, ...]) -> int:
    """Show PodGroups: how many pods they need, which run where, the claims they share, what the scheduler said."""
    from kubectl_dra.commands.describe.object_answers import describe_groups

    return describe_groups(options, names)


@click.command("describe-node", cls=KubectlStyle, epilog=_NODE)
@shared_options(scope=(), exit_code=True, output=("wide", "json", "yaml", *TEMPLATES), text=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def node(options: Options, names: tuple[str, ...]) -> int:
    """Show nodes: the devices of all drivers that each can use, their state, and which pods hold them."""
    from kubectl_dra.commands.describe.node_answers import describe_nodes

    return describe_nodes(options, names)
