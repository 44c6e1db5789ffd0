"""Making decoders, one at a time.

msgspec keeps the description of a struct at its class, shares it among all decoders that reach the class, and a thread
that meets one which another thread is still writing reads a null pointer. Finished decoders may be used by all threads.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import msgspec

from kubectl_dra.api.quantities import decode_hook

_MAKING: Final = threading.Lock()


def make_decoder(form: Any, *, numbers_as_text: bool = False) -> msgspec.json.Decoder[Any]:  # noqa: ANN401
    """A decoder of ``form`` that knows quantities; with ``numbers_as_text`` floats stay as they are written."""
    with _MAKING:
        if numbers_as_text:
            return msgspec.json.Decoder(form, dec_hook=decode_hook, float_hook=str)
        return msgspec.json.Decoder(form, dec_hook=decode_hook)
