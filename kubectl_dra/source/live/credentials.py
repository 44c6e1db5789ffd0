"""From a kubeconfig's target to the kubernetes package's Configuration: login helpers, OIDC, certificates, proxies.

The only place, with ``session``, that knows the kubernetes package. What it gets is one cluster and one user with
absolute paths, so that its own rules of merging and of relative paths do not matter.
"""

from __future__ import annotations

import copy
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kubectl_dra.source.live.errors import CertificateError, KubeconfigError, LoginError, capped
from kubectl_dra.source.live.kubeconfig import Named, Target

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_NAME: Final = "chosen"
_LOGIN_HINT: Final = "log in again, or choose another --context or --user"


def configuration_of(target: Target) -> Configuration:
    """Credentials and connection settings of ``target``; may run a login helper or ask an identity provider.

    Raises :class:`KubeconfigError`, :class:`LoginError`, :class:`CertificateError`.
    """
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException

    configuration = Configuration()
    try:
        with _logged_errors() as problems:
            _load(target, configuration)
    except ConfigException as error:
        raise KubeconfigError(f"{_whose(target)}: {capped(str(error))}", "mend the kubeconfig") from error
    except _login_failures() as error:
        raise _refused(target, str(error)) from error
    if problems and not _has_credentials(configuration):
        # The package logs what a login helper says and goes on without credentials.
        raise _refused(target, "; ".join(problems))
    _check_files(configuration)
    return configuration


def _refused(target: Target, said: str) -> LoginError:
    """What a login helper, or its absence, says; the kubeconfig may tell how to install one."""
    helper = target.user.value.get("exec") if target.user is not None else None
    command = helper.get("command") if isinstance(helper, dict) else None
    if not isinstance(helper, dict) or not isinstance(command, str) or shutil.which(command) is not None:
        return LoginError(f"{_whose(target)}: login failed: {capped(said)}", _LOGIN_HINT)
    told = capped(" ".join(str(helper.get("installHint") or "").split()))
    hint = told or f"install {command} and put it on the PATH, or choose another --context or --user"
    return LoginError(f"{_whose(target)}: the login helper {command} is not installed", hint)


def _load(target: Target, configuration: Configuration) -> None:
    from kubernetes.config import load_incluster_config, load_kube_config_from_dict

    if target.cluster is None:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
        return
    content = _single(target.cluster, target.user)
    before = copy.deepcopy(content["users"])
    load_kube_config_from_dict(  # type: ignore[no-untyped-call]
        content, context=_NAME, client_configuration=configuration, persist_config=False
    )
    if target.user is not None and content["users"] != before:
        _keep_login(target.user, content["users"][0]["user"])


def _single(cluster: Named, named_user: Named | None) -> dict[str, Any]:
    """A kubeconfig with one context; entries that are null count as absent."""
    if not cluster.value.get("server"):
        raise KubeconfigError(f'cluster "{cluster.name}" has no server in the kubeconfig', "mend it")
    user = {} if named_user is None else _without_nulls(named_user.value)
    if token_file := user.pop("tokenFile", None):
        user["token"] = _token(Path(token_file))
    context = {"cluster": _NAME, "user": _NAME}
    return {
        "current-context": _NAME,
        "clusters": [{"name": _NAME, "cluster": _without_nulls(cluster.value)}],
        "users": [{"name": _NAME, "user": copy.deepcopy(user)}],
        "contexts": [{"name": _NAME, "context": context}],
    }


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _token(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise LoginError(f"token file {file} can't be read: {error}", _LOGIN_HINT) from error


def _has_credentials(configuration: Configuration) -> bool:
    return bool(configuration.api_key or configuration.cert_file)


def _check_files(configuration: Configuration) -> None:
    """Certificates that don't exist would only fail deep in the TLS library, without a name."""
    for path in (configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file):
        if path and not os.access(path, os.R_OK):
            raise CertificateError(f"certificate or key {path} can't be read", "mend the kubeconfig")


def _whose(target: Target) -> str:
    return f'user "{target.user.name}"' if target.user is not None else f'context "{target.context}"'


def _login_failures() -> tuple[type[Exception], ...]:
    from kubernetes.client.exceptions import OpenApiException
    from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]  # the package refreshes tokens with it
    from urllib3.exceptions import HTTPError

    return (OSError, ValueError, KeyError, OpenApiException, OAuth2Error, HTTPError)


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """What is logged as an error meanwhile; it does not reach stderr."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

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
        with tempfile.NamedTemporaryFile(
            "w", dir=user.file.resolve().parent, delete=False, encoding="utf-8"
        ) as partial:
            yaml.safe_dump(content, partial, default_flow_style=False, sort_keys=False)
        Path(partial.name).chmod(user.file.stat().st_mode & 0o777)
        Path(partial.name).replace(user.file.resolve())
    except OSError as error:
        logging.getLogger(__name__).warning("renewed login could not be written to %s: %s", user.file, error)
