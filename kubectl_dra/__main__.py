"""``python -m kubectl_dra`` and the executable ``kubectl-dra``."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the program and end the process with its exit code; ``__complete…`` is what completion scripts call."""
    # Before anything else is imported: Ctrl-C is no reason for a traceback, at no time.
    signal.signal(signal.SIGINT, _leave)
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word in ("__complete", "__complete-line"):
        from kubectl_dra.commands.completion import complete

        words = sys.argv[2:]
        complete.main(complete.split_line(words[-1] if words else "") if word == "__complete-line" else words)
        return
    from kubectl_dra.commands.app import run

    _end(run(sys.argv[1:]))


def _end(code: int) -> None:
    """End with ``code``; what was read of a large cluster is left to the system, which needs no time for it."""
    if getattr(sys.modules.get("kubectl_dra.commands.shared.cluster"), "KEPT", None):
        # The answer is written already, and run() has told where that failed.
        atexit._run_exitfuncs()
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)
    sys.exit(code)


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once with 130, on a line of its own; what has something to end first handles signals itself."""
    if sys.stderr is not None:
        # The module may be there and not yet what is in it.
        progress = getattr(sys.modules.get("kubectl_dra.output.progress"), "PROGRESS", None)
        os.write(2, (progress.leave() if progress is not None else b"") + b"\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
