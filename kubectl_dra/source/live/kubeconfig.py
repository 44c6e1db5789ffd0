"""Which cluster, user and namespace kubectl's flags and files mean; no request is made and no credential is read here.

Rules of client-go's loading: an explicit file must exist; of the files in ``$KUBECONFIG`` the first one to define a
name or the current context wins; relative paths count from the file that they stand in; without any kubeconfig a
process in a pod uses its service account. Texts of a kubeconfig other than names, paths and servers may be secrets: no
error repeats them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubectl_dra.model.names import DEFAULT_NAMESPACE, LABEL_RULE, is_label
from kubectl_dra.source.live.errors import KubeconfigError
from kubectl_dra.source.live.urls import server_url
from kubectl_dra.source.spec import Connection

Entry = Mapping[str, Any]
_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PATHS: Final = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}
# What each field of client-go's api.Cluster, api.AuthInfo and api.Context must be; all others are texts or not used.
_TYPES: Final[Mapping[str, Mapping[str, type]]] = {
    "cluster": {
        **dict.fromkeys(("server", "proxy-url", "tls-server-name"), str),
        **dict.fromkeys(("certificate-authority", "certificate-authority-data"), str),
        **dict.fromkeys(("insecure-skip-tls-verify", "disable-compression"), bool),
    },
    "user": {
        **dict.fromkeys(("token", "tokenFile", "username", "password", "as", "as-uid"), str),
        **dict.fromkeys(("client-certificate", "client-certificate-data", "client-key", "client-key-data"), str),
        **dict.fromkeys(("exec", "auth-provider", "as-user-extra"), dict),
        "as-groups": list,
    },
    "context": dict.fromkeys(("cluster", "user", "namespace"), str),
}
_TLS: Final = (
    *("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"),
    *("client-certificate", "client-certificate-data"),
)
_WORDS: Final[Mapping[type, str]] = {str: "text", bool: "true or false", dict: "a mapping", list: "a list"}
_MAX_BYTES: Final = 64 << 20
_NAMES_SHOWN: Final = 10
# Where there is nothing to choose from.
_CHOOSE: Final = "name another --kubeconfig"
_ANOTHER: Final = "set KUBECONFIG or --kubeconfig, or read a file with --from"


class Named(msgspec.Struct, frozen=True):
    """A cluster, user or context of a kubeconfig, and the file that defines it; its paths are absolute."""

    name: str
    value: Entry
    file: Path


class Kubeconfig(msgspec.Struct, frozen=True):
    """All files merged."""

    current_context: str = ""
    clusters: Mapping[str, Named] = msgspec.field(default_factory=dict)
    users: Mapping[str, Named] = msgspec.field(default_factory=dict)
    contexts: Mapping[str, Named] = msgspec.field(default_factory=dict)


class Target(msgspec.Struct, frozen=True):
    """Where requests go. ``cluster`` is None inside a pod without kubeconfig; ``user`` is None for anonymous access."""

    context: str
    namespace: str
    cluster: Named | None = None
    user: Named | None = None

    @property
    def in_cluster(self) -> bool:
        """Whether the pod's own service account is meant."""
        return self.cluster is None

    @property
    def server(self) -> str:
        """The server's URL, which may be with a password."""
        return "" if self.cluster is None else str(self.cluster.value.get("server") or "")


def target_of(connection: Connection) -> Target:
    """What ``connection`` means. Raises :class:`KubeconfigError`."""
    files = kubeconfig_files(connection.kubeconfig)
    config = read_kubeconfig(files)
    chosen = connection.context or config.current_context
    asked = (connection.context, connection.cluster, connection.user, connection.server)
    if not any(asked) and not config.clusters and "KUBERNETES_SERVICE_HOST" in os.environ:
        return Target("in-cluster", _service_account_namespace())
    if not files and not connection.server:
        raise _none_found()
    context = _checked(_find(config.contexts, chosen, "context"), "context").value if chosen else {}
    cluster = connection.cluster or context.get("cluster") or ""
    user = connection.user or context.get("user") or ""
    if not cluster and not connection.server:
        raise _nothing_chosen(files, config)
    # client-go takes a user that is not defined for anonymous, unless it was asked for.
    found = _find(config.users, user, "user") if connection.user else config.users.get(user)
    checked = _user(None if found is None else _checked(found, "user"), connection)
    known = _find(config.clusters, cluster, "cluster") if cluster else Named("--server", {}, Path())
    return Target(
        context=chosen,
        namespace=context.get("namespace") or DEFAULT_NAMESPACE,
        cluster=_with_server(_cluster(_checked(known, "cluster"), connection), checked),
        user=checked,
    )


