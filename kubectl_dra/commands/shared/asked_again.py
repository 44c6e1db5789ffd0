"""The command that runs, as somebody else would give it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from kubectl_dra.commands.shared.kubectl_style import SharedOption
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.invocation import Words, flag

#: Options that change how an answer is shown, not what is asked; and those that say where, which are added to it.
_NOT_ASKED: Final = frozenset(
    {"output", "text", "exit_code", "remedies", "watch", "no_headers", "show_labels", "namespace", "all_namespaces"}
)


def asked_again(options: Options, namespace: str) -> Words:
    """The command that runs, without what names its cluster and its format: for somebody with other rights.

    It says in which namespace, as others have another one of their own, where that makes a difference. Empty where
    nothing runs.
    """
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
    scoped = any(option.name == "namespace" for option in context.command.params)
    if scoped and (options.namespace or options.all_namespaces or not _lists_what_has_none(context)):
        words += ("-A",) if options.all_namespaces else flag("-n", namespace)
    return words


def _lists_what_has_none(context: click.Context) -> bool:
    """Whether it lists objects that are in no namespace: there the answer is the same in each."""
    if context.info_name != "get":
        return False
    from kubectl_dra.commands.get.query import WITHOUT_NAMESPACE  # nothing else needs the types of another command

    given = context.params.get("words") or ("",)
    return all(each.partition("/")[0] in WITHOUT_NAMESPACE for each in given[0].split(","))


def _words(option: click.Parameter, value: object) -> Iterator[str]:
    values = value if isinstance(value, tuple) else (value,)
    for each in values:
        if isinstance(option, click.Argument):
            yield str(each)
        elif each is True:
            yield option.opts[0]
        else:
            yield from flag(option.opts[0], str(each))
