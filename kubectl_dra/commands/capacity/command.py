"""``kubectl dra capacity``: the options. What it does with them stands in ``answers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Expression, Options, scope_options, shared_options
from kubectl_dra.commands.shared.whatif_options import whatif_options

if TYPE_CHECKING:
    from kubectl_dra.diagnosis.whatif import Switch

_EXAMPLES: Final = """\b
Examples:
  kubectl dra capacity --class gpu.example.com          # single devices
  kubectl dra capacity --class gpu.example.com --count 8  # 8 on a node
  kubectl dra capacity -f trainer.yaml                  # pods like this one
  kubectl dra capacity -f trainer.yaml --add-node like=NODE,free"""


@click.command("capacity", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(
    scope=scope_options("The namespace of the shape: its quotas and templates count.", everywhere=False),
    filename=True,
    exit_code=True,
    text=True,
    output=("json", "yaml"),
)
@click.option("--class", "class_", default="", metavar="NAME", help="A bare pod that requests devices of this class.")
@click.option("--count", type=click.IntRange(1, 32), default=1, metavar="N", help="How many devices per pod; 1.")
@click.option(
    "--selector",
    "expressions",
    multiple=True,
    type=Expression(),
    metavar="EXPR",
    help="CEL expressions that the devices must match.",
)
@whatif_options
def command(
    options: Options, class_: str, count: int, expressions: tuple[str, ...], switches: tuple[Switch, ...]
) -> int:
    """Say how many pods of a shape fit now, what keeps more away, and which pods to restart to make room.

    The shape is a pod, workload, claim or template of a file, or a bare pod with one request. A claim of a file stands
    for one claim per copy. Nothing is created or restarted.
    """
    if bool(options.manifests) == bool(class_):
        hint = "kubectl dra capacity --class NAME --count N, or -f FILE"
        raise UsageProblem("a shape is a file or a class" if class_ else "no shape to count", hint)
    if options.manifests and (expressions or count != 1):
        raise UsageProblem("--count and --selector describe a bare pod; -f brings its own requests", "leave out -f")
    if options.all_namespaces:
        raise UsageProblem("-A does not apply to a shape", "a shape lives in one namespace: -n NAME")
    from kubectl_dra.commands.capacity.answers import answer

    return answer(options, class_, count, expressions, switches)
