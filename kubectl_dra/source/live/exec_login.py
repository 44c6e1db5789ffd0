"""Login helpers: programs that a kubeconfig names under ``exec``, which print a token or a client certificate.

The protocol of client.authentication.k8s.io, as client-go's plugin/pkg/client/auth/exec speaks it. The kubernetes
package speaks it, too, but waits for a helper that hangs, and for one that prints without end.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from kubectl_dra.model.clock import Clock
from kubectl_dra.source.live.errors import LoginError, capped
from kubectl_dra.source.live.kubeconfig import Named
from kubectl_dra.source.secrets import remember

LOGIN_HINT: Final = "log in again, or choose another --context or --user"
SECONDS: Final = 60.0
_MAX_BYTES: Final = 1 << 20
# A token that is about to end is not worth sending.
_LEEWAY: Final = timedelta(seconds=10)
_LONG: Final = 20
_TELLING: Final = ("secret", "token", "password", "key", "credential")


class Credential(msgspec.Struct, rename="camel"):
    """What a helper gives: a token, or a certificate and its key in PEM."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: Credential


class ExecLogin:
    """The helper of ``user``, run when its credential is needed and has expired. Threads may share it."""

    def __init__(self, user: Named, cluster: Named, seconds: float | None, clock: Clock) -> None:
        self._user = user
        self._spec: Mapping[str, Any] = user.value["exec"]
        self._cluster = cluster
        self._seconds = seconds or SECONDS
        self._clock = clock
        self._lock = threading.Lock()
        self._credential: Credential | None = None
        self.command = self._checked()
        _remember_settings(self._spec)

    def header(self) -> str:
        """The value of ``Authorization``; empty for a certificate. Raises :class:`LoginError`."""
        token = self.credential().token
        return f"Bearer {token}" if token else ""

    def credential(self) -> Credential:
        """What the helper gave, asked anew when it has expired. Raises :class:`LoginError`."""
        with self._lock:
            if self._credential is None or self._expired(self._credential):
                self._credential = self._decoded(self._output())
            return self._credential

    def _checked(self) -> str:
        command = self._spec.get("command")
        if not isinstance(command, str) or not command:
            raise self._failed("exec names no command", "fix the kubeconfig")
        if not isinstance(self._spec.get("apiVersion"), str):
            raise self._failed("exec names no apiVersion", "fix the kubeconfig")
        arguments, environment = self._spec.get("args") or (), self._spec.get("env") or ()
        entries = environment if isinstance(environment, list | tuple) else (None,)
        if not isinstance(arguments, list | tuple) or not all(isinstance(each, dict) for each in entries):
            raise self._failed("args or env of exec are not lists", "fix the kubeconfig")
        return command

    def _failed(self, what: str, hint: str = LOGIN_HINT) -> LoginError:
        return LoginError(f'user "{self._user.name}": login failed: {what}', hint)

    def _expired(self, credential: Credential) -> bool:
        if not credential.expiration_timestamp:
            return False
        return self._clock.now() >= _time(credential.expiration_timestamp) - _LEEWAY

    # --- running ----------------------------------------------------------------------------------------------------

    def _output(self) -> bytes:
        if shutil.which(self.command) is None:
            raise self._missing()
        # Only the thread that the program began with may ask somebody something.
        attended = threading.current_thread() is threading.main_thread() and _is_terminal(sys.stdin, sys.stderr)
        attended = attended and self._spec.get("interactiveMode") != "Never"
        try:
            process = subprocess.Popen(
                [self.command, *map(str, self._spec.get("args") or ())],
                stdin=None if attended else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=None if attended else subprocess.PIPE,
                env=self._environment(attended),
                # What it starts ends with it; with a terminal it must stay where it can read from it.
                start_new_session=not attended,
                shell=sys.platform in ("win32", "cygwin"),
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise self._failed(f"the credential plugin {self.command} can't be run: {reason}") from error
        out, err = _Output(process.stdout), _Output(process.stderr)
        try:
            self._wait(process, out, err)
        except BaseException:
            _end(process, not attended)
            raise
        if process.returncode != 0:
            said = capped(err.data.decode("utf-8", "replace"))
            raise self._failed(
                f"the credential plugin {self.command} ended with {process.returncode}: {said}".rstrip(": ")
            )
        return out.data

    def _wait(self, process: subprocess.Popen[bytes], *outputs: _Output) -> None:
        due = time.monotonic() + self._seconds
        try:
            process.wait(self._seconds)
            for each in outputs:
                each.wait(due - time.monotonic())
        except subprocess.TimeoutExpired:
            if any(each.too_long for each in outputs):
                raise self._failed(f"the credential plugin {self.command} prints without end") from None
            what = f"the credential plugin {self.command} does not end within {self._seconds:g} s"
            longer = f"--request-timeout={2 * self._seconds:g}s waits longer; run it by itself to see where it stops"
            raise self._failed(what, longer) from None

    def _missing(self) -> LoginError:
        told = capped(str(self._spec.get("installHint") or ""))
        hint = told or f"install {self.command} and put it on the PATH, or choose another --context or --user"
        return LoginError(f'user "{self._user.name}": the credential plugin {self.command} is not installed', hint)

    def _environment(self, attended: bool) -> dict[str, str]:
        more = {str(each.get("name")): str(each.get("value") or "") for each in self._spec.get("env") or ()}
        spec: dict[str, Any] = {"interactive": attended}
        if self._spec.get("provideClusterInfo"):
            spec["cluster"] = _cluster_info(self._cluster.value)
        info = {"apiVersion": self._spec["apiVersion"], "kind": "ExecCredential", "spec": spec}
        return {**os.environ, **more, "KUBERNETES_EXEC_INFO": json.dumps(info)}

    def _decoded(self, output: bytes) -> Credential:
        try:
            answer = msgspec.json.decode(output, type=_Answer)
            credential = answer.status
            if credential.expiration_timestamp:
                _time(credential.expiration_timestamp)
        except (ValueError, RecursionError) as error:
            # Not the words of the decoder, which may repeat parts of the credential.
            known = isinstance(error, msgspec.ValidationError)
            what = "malformed response" if known else "failed to decode its output"
            raise self._failed(f"the credential plugin {self.command}: {what}") from None
        remember(credential.token, credential.client_key_data)
        if answer.api_version != self._spec["apiVersion"]:
            what = f"answers in {capped(answer.api_version)} instead of {self._spec['apiVersion']}"
            raise self._failed(f"the credential plugin {self.command} {what}", "fix the kubeconfig")
        if not credential.token and not (credential.client_certificate_data and credential.client_key_data):
            raise self._failed(
                f"the credential plugin {self.command} gives neither a token nor a certificate with its key"
            )
        return credential


class _Output:
    """What a process prints, read in a thread of its own and no further than a limit."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self.data = b""
        self.too_long = False
        self._stream = stream
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if self._stream is None:
            return
        with self._stream, contextlib.suppress(OSError, ValueError):
            data = self._stream.read(_MAX_BYTES + 1)
            self.too_long = len(data) > _MAX_BYTES
            self.data = data[:_MAX_BYTES]

    def wait(self, seconds: float) -> None:
        """Until the stream has ended: something that the process started may still hold it."""
        self._thread.join(max(0.0, seconds))
        if self._thread.is_alive() or self.too_long:
            raise subprocess.TimeoutExpired("", seconds)


def _end(process: subprocess.Popen[bytes], group: bool) -> None:
    with contextlib.suppress(OSError):
        if group and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)


def _is_terminal(*streams: Any) -> bool:  # noqa: ANN401 - None where a stream is closed
    return all(stream is not None and stream.isatty() for stream in streams)


def _time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _remember_settings(spec: Mapping[str, Any]) -> None:
    """What a helper is given may be as secret as what it gives."""
    for each in spec.get("env") or ():
        value = str(each.get("value") or "")
        if _tells(str(each.get("name"))) or len(value) >= _LONG:
            remember(value)
    before = ""
    for word in map(str, spec.get("args") or ()):
        name, sign, value = word.partition("=")
        if sign and _tells(name):
            remember(value)
        elif before.startswith("-") and _tells(before):
            remember(word)
        before = "" if sign else word


def _tells(name: str) -> bool:
    """Whether something of this name is secret: profiles and regions are not, and errors are to name them."""
    return any(each in name.lower() for each in _TELLING)


def _cluster_info(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """``spec.cluster`` of an ExecCredential: how to reach the server, and what the kubeconfig has for helpers."""
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    found = {name: cluster[name] for name in names if cluster.get(name)}
    if "certificate-authority-data" not in found and cluster.get("certificate-authority"):
        with contextlib.suppress(OSError):
            found["certificate-authority-data"] = _base64(Path(cluster["certificate-authority"]))
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == "client.authentication.k8s.io/exec":
            found["config"] = extension.get("extension")
    return found


def _base64(path: Path) -> str:
    import base64

    return base64.b64encode(path.read_bytes()).decode("ascii")
