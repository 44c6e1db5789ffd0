"""From a kubeconfig's target to what requests need: who asks, over which TLS, through which proxy.

Tokens, passwords, credential plugins and certificates are read here and in the modules beside this one, so that
nothing of them is written to files or repeated in errors, and everything that can hang ends. The kubernetes package
does the rest: identity providers (OIDC), the service account of a pod, proxies. Without any of these it is not loaded.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from kubectl_dra.model.clock import Clock
from kubectl_dra.source.live.errors import KubeconfigError, LoginError, capped
from kubectl_dra.source.live.exec_login import LOGIN_HINT, SECONDS, ExecLogin
from kubectl_dra.source.live.kubeconfig import Named, Target
from kubectl_dra.source.live.parallel import NotInTimeError, within
from kubectl_dra.source.live.tls import context_of
from kubectl_dra.source.live.transport import Direct, direct
from kubectl_dra.source.live.urls import proxy_url
from kubectl_dra.source.secrets import basic, hidden, login_of, remember, without_login

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_NAME: Final = "chosen"
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


class Login(Protocol):
    """Who asks. Threads may share it."""

    def header(self) -> str:
        """The value of ``Authorization`` for the next request, empty for none. Raises ``LoginError``."""


class Credentials(msgspec.Struct, frozen=True):
    """Settings of the connection pool, the login, and the TLS context; None where ``configuration`` says it all."""

    configuration: Configuration | Direct
    login: Login
    tls: ssl.SSLContext | None = None


def credentials_of(target: Target, seconds: float | None, clock: Clock) -> Credentials:
    """What ``target`` means; may run a credential plugin or ask an identity provider, for at most ``seconds``.

    Raises :class:`KubeconfigError`, :class:`LoginError`, :class:`CertificateError`.
    """
    for name in _PROXIES:
        login_of(os.environ.get(name, "") or os.environ.get(name.lower(), ""))
    cluster = target.cluster
    if cluster is None:
        mounted = _configuration(target, {}, seconds)
        return Credentials(mounted, PackageLogin(mounted, "the pod's service account"))
    user = {} if target.user is None else _without_nulls(target.user.value)
    _remember_user(user)
    content = _single(cluster, user)
    configuration = direct(content["clusters"][0]["cluster"], user) or _with_package(target, content, cluster, seconds)
    login = _login(target, user, configuration, seconds, clock)
    given = login.credential() if isinstance(login, ExecLogin) else None
    encrypted = configuration.host.startswith("https")
    tls = context_of(cluster, target.user, given, bool(configuration.verify_ssl)) if encrypted else None
    return Credentials(configuration, login, tls)


# --- who asks -------------------------------------------------------------------------------------------------------


def _login(
    target: Target, user: Mapping[str, Any], configuration: Configuration | Direct, seconds: float | None, clock: Clock
) -> Login:
    """As client-go: a token goes before a password, both before a helper; what the server's URL says comes last."""
    whose = _whose(target)
    assert target.cluster is not None  # noqa: S101 - the caller has looked
    if not isinstance(configuration, Direct) and configuration.api_key:
        return PackageLogin(configuration, whose)
    if user.get("tokenFile"):
        return FileLogin(Path(user["tokenFile"]), whose)
    if user.get("token"):
        return FixedLogin(bearer(user["token"], whose))
    if user.get("username") and user.get("password"):
        return FixedLogin(basic(user["username"], user["password"]))
    if user.get("exec") and target.user is not None:
        return ExecLogin(target.user, target.cluster, seconds, clock)
    name, password = login_of(target.server)
    return FixedLogin(basic(name, password) if name or password else "")


def bearer(token: str, whose: str) -> str:
    """The header value of a token, without the white space around it. Raises :class:`LoginError` for what is none."""
    remember(token)
    stripped = token.strip()
    if not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        text = f"{whose}: the token has line breaks, or characters that no token has"
        raise LoginError(text, "fix the token, or log in again")
    return f"Bearer {stripped}" if stripped else ""


class FixedLogin(msgspec.Struct, frozen=True):
    value: str

    def header(self) -> str:
        return self.value


class FileLogin:
    """A token that something else puts into a file, again and again: read for every request, which costs little."""

    def __init__(self, path: Path, whose: str) -> None:
        self._path = path
        self._whose = whose
        self._last = ""
        self._last = self.header()

    def header(self) -> str:
        """The token of this moment; the last one while the file is being replaced. Raises :class:`LoginError`."""
        try:
            token = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            if self._last:
                return self._last
            reason = getattr(error, "strerror", None) or "not text"
            raise LoginError(f"{self._whose}: token file {self._path} can't be read: {reason}", LOGIN_HINT) from error
        self._last = bearer(token, self._whose) or self._last
        return self._last


class PackageLogin:
    """A login that the kubernetes package keeps: of an identity provider, or of a pod's service account."""

    def __init__(self, configuration: Configuration, whose: str) -> None:
        self._configuration = configuration
        self._whose = whose
        # What renews it is not made for threads.
        self._lock = threading.Lock()

    def header(self) -> str:
        """The value, renewed when it has expired. Raises :class:`LoginError`."""
        with self._lock:
            try:
                settings: Mapping[str, Any] = within(SECONDS, self._configuration.auth_settings)
            except NotInTimeError as error:
                raise LoginError(f"{self._whose}: login does not end within {SECONDS:g} s", LOGIN_HINT) from error
            except Exception as error:
                # Whatever the package and those that it asks may raise; a watch goes on when the next attempt works.
                raise LoginError(f"{self._whose}: login failed: {_reason(error)}", LOGIN_HINT) from error
        values = [str(each["value"]) for each in settings.values() if each["value"]]
        scheme, _, token = values[0].partition(" ") if values else ("", "", "")
        return bearer(token, self._whose) if scheme.lower() == "bearer" else ""