def _cluster(known: Named, connection: Connection) -> Named:
    """The cluster with the server and the trust of the flags; authorities would be for nothing without checks."""
    value = dict(known.value)
    if connection.server:
        value["server"] = connection.server
    if connection.insecure:
        value["insecure-skip-tls-verify"] = True
        for name in ("certificate-authority", "certificate-authority-data"):
            value.pop(name, None)
    return replace(known, value=value)


def _user(known: Named | None, connection: Connection) -> Named | None:
    """As client-go: a token of the flags comes in place of every other way to log in, but for certificates."""
    if not connection.token:
        return known
    kept = {} if known is None else {k: v for k, v in known.value.items() if k not in _LOGINS}
    return Named("--token" if known is None else known.name, {**kept, "token": connection.token}, Path())


_LOGINS: Final = ("token", "tokenFile", "username", "password", "exec", "auth-provider")


def current_namespace(connection: Connection) -> str:
    """The namespace of the chosen context. Raises :class:`KubeconfigError`, also for what no namespace is called."""
    target = target_of(connection)
    if not is_label(target.namespace):
        what = f'context "{target.context}": "{target.namespace}" is not a valid namespace name: {LABEL_RULE}'
        raise KubeconfigError(what, "fix the kubeconfig, or name a namespace with -n")
    return target.namespace


def kubeconfig_files(explicit: str = "") -> tuple[Path, ...]:
    """The files to read, in order. Raises :class:`KubeconfigError` if the one that was named does not exist."""
    if explicit:
        path = Path(explicit).expanduser()
        if not path.exists():
            raise KubeconfigError(f"kubeconfig {explicit} does not exist", _CHOOSE)
        return (path,)
    existing = (path for each in _named_files() if (path := each.expanduser()).exists())
    return tuple(dict.fromkeys(existing))


def _named_files() -> list[Path]:
    """Those of ``$KUBECONFIG``, else the one in the home directory."""
    listed = os.environ.get("KUBECONFIG", "")
    return [Path(part) for part in listed.split(os.pathsep) if part] or [Path("~/.kube/config")]


def read_kubeconfig(files: Iterable[Path]) -> Kubeconfig:
    """Merge ``files``. Raises :class:`KubeconfigError` for one that can't be read.

    A command asks several times: what has not changed since is not read again.
    """
    return _merged(tuple((file, _stamp(file)) for file in files))


