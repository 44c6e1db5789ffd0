"""Which cluster, user and namespace kubectl's flags and files mean; no request is made and no credential is read here.

Rules of client-go's loading: an explicit file must exist; of the files in ``$KUBECONFIG`` the first one to define a
name or the current context wins; relative paths count from the file that they stand in; without any kubeconfig a
process in a pod uses its service account.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kubectl_dra.source.live.errors import KubeconfigError
from kubectl_dra.source.spec import Connection

Entry = Mapping[str, Any]
DEFAULT_NAMESPACE: Final = "default"
_SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_CLUSTER_PATHS: Final = ("certificate-authority",)
_USER_PATHS: Final = ("client-certificate", "client-key", "tokenFile")
# Where there is nothing to choose from.
_ANOTHER: Final = "set KUBECONFIG or --kubeconfig, or read a file with --from"


@dataclass(frozen=True, slots=True)
class Named:
    """A cluster, user or context of a kubeconfig, and the file that defines it; its paths are absolute."""

    name: str
    value: Entry
    file: Path


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """All files merged."""

    current_context: str = ""
    clusters: Mapping[str, Named] = field(default_factory=dict)
    users: Mapping[str, Named] = field(default_factory=dict)
    contexts: Mapping[str, Named] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
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
        """The server's URL, as far as the kubeconfig says it."""
        return "" if self.cluster is None else str(self.cluster.value.get("server") or "")


def target_of(connection: Connection) -> Target:
    """What ``connection`` means. Raises :class:`KubeconfigError`."""
    files = kubeconfig_files(connection.kubeconfig)
    config = read_kubeconfig(files)
    chosen = connection.context or config.current_context
    asked = (connection.context, connection.cluster, connection.user)
    if not any(asked) and not config.clusters and "KUBERNETES_SERVICE_HOST" in os.environ:
        return Target("in-cluster", _service_account_namespace())
    context = _find(config.contexts, chosen, "context").value if chosen else {}
    cluster = connection.cluster or str(context.get("cluster") or "")
    user = connection.user or str(context.get("user") or "")
    if not cluster:
        raise _nothing_chosen(files, config)
    return Target(
        context=chosen,
        namespace=str(context.get("namespace") or DEFAULT_NAMESPACE),
        cluster=_find(config.clusters, cluster, "cluster"),
        # client-go takes a user that is not defined for anonymous, unless it was asked for.
        user=_find(config.users, user, "user") if connection.user else config.users.get(user),
    )


def kubeconfig_files(explicit: str = "") -> tuple[Path, ...]:
    """The files to read, in order. Raises :class:`KubeconfigError` if the one that was named does not exist."""
    if explicit:
        path = Path(explicit).expanduser()
        if not path.is_file():
            raise KubeconfigError(f"kubeconfig {explicit} does not exist", "name another --kubeconfig")
        return (path,)
    listed = os.environ.get("KUBECONFIG", "")
    paths = [Path(part) for part in listed.split(os.pathsep) if part] or [Path("~/.kube/config")]
    existing = (path for each in paths if (path := each.expanduser()).is_file())
    return tuple(dict.fromkeys(existing))


def read_kubeconfig(files: Iterable[Path]) -> Kubeconfig:
    """Merge ``files``. Raises :class:`KubeconfigError` for one that can't be read."""
    current = ""
    merged: dict[str, dict[str, Named]] = {"clusters": {}, "users": {}, "contexts": {}}
    for file in files:
        content = _read(file)
        current = current or str(content.get("current-context") or "")
        for section, known in merged.items():
            for named in _entries(content.get(section), section, file):
                known.setdefault(named.name, named)
    return Kubeconfig(current, **merged)


def _read(file: Path) -> Entry:
    import yaml  # only live commands need it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(file.read_bytes(), Loader=loader)  # noqa: S506 - a safe loader
    except OSError as error:
        raise KubeconfigError(f"kubeconfig {file}: {error.strerror}", "name another --kubeconfig") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise KubeconfigError(f"kubeconfig {file} is no YAML: {' '.join(str(error).split())}", "mend it") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise KubeconfigError(f"kubeconfig {file} is no mapping", "name another --kubeconfig")
    return content


def _entries(section: object, name: str, file: Path) -> Iterable[Named]:
    if section is None:
        return
    singular = name.removesuffix("s")
    for entry in section if isinstance(section, list) else [None]:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise KubeconfigError(f"kubeconfig {file}: every entry of {name} needs a name", "mend it")
        value = entry.get(singular) or {}
        if not isinstance(value, dict):
            raise KubeconfigError(f'kubeconfig {file}: {singular} "{entry["name"]}" is no mapping', "mend it")
        yield Named(entry["name"], _with_absolute_paths(value, singular, file.absolute().parent), file)


def _with_absolute_paths(value: Entry, singular: str, folder: Path) -> Entry:
    keys = {"cluster": _CLUSTER_PATHS, "user": _USER_PATHS}.get(singular, ())
    changed: dict[str, Any] = {key: str(folder / str(value[key])) for key in keys if value.get(key)}
    command = value.get("exec", {}).get("command", "") if isinstance(value.get("exec"), dict) else ""
    # A bare name is looked up in PATH; only a path counts from the file.
    if os.sep in str(command):
        changed["exec"] = {**value["exec"], "command": str(folder / command)}
    return {**value, **changed}


def _find(entries: Mapping[str, Named], name: str, kind: str) -> Named:
    found = entries.get(name)
    if found is None:
        hint = f"choose a {kind}: {', '.join(sorted(entries))}" if entries else _ANOTHER
        raise KubeconfigError(f'{kind} "{name}" does not exist in the kubeconfig', hint)
    return found


def _nothing_chosen(files: tuple[Path, ...], config: Kubeconfig) -> KubeconfigError:
    if not files:
        return KubeconfigError("no kubeconfig found", _ANOTHER)
    names = ", ".join(sorted(config.contexts))
    where = os.pathsep.join(map(str, files))
    hint = f"choose a context with --context: {names}" if names else "name another --kubeconfig"
    return KubeconfigError(f"kubeconfig {where} has no current context", hint)


def _service_account_namespace() -> str:
    if named := os.environ.get("POD_NAMESPACE"):
        return named
    try:
        return (_SERVICE_ACCOUNT / "namespace").read_text(encoding="utf-8").strip() or DEFAULT_NAMESPACE
    except OSError:
        return DEFAULT_NAMESPACE
