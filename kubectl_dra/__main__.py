"""``python -m kubectl_dra`` and the executable ``kubectl-dra``."""

from __future__ import annotations

import sys

from kubectl_dra.commands.app import run


def main() -> None:
    """Run the program and end the process with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
