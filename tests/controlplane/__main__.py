"""For people: ``python -m tests.controlplane [--minor 1.30] build | built | up | run -- COMMAND``.

``built`` asks whether there is nothing left to build; ``up`` runs until Ctrl-C; ``run`` sets KUBECONFIG and puts the
real kubectl and kubectl-dra on PATH for one command.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from types import FrameType

from tests.controlplane import NEWEST, OLD, ControlPlane, binaries
from tests.controlplane.build import is_built
from tests.gobuild import BuildError


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.controlplane", description=__doc__)
    parser.add_argument("--minor", choices=OLD, default="", help="an older release than the newest")
    parser.add_argument("action", choices=["build", "built", "up", "run"])
    parser.add_argument("command", nargs=argparse.REMAINDER, help="for run: the command, after --")
    options = parser.parse_args(arguments)
    command = [word for number, word in enumerate(options.command) if number or word != "--"]
    if (options.action == "run") != bool(command):
        parser.error("run needs a command, and nothing else takes one")
    if options.action == "built":
        return 0 if is_built(options.minor) else 1
    signal.signal(signal.SIGTERM, _stop)
    try:
        folder = binaries(options.minor)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.action == "build":
        print(folder)
        return 0
    with ControlPlane(folder, release=OLD.get(options.minor, NEWEST)) as plane:
        environment = plane_environment(plane)
        if command:
            return subprocess.run(command, env=environment, check=False).returncode
        print(f"export KUBECONFIG={environment['KUBECONFIG']}\nexport PATH={folder}:$PATH", flush=True)
        signal.pause()
    return 0


def plane_environment(plane: ControlPlane, user: str = "admin") -> dict[str, str]:
    """An environment in which ``kubectl`` is the real one, knows the plugin, and talks to ``plane`` as ``user``."""
    path = os.pathsep.join([str(plane.binaries), sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "KUBECONFIG": str(plane.kubeconfig(user))}


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
