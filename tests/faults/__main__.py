"""By hand: ``python -m tests.faults --seconds 600 --seed 1 --rate 0.05 [--real]``; prints what the run saw."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubectl_dra.source.spec import Connection
from tests.controlplane import ControlPlane, binaries
from tests.faults.churn import Churn, FakeTarget, RealTarget, Target
from tests.faults.running import impatient, run
from tests.kit.fake_api import running, write_kubeconfig
from tests.kit.faulty_proxy import Faults, faulty
from tests.kit.live_api import LiveApi


@contextlib.contextmanager
def real(faults: Faults) -> Iterator[tuple[Connection, Connection, Target]]:
    """A control plane behind a proxy that speaks TLS as the server does."""
    with ControlPlane(binaries()) as plane:
        certificate, key = plane.certificate, plane.folder / "server.key"
        with faulty(plane.server, faults, certificate, certificate, key) as url:
            direct = plane.kubeconfig()
            behind = plane.folder / "kubeconfig-faulty.json"
            behind.write_text(direct.read_text(encoding="utf-8").replace(plane.server, url), encoding="utf-8")
            yield Connection(kubeconfig=str(behind)), Connection(kubeconfig=str(direct)), RealTarget(plane.client())


@contextlib.contextmanager
def fake(faults: Faults) -> Iterator[tuple[Connection, Connection, Target]]:
    """The fake server behind a proxy without TLS."""
    with tempfile.TemporaryDirectory() as folder, running(LiveApi()) as api, faulty(api.url, faults) as url:
        paths = [Path(folder) / name for name in ("faulty", "direct")]
        for path, server in zip(paths, (url, api.url), strict=True):
            path.mkdir()
            write_kubeconfig(path, server)
        assert isinstance(api, LiveApi)
        try:
            one, other = (Connection(kubeconfig=str(path / "kubeconfig")) for path in paths)
            yield one, other, FakeTarget(api)
        finally:
            api.close()


def main() -> None:
    """One run."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--pause", type=float, default=0.02)
    parser.add_argument("--real", action="store_true")
    options = parser.parse_args()
    faults = Faults(options.seed, options.rate)
    with (real if options.real else fake)(faults) as (behind, direct, target), pytest.MonkeyPatch.context() as patch:
        impatient(patch)
        began = time.monotonic()
        outcome = run(behind, direct, faults, Churn(target, options.seed, pause=options.pause), options.seconds)
    print(f"seed {options.seed}, rate {options.rate}, {time.monotonic() - began:.0f} s: the Store equals a fresh list")
    print(f"settled {outcome.settled:.1f} s after the last write; {outcome.objects} objects at the end")
    print(f"{outcome.requests} requests, {outcome.publications} publications, {outcome.troubled} with trouble")
    print("writes:", ", ".join(f"{number} {what}" for what, number in sorted(outcome.writes.items())))
    print("faults:", sum(outcome.faults.values()))
    for fault, number in outcome.faults.most_common():
        print(f"  {number:6} {fault}")


if __name__ == "__main__":
    main()