def _stamp(file: Path) -> tuple[int, ...]:
    """What tells a file from its next version; empty where reading it will say what is wrong."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return () if file.is_fifo() else (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _merged(files: tuple[tuple[Path, tuple[int, ...]], ...]) -> Kubeconfig:
    current = ""
    merged: dict[str, dict[str, Named]] = {"clusters": {}, "users": {}, "contexts": {}}
    for file, _ in files:
        content = _read(file)
        current = current or str(content.get("current-context") or "")
        for section, known in merged.items():
            for named in _entries(content.get(section), section, file):
                known.setdefault(named.name, named)
    return Kubeconfig(current, **merged)


def _read(file: Path) -> Entry:
    from kubectl_dra.source.yaml_reader import TooDeepError, YAMLError, read_documents  # only live commands need it

    try:
        data = _bytes_of_pipe(file) if file.is_fifo() else _bytes(file)
        if len(data) > _MAX_BYTES:
            raise KubeconfigError(f"kubeconfig {file} has more than {_MAX_BYTES >> 20} MiB", _CHOOSE)
        documents = [each.value for each in read_documents(data.decode("utf-8-sig"), unique=False)]
    except OSError as error:
        raise KubeconfigError(f"kubeconfig {file}: {error.strerror or type(error).__name__}", _CHOOSE) from error
    except TooDeepError as error:
        raise KubeconfigError(f"kubeconfig {file}, line {error.line}: {error.problem}", "fix it") from None
    except YAMLError as error:
        # Not the words of the parser, which repeat parts of the text.
        raise KubeconfigError(f"kubeconfig {file} is not valid YAML: line {error.line}", "fix it") from None
    except UnicodeDecodeError:
        raise KubeconfigError(f"kubeconfig {file} is not valid UTF-8 text", _CHOOSE) from None
    content = documents[0] if documents else {}
    if not isinstance(content, dict):
        raise KubeconfigError(f"kubeconfig {file} is not a mapping", _CHOOSE)
    return content


def _bytes(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(_MAX_BYTES + 1)


# ``--kubeconfig <(decrypt it)`` can be read only once.
_bytes_of_pipe: Final = functools.lru_cache(maxsize=8)(_bytes)


def _entries(section: object, name: str, file: Path) -> Iterable[Named]:
    if section is None:
        return
    singular = name.removesuffix("s")
    for entry in section if isinstance(section, list) else [None]:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise KubeconfigError(f"kubeconfig {file}: every entry of {name} needs a name", "fix it")
        value = entry.get(singular) or {}
        if not isinstance(value, dict):
            raise KubeconfigError(f'kubeconfig {file}: {singular} "{entry["name"]}" is not a mapping', "fix it")
        yield Named(entry["name"], _with_absolute_paths(value, singular, file.absolute().parent), file)


def _with_absolute_paths(value: Entry, singular: str, folder: Path) -> Entry:
    keys = _PATHS.get(singular, ())
    changed: dict[str, Any] = {key: str(folder / str(value[key])) for key in keys if value.get(key)}
    command = value.get("exec", {}).get("command", "") if isinstance(value.get("exec"), dict) else ""
    # A bare name is looked up in PATH; only a path counts from the file.
    if os.sep in str(command):
        changed["exec"] = {**value["exec"], "command": str(folder / command)}
    return {**value, **changed}


def _checked(named: Named, kind: str) -> Named:
    """``named``, whose fields are what client-go can read. Raises :class:`KubeconfigError`."""
    for key, expected in _TYPES[kind].items():
        value = named.value.get(key)
        if value is not None and not isinstance(value, expected):
            what = f'kubeconfig {named.file}: {kind} "{named.name}": {key} is not {_WORDS[expected]}'
            raise KubeconfigError(what, "fix it")
    return named


def _with_server(cluster: Named, user: Named | None) -> Named:
    """``cluster`` with a server that is a URL. As client-go: HOST:PORT means https where there are TLS settings."""
    server = cluster.value.get("server")
    if not server:
        return cluster
    encrypted = any(cluster.value.get(name) for name in _TLS) or any((user.value if user else {}).get(n) for n in _TLS)
    url = server_url(server, f'cluster "{cluster.name}"', encrypted)
    return replace(cluster, value={**cluster.value, "server": url})


def _find(entries: Mapping[str, Named], name: str, kind: str) -> Named:
    found = entries.get(name)
    if found is None:
        hint = f"choose a {kind}: {_listed(entries)}" if entries else _ANOTHER
        raise KubeconfigError(f'{kind} "{name}" does not exist in the kubeconfig', hint)
    return found


def _listed(entries: Iterable[str]) -> str:
    """Names in their order, of thousands only the first."""
    names = sorted(entries)
    more = [f"and {len(names) - _NAMES_SHOWN} more"] if len(names) > _NAMES_SHOWN else []
    return ", ".join([*names[:_NAMES_SHOWN], *more])


def _none_found() -> KubeconfigError:
    """No file is there: which ones were meant."""
    named = [str(path) for path in _named_files()]
    if os.environ.get("KUBECONFIG"):
        verb = "does" if len(named) == 1 else "do"
        return KubeconfigError(f"KUBECONFIG names {' and '.join(named)}, which {verb} not exist", _ANOTHER)
    return KubeconfigError(f"no kubeconfig found: {named[0]} does not exist", _ANOTHER)


def _nothing_chosen(files: tuple[Path, ...], config: Kubeconfig) -> KubeconfigError:
    names = _listed(config.contexts)
    where = os.pathsep.join(map(str, files))
    hint = f"choose a context with --context: {names}" if names else _CHOOSE
    return KubeconfigError(f"kubeconfig {where} has no current context", hint)


def _service_account_namespace() -> str:
    if named := os.environ.get("POD_NAMESPACE"):
        return named
    try:
        return (_SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip() or DEFAULT_NAMESPACE
    except (OSError, UnicodeDecodeError):
        return DEFAULT_NAMESPACE
