"""``-v``: what is asked of a live cluster, told on stderr. Never headers or bodies, at any level: they hold secrets."""

from __future__ import annotations

import logging

from kubectl_dra.output.console import ColorMode, Console
from kubectl_dra.output.safe import safe

_LOGGER = logging.getLogger("kubectl_dra")


class _Notes(logging.Handler):
    """Writes each record as a line, with everything active in it made visible."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.note(safe(record.getMessage()))


def log_requests(color: str) -> None:
    """From now on tell of each request; once, however often it is called."""
    for handler in list(_LOGGER.handlers):
        _LOGGER.removeHandler(handler)
    _LOGGER.addHandler(_Notes(Console(ColorMode(color))))
    _LOGGER.setLevel(logging.DEBUG)
