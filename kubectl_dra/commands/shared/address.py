"""What the options say, for commands that are printed: the cluster that they name, and what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

from kubectl_dra.model.invocation import Address, Words, flag
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.secrets import without_login

if TYPE_CHECKING:
    from kubectl_dra.commands.shared.options import Options

#: Options that change how an answer is shown, not what is asked; and those that say where, which are added to it.
_NOT_ASKED: Final = frozenset(
    {"output", "text", "exit_code", "remedies", "watch", "no_headers", "show_labels", "namespace", "all_namespaces"}
)


def address_of(options: Options) -> Address:
    """What the options say of the cluster; its context and server are known when it was read."""
    return Address(options.sources, tuple(_flags(options)), tuple(_own(options)))


def completed(hint: str, options: Options) -> str:
    """A hint for whoever gave ``options``: a command gets their flags."""
    from kubectl_dra.reports.invocations import hint as complete  # reports are loaded by commands that make some

    return complete(hint, address_of(options))


def asked_again(options: Options, namespace: str) -> Words:
    """The command that runs, without what names its cluster and its format: for somebody with other rights.

    It says in which namespace, as others have another one of their own. Empty where nothing runs.
    """
    from kubectl_dra.commands.shared.options import SharedOption  # it is made of what stands here

    context = click.get_current_context(silent=True)
    if context is None or context.info_name is None:
        return ()
    words: Words = ("kubectl", "dra", context.info_name)
    # What the command is about comes first, as people write it.
    for option in sorted(context.command.params, key=lambda each: not isinstance(each, click.Argument)):
        name = option.name or ""
        given = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if given and not isinstance(option, SharedOption) and name not in _NOT_ASKED:
            words += tuple(_words(option, context.params[name]))
    if any(option.name == "namespace" for option in context.command.params):
        words += ("-A",) if options.all_namespaces else flag("-n", namespace)
    return words


def _words(option: click.Parameter, value: object) -> Iterator[str]:
    values = value if isinstance(value, tuple) else (value,)
    for each in values:
        if isinstance(option, click.Argument):
            yield str(each)
        elif each is True:
            yield option.opts[0]
        else:
            yield from flag(option.opts[0], str(each))


def _flags(options: Options) -> Iterator[str]:
    given: tuple[tuple[str, str], ...] = (
        ("--context", options.context),
        ("--cluster", options.cluster),
        ("--user", options.user),
        ("--kubeconfig", options.kubeconfig),
        ("--server", without_login(options.server)),
        ("--as", options.as_user),
        *(("--as-group", group) for group in options.as_groups),
    )
    for name, value in given:
        if value:
            yield from flag(name, value)
    # A token is shown nowhere.
    if options.insecure:
        yield "--insecure-skip-tls-verify"


def _own(options: Options) -> Words:
    gates = tuple(word for gates in options.feature_gates for word in flag("--feature-gates", gates))
    return (*gates, "--max-bytes", str(options.max_bytes)) if options.max_bytes != MAX_BYTES else gates
