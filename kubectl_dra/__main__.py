"""``python -m kubectl_dra`` and the executable ``kubectl-dra``."""

from __future__ import annotations

import sys

from kubectl_dra.commands.app import run


def main() -> None:
    """Run the program and end the process with its exit code; ``__complete…`` is what completion scripts call."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word in ("__complete", "__complete-line"):
        from kubectl_dra.commands import complete

        words = sys.argv[2:]
        complete.main(complete.split_line(words[-1] if words else "") if word == "__complete-line" else words)
        return
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
