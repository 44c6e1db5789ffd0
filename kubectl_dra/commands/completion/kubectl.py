"""Live names through a child ``kubectl``: it starts faster than a client library, and logging in is its own matter.

The child gets no input, no terminal and one second; whatever goes wrong, the answer is empty.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from kubectl_dra.commands.completion.cache import Cache, Rows
from kubectl_dra.commands.completion.names import PAGE

SECONDS: Final = 1.0
# How kubectl is to reach the cluster, and as whom: passed on as typed.
CONNECTION: Final = ("--kubeconfig", "--context", "--cluster", "--user", "--as", "--as-group", "--server")
_SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
#: What kubectl prints for a field that is not there.
_NONE: Final = "<none>"
_COLUMNS: Final = re.compile(r"\s{2,}")


class Kubectl:
    """Tables of one cluster. ``values`` are the options typed so far, by their long name."""

    def __init__(self, values: Mapping[str, Sequence[str]], cache: Cache | None = None) -> None:
        self._connection = [f"{name}={value}" for name in CONNECTION for value in values.get(name, ())]
        self._namespace = [f"--namespace={value}" for value in values.get("--namespace", ())[-1:]]
        self._everywhere = "--all-namespaces" in values
        self._cache = cache or Cache()
        self._deadline = time.monotonic() + SECONDS

    def config(self, *words: str) -> Rows:
        """One column of ``kubectl config``: contexts, clusters, users."""
        kubeconfig = [flag for flag in self._connection if flag.startswith("--kubeconfig=")]
        return _table(self._output(["config", *words, *kubeconfig]))

    def table(self, resource: str, *flags: str, namespaced: bool = False) -> Rows:
        """The columns that the server prints for ``resource``, of the namespace that was asked for."""
        if namespaced and self._everywhere:
            return []  # a name together with all namespaces is a usage error
        namespace = self._namespace if namespaced else []
        words = ["get", resource, "--no-headers", *flags, *namespace, *self._reach()]
        return self._kept([*_kubeconfig_state(words), *words], lambda: self._output(words), _table)

    def taints(self) -> Rows:
        fields = ("key", "value", "effect")
        columns = ",".join(["RULE:.metadata.name", *(f"{name}:.spec.taint.{name}" for name in fields)])
        rows = self.table("devicetaintrules.resource.k8s.io", f"--output=custom-columns={columns}")
        return [
            [*("" if word == _NONE else word for word in row[1:]), row[0]] for row in rows if len(row) > len(fields)
        ]

    def slices(self, driver: str = "") -> Rows:
        from kubectl_dra.commands.completion.slices import pool_rows

        return self._slices(["pools"], pool_rows, driver)

    def devices(self, driver: str = "", pool: str = "") -> Rows:
        from kubectl_dra.commands.completion.slices import device_rows

        def read(output: bytes) -> Rows:
            return device_rows(output, pool)

        # Most pools are those of one node and have its name, and the server finds the slices of a node by themselves.
        of_node = self._slices(["devices", pool], read, driver, pool) if pool else []
        return of_node or self._slices(["devices", pool], read, driver)

    def _slices(self, kind: list[str], read: Callable[[bytes], Rows], driver: str, node: str = "") -> Rows:
        """What ``read`` finds in the slices: raw, which is several times faster than kubectl's own ways to print."""
        chosen = [f"spec.driver={driver}"] if driver else []
        chosen += [f"spec.nodeName={node}"] if node else []
        query = f"fieldSelector={quote(','.join(chosen))}" if chosen else f"limit={PAGE}"
        words = ["get", "--raw", f"{_SLICES}?{query}", *self._reach()]
        key = [*kind, *_kubeconfig_state(words), *words]
        return self._kept(key, lambda: self._output(words) or self._all_slices(chosen), read)

    def _all_slices(self, chosen: Sequence[str]) -> bytes:
        """The same in the version that an older server has."""
        selector = [f"--field-selector={','.join(chosen)}"] if chosen else []
        return self._output(["get", "resourceslices", "--output=json", *selector, *self._reach()])

    def _reach(self) -> list[str]:
        return [*self._connection, f"--request-timeout={SECONDS:.0f}s"]

    def _kept(self, key: list[str], ask: Callable[[], bytes], read: Callable[[bytes], Rows]) -> Rows:
        """The answer of a moment ago, else a new one."""
        found = self._cache.get(key)
        if found is None:
            output = ask()
            found = read(output)
            if output:
                self._cache.put(key, found)
        return found

    def _output(self, words: Sequence[str]) -> bytes:
        """What the child printed, empty if it failed or took too long."""
        path = shutil.which("kubectl")
        left = self._deadline - time.monotonic()
        if path is None or left <= 0:
            return b""
        try:
            child = subprocess.Popen(
                [path, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a prompt for a password finds no terminal, and its children end with it
            )
        except OSError:
            return b""
        try:
            output, _ = child.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            output = b""
        finally:
            _end(child)
        return output if child.returncode == 0 else b""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and everything that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _table(output: bytes) -> Rows:
    lines = output.decode("utf-8", "replace").splitlines()
    return [_COLUMNS.split(line.strip()) for line in lines if line.strip()]


def _kubeconfig_state(words: Sequence[str]) -> list[str]:
    """What an answer depends on beside the words: which kubeconfig files there are, and in which state."""
    given = [word.partition("=")[2] for word in words if word.startswith("--kubeconfig=")]
    listed = given or os.environ.get("KUBECONFIG", "").split(os.pathsep)
    paths = [path for path in listed if path] or [os.path.expanduser("~/.kube/config")]
    return [f"{path} {_changed(path)}" for path in map(os.path.abspath, paths)]


def _changed(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
