"""A reason's page on a terminal: headings, paragraphs wrapped, code as it is."""

from __future__ import annotations

from kubectl_dra.output.explain.pages import SEE, ReasonPage
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, fmt, safe, styled

_FENCE = "```"


def page_lines(page: ReasonPage) -> list[Safe]:
    start = fmt("{}  ", page.code)
    first, *more = wrapped(Safe(page.code.meaning), indent=len(start))
    lines = [styled(line, Style.BOLD) for line in (fmt("{}{}", start, Safe(first.strip())), *more)]
    for heading, text in page.sections.items():
        lines += [Safe(""), styled(Safe(heading), Style.BOLD)]
        for number, block in enumerate(text.split("\n\n")):
            lines += [Safe("")] * bool(number)
            lines += _block(block)
    return lines


def code_of(page: ReasonPage) -> list[Safe]:
    """The commands and manifests with which the page confirms and fixes what is wrong."""
    texts = (text for heading, text in page.sections.items() if heading != SEE)
    blocks = [_block(block) for text in texts for block in text.split("\n\n") if block.startswith(_FENCE)]
    return [Safe(line.removeprefix("    ")) for block in blocks for line in block]


def _block(block: str) -> list[Safe]:
    if block.startswith(_FENCE):
        return [fmt("    {}", line) for line in block.split("\n") if not line.startswith(_FENCE)]
    return wrapped(safe(" ".join(block.replace("`", "").split())), indent=2)
