"""An attribute by another name in an expression."""

from __future__ import annotations

from kubectl_dra.cel.read.mentions import mentions
from kubectl_dra.cel.syntax.lexer import tokenize
from kubectl_dra.cel.syntax.printer import string_source
from kubectl_dra.selectors.edits import parsed, replaced


def with_attribute(expression: str, domain: str, name: str, after: str) -> str:
    """The expression with ``after`` where ``DOMAIN/NAME`` stands, and where its name is asked for as a text.

    As it is where it cannot be parsed.
    """
    tree = parsed(expression)
    named = [(each.domain.text, each.name) for each in mentions(tree) if each.name is not None] if tree else []
    others = {found.start for of, found in named if of != domain}
    edits = []
    for token in tokenize(expression)[0] if tree else ():
        text = token.text[1:-1] if token.kind == "STRING" else token.text
        if text == name and token.pos not in others:
            new = string_source(after) if token.kind == "STRING" else after
            edits.append((token.pos, token.pos + len(token.text), new))
    return replaced(expression, edits) or expression