def _remember_user(user: Mapping[str, Any]) -> None:
    for name in ("token", "password", "client-key-data"):
        remember(str(user.get(name) or ""))
    provider = user.get("auth-provider")
    settings = provider.get("config") if isinstance(provider, dict) else None
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if "token" in name or "secret" in name:
            remember(str(value))


# --- what the kubernetes package reads ------------------------------------------------------------------------------


def _configuration(target: Target, content: dict[str, Any], seconds: float | None) -> Configuration:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_incluster_config, load_kube_config_from_dict

    configuration = Configuration()

    def load() -> None:
        if target.cluster is None:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            return
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]
            content, context=_NAME, client_configuration=configuration, persist_config=False
        )

    before = copy.deepcopy(content.get("users"))
    try:
        with _logged_errors() as problems:
            within(seconds or SECONDS, load)
    except ConfigException as error:
        raise KubeconfigError(f"{_whose(target)}: {_reason(error)}", "fix the kubeconfig") from error
    except NotInTimeError as error:
        text = f"{_whose(target)}: the identity provider does not answer within {seconds or SECONDS:g} s"
        raise LoginError(text, f"check the network, or --request-timeout; {LOGIN_HINT}") from error
    except Exception as error:
        # Whatever the package and the libraries that it asks an identity provider with may raise.
        raise LoginError(f"{_whose(target)}: login failed: {_reason(error)}", LOGIN_HINT) from error
    if problems and not configuration.api_key:
        raise LoginError(f"{_whose(target)}: login failed: {capped('; '.join(problems))}", LOGIN_HINT)
    if target.user is not None and content["users"] != before:
        _keep_login(target.user, content["users"][0]["user"])
    return configuration


def _single(cluster: Named, user: Mapping[str, Any]) -> dict[str, Any]:
    """A kubeconfig with one context, of which the package gets no more than it has to know."""
    server = cluster.value.get("server")
    if not server:
        raise KubeconfigError(f'cluster "{cluster.name}" has no server in the kubeconfig', "fix it")
    names = ("insecure-skip-tls-verify", "tls-server-name", "proxy-url")
    settings = {name: cluster.value[name] for name in names if cluster.value.get(name)}
    provider = {"auth-provider": user["auth-provider"]} if user.get("auth-provider") else {}
    context = {"cluster": _NAME, "user": _NAME}
    return {
        "current-context": _NAME,
        "clusters": [{"name": _NAME, "cluster": {**settings, "server": without_login(server)}}],
        "users": [{"name": _NAME, "user": copy.deepcopy(provider)}],
        "contexts": [{"name": _NAME, "context": context}],
    }


def _with_package(target: Target, content: dict[str, Any], cluster: Named, seconds: float | None) -> Configuration:
    configuration = _configuration(target, content, seconds)
    _prepare_proxy(configuration, cluster)
    return configuration


def _prepare_proxy(configuration: Configuration, cluster: Named) -> None:
    """Name what is no proxy, and send its user and password, as Go does and urllib3 does not."""
    from kubernetes.client import rest

    configured = bool(cluster.value.get("proxy-url"))
    if configured:
        # NO_PROXY is about the proxies of the environment.
        configuration.no_proxy = None
    proxy = str(configuration.proxy or "")
    # Older versions of the package have another name for it; then a proxy that is not used is checked, too.
    bypasses = getattr(rest, "should_bypass_proxies", lambda *_: False)
    if not proxy or bypasses(configuration.host, configuration.no_proxy or ""):
        return
    where = f'cluster "{cluster.name}": proxy-url' if configured else "the proxy of the environment"
    proxy = configuration.proxy = proxy_url(proxy, where, configured)
    name, password = login_of(proxy)
    if name or password:
        configuration.proxy = without_login(proxy)
        configuration.proxy_headers = {"proxy-authorization": basic(name, password)}


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _whose(target: Target) -> str:
    return f'user "{target.user.name}"' if target.user is not None else f'context "{target.context}"'


def _reason(error: Exception) -> str:
    """What a library says, without secrets, in one line."""
    return capped(getattr(error, "strerror", None) or str(error)) or type(error).__name__


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """What is logged as an error meanwhile; it does not reach stderr."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(hidden(record.getMessage()))

    collector = Collector(logging.ERROR)
    logging.getLogger().addHandler(collector)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(collector)


def _keep_login(user: Named, renewed: dict[str, Any]) -> None:
    """Write renewed OIDC tokens back, as kubectl does: a refresh token may be good for one use only."""
    import yaml

    content = yaml.safe_load(user.file.read_text(encoding="utf-8"))
    entry = next(each for each in content["users"] if each["name"] == user.name)["user"]
    entry["auth-provider"]["config"] = renewed["auth-provider"]["config"]
    try:
        _replace(
            user.file.resolve(), lambda file: yaml.safe_dump(content, file, default_flow_style=False, sort_keys=False)
        )
    except OSError as error:
        logging.getLogger(__name__).warning("renewed login could not be written to %s: %s", user.file, error.strerror)


def _replace(path: Path, write: Callable[[Any], object]) -> None:
    """Replace a file whole, or leave nothing behind."""
    mode = path.stat().st_mode & 0o777
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as partial:
        try:
            write(partial)
            partial.flush()
            Path(partial.name).chmod(mode)
            Path(partial.name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(partial.name).unlink()
            raise
