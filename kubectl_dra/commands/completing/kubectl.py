"""Live names through a child ``kubectl``: it starts faster than a client library, and logging in is its own matter.

The child gets no input, no terminal and one second; whatever goes wrong, the answer is empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kubectl_dra.commands.completing.cache import Cache, Rows

SECONDS: Final = 1.0
# How kubectl is to reach the cluster, and as whom: passed on as typed.
CONNECTION: Final = ("--kubeconfig", "--context", "--cluster", "--user", "--as", "--as-group")
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
        return self._cached(["get", resource, "--no-headers", *flags, *namespace, *self._reach()], _table)

    def devices(self, driver: str = "") -> Rows:
        """``[driver, pool, device, field, qualified name or "", value]`` for each device and each of its values.

        ``field`` is ``attributes`` or ``capacity``, empty in the row that stands for the device itself.
        """
        chosen = [f"--field-selector=spec.driver={driver}"] if driver else []
        return self._cached(["get", "resourceslices", "--output=json", *chosen, *self._reach()], _device_rows)

    def _reach(self) -> list[str]:
        return [*self._connection, f"--request-timeout={SECONDS:.0f}s"]

    def _cached(self, words: list[str], read: Callable[[str], Iterable[list[str]]]) -> Rows:
        key = [*_kubeconfig_state(words), *words]
        found = self._cache.get(key)
        if found is None:
            output = self._output(words)
            found = list(read(output))
            if output:
                self._cache.put(key, found)
        return found

    def _output(self, words: Sequence[str]) -> str:
        """What the child printed, empty if it failed or took too long."""
        path = shutil.which("kubectl")
        left = self._deadline - time.monotonic()
        if path is None or left <= 0:
            return ""
        try:
            child = subprocess.Popen(
                [path, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a prompt for a password finds no terminal, and its children end with it
            )
        except OSError:
            return ""
        try:
            output, _ = child.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            output = b""
        finally:
            _end(child)
        return output.decode("utf-8", "replace") if child.returncode == 0 else ""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and everything that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _table(output: str) -> Rows:
    return [_COLUMNS.split(line.strip()) for line in output.splitlines() if line.strip()]


def _device_rows(output: str) -> Iterator[list[str]]:
    try:
        items = json.loads(output)["items"]
        for item in items:
            spec = item["spec"]
            where = [spec["driver"], spec["pool"]["name"]]
            for device in spec.get("devices") or ():
                yield from _one_device(where, device)
    except (ValueError, KeyError, TypeError, AttributeError):
        return


def _one_device(where: list[str], device: Mapping[str, Any]) -> Iterator[list[str]]:
    """v1beta1 keeps attributes and capacity in ``basic``."""
    body = device.get("basic") or device
    yield [*where, device["name"], "", "", ""]
    for field in ("attributes", "capacity"):
        for name, value in (body.get(field) or {}).items():
            qualified = name if "/" in name else f"{where[0]}/{name}"
            shown = next(iter(value.values()), "") if isinstance(value, dict) else value
            yield [*where, device["name"], field, qualified, str(shown)]


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
