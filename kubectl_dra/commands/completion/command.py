"""``kubectl dra completion``: scripts for shells, and the executable that kubectl looks for."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.completion.scripts import SCRIPTS
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle
from kubectl_dra.commands.shared.options import Options, shared_options
from kubectl_dra.output.console import write_help

_EXAMPLES: Final = """\b
Examples:
  kubectl dra completion --install              # for kubectl dra <TAB>
  source <(kubectl-dra completion bash)         # for kubectl-dra <TAB>
  kubectl-dra completion zsh > "${fpath[1]}/_kubectl-dra"
  kubectl-dra completion fish > ~/.config/fish/completions/kubectl-dra.fish"""


@click.command("completion", cls=KubectlStyle, epilog=_EXAMPLES)
@shared_options(scope=())
@click.option("--install", is_flag=True, help="Put kubectl_complete-dra where kubectl finds it.")
@click.argument("shell", required=False, type=click.Choice(tuple(SCRIPTS)), metavar="bash|zsh|fish")
def command(options: Options, install: bool, shell: str | None) -> None:
    """Complete commands, flags and live names in the shell.

    Behind "kubectl dra" kubectl's own completion asks the executable kubectl_complete-dra, which is installed beside
    kubectl-dra; after an installation from the archive --install makes it. The scripts are for the executable
    kubectl-dra.
    """
    if install and shell:
        raise UsageProblem("--install and a shell cannot be combined", "kubectl dra completion --install")
    if install:
        from kubectl_dra.commands.completion.install import install_executable

        install_executable(options)
    elif shell is None:
        raise UsageProblem("no shell is named", f"kubectl dra completion {'|'.join(SCRIPTS)}")
    else:
        write_help(SCRIPTS[shell])
