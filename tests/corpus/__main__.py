"""For anybody with a checkout: ``python -m tests.corpus DIR``.

Prints what crashes, what would be refused, and what has changed since ``--verdicts FILE`` was written (``--write``
writes it). With ``--server``, what a cluster says in a dry run of ``kubectl create`` stands beside what we say:
``python -m tests.controlplane run -- python -m tests.corpus DIR --server``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.corpus.checkout import Verdict, judged, manifests

#: Why a server refuses what has nothing to do with the file: kinds and namespaces that it lacks.
_FOREIGN = (
    "no matches for kind",
    "not found",
    "ensure CRDs are installed",
    "Warning:",
    "ValidatingAdmissionPolicy",
    "disallowed by cluster policy",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if something crashed, a verdict has changed, or the server accepts what we refuse or the other way round."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--from", dest="cluster", action="append", default=[], help="the cluster; demo unless given")
    parser.add_argument("--verdicts", type=Path, help="verdicts of an earlier run")
    parser.add_argument("--write", action="store_true", help="write --verdicts anew")
    parser.add_argument("--server", action="store_true", help="compare with a dry run on the cluster of KUBECONFIG")
    options = parser.parse_args(arguments)
    cluster = options.cluster or ["demo"]
    found = {path: judged(path, cluster) for path in manifests(options.folder)}
    kept = {path.relative_to(options.folder).as_posix(): verdict.record() for path, verdict in found.items()}
    bad = 0
    for path, verdict in found.items():
        name = path.relative_to(options.folder)
        lines = [f"CRASH {text}" for text in verdict.crashes]
        if options.server:
            lines += _disagreement(path, verdict)
        bad += len(lines)
        for line in (*lines, *(f"refused {text}" for text in verdict.refused)):
            print(f"{name}: {line}")
    if options.verdicts and options.verdicts.exists() and not options.write:
        bad += _changed(json.loads(options.verdicts.read_text(encoding="utf-8")), kept)
    if options.verdicts and options.write:
        options.verdicts.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    counts = {fits: sum(each.fits == fits for each in found.values()) for fits in ("Yes", "No", "Unknown", "")}
    told = ", ".join(f"{number} {fits or 'unread'}" for fits, number in counts.items())
    print(f"{len(found)} files: {told}; {bad} to look at")
    return 1 if bad else 0


def _changed(before: dict[str, object], now: dict[str, object]) -> int:
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    for name in names:
        print(f"{name}: CHANGED from {json.dumps(before.get(name))} to {json.dumps(now.get(name))}")
    return len(names)


def _disagreement(path: Path, verdict: Verdict) -> list[str]:
    """Where the server's dry run and we don't agree whether the file is taken as it is."""
    command = ["kubectl", "create", "--dry-run=server", "--validate=strict", "-f", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    said = [line for line in done.stderr.splitlines() if line and not any(word in line for word in _FOREIGN)]
    refused = bool(verdict.refused or verdict.mistakes or verdict.codes["simulate"])
    if said and not refused:
        return [f"ACCEPTED, the server says {said[0]}"]
    if refused and not said and not done.returncode:
        return [f"REFUSED, the server takes it: {[*verdict.refused, *verdict.mistakes][0]}"]
    return []


if __name__ == "__main__":
    raise SystemExit(main())
