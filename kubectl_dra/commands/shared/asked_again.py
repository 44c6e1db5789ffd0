"""The command that runs, as somebody with other rights would give it."""

from __future__ import annotations

from typing import Final

import click

from kubectl_dra.commands.shared.options import SharedOption
from kubectl_dra.model.invocation import Words, flag

#: Options that change how an answer is shown, not what is asked.
_OF_THE_PAGE: Final = frozenset({"output", "text", "exit_code", "remedies", "watch"})


def asked_again() -> Words:
    """The command that runs, without what names its cluster and its format: for somebody with other rights.

    Empty where nothing runs.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.info_name is None:
        return ()
    words: Words = ("kubectl", "dra", context.info_name)
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        if given and not isinstance(option, SharedOption) and name not in _OF_THE_PAGE:
            value = context.params[name]
            values = value if isinstance(value, tuple) else (value,)
            words += (option.opts[0],) if value is True else sum((flag(option.opts[0], each) for each in values), ())
    return words
