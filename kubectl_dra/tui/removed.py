"""What is drawn in place of a widget that was removed.

Textual forgets the styles of such a widget's parts, and may draw the screen once more before it is arranged without it
(textual/widget.py, _message_loop_exit): what the widget looks up then would end the app.
"""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip


def nothing(crop: Region) -> list[Strip]:
    return [Strip.blank(crop.width)] * crop.height
