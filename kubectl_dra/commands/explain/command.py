"""``kubectl dra explain``: the page of a reason, or the index of all of them."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options

_EXAMPLES: Final = """\b
Examples:
  kubectl dra explain          # every reason, and its message
  kubectl dra explain DRA-220  # what it means, how to confirm and fix it
  kubectl dra explain "resourceclaim not available"  # which"""


@click.command("explain", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=(), output=("name", "markdown"))
@click.argument("words", nargs=-1, metavar="[CODE | MESSAGE]")
def command(options: Options, words: tuple[str, ...]) -> int:
    """Explain a reason code: what you see, what it means, how to confirm it and how to fix it.

    Without a code: the index of all reasons with the message that leads to each. With words of a message instead of a
    code: the reasons that it may have. No cluster is read.
    """
    from kubectl_dra.commands.explain.answers import explain

    return explain(options, words)
