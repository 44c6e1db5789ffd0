"""What becomes of a widget that was removed: it is drawn as nothing, and nothing that was drawn of it is kept.

Textual forgets the styles of such a widget's parts, and may draw the screen once more before it is arranged without it
(textual/widget.py, _message_loop_exit): what the widget looks up then would end the app.
"""

from __future__ import annotations

from functools import lru_cache, partial

from textual._styles_cache import StylesCache
from textual.geometry import Region
from textual.strip import Strip

_COLOURS = 1024


def nothing(crop: Region) -> list[Strip]:
    return [Strip.blank(crop.width)] * crop.height


def let_go() -> None:
    """Have Textual remember the colours of a widget without its lines.

    It remembers what a method answers, and so all that was drawn of 1,024 removed widgets (textual/_styles_cache.py).
    """
    remembering = StylesCache.get_inner_outer
    if hasattr(remembering, "cache_clear"):
        of_colours = lru_cache(_COLOURS)(partial(remembering.__wrapped__, None))
        StylesCache.get_inner_outer = lambda _self, *colours: of_colours(*colours)  # type: ignore[assignment]
