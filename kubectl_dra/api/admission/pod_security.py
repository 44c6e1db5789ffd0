"""What Pod Security has against a pod, in the words of the API server: the levels that labels of a namespace enforce.

Upstream: k8s.io/pod-security-admission, api/helpers.go (PolicyToEvaluate), policy/registry.go and policy/check_*.go.
Exemptions stand in a file of the API server, which nobody can read from outside. Pods are JSON trees as the server
would store them; what is none of the types that the API has counts as not set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kubectl_dra.api.admission.pod_fields import SecuredPod
from kubectl_dra.api.trees import Tree

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_VERSION: Final = f"{ENFORCE}-version"
_LATEST: Final = "latest"
PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
_ALLOWED_CAPABILITIES: Final = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
        *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_SELINUX_TYPES: Final = frozenset(("", "container_t", "container_init_t", "container_kvm_t"))
#: The minor version from which a type or a sysctl is allowed.
_LATER_SELINUX_TYPES: Final = {"container_engine_t": 31}
_SYSCTLS: Final = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    **dict.fromkeys(("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout"), 29),
    **dict.fromkeys(("net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes"), 29),
    **dict.fromkeys(("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"), 32),
    **dict.fromkeys(("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"), 37),
}
#: The sources of volumes that the level restricted has, and the names of the others.
_VOLUMES: Final = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected"),
    "secret",
)
_OTHER_VOLUMES: Final = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd"),
    *("flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk"),
    *("photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"),
)
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP: Final = "container.seccomp.security.alpha.kubernetes.io/"
_ANNOTATED_SECCOMP: Final = ("runtime/default", "docker/default")
_FIELD_SINCE: Final = 19


class Level(NamedTuple):
    """What a namespace enforces: a level, and the minor version whose rules count; None for the server's own."""

    level: str
    minor: int | None = None

    def __str__(self) -> str:
        return f"{self.level}:{_LATEST if self.minor is None else f'v1.{self.minor}'}"


def enforced(labels: Mapping[str, str]) -> Level | None:
    """The level of a namespace with these labels; None where it has none of its own or the widest one.

    A word that is no level is ``restricted``, and one that is no version the latest, as the server takes them.
    """
    level = labels.get(ENFORCE, PRIVILEGED)
    if level == PRIVILEGED:
        return None
    version = labels.get(_VERSION, _LATEST)
    number = version.removeprefix("v1.")
    stated = version.startswith("v1.") and number.isascii() and number.isdigit() and str(int(number)) == number
    return Level(level if level == BASELINE else RESTRICTED, int(number) if stated else None)


def violation(level: Level, server: int, pod: Tree) -> str:
    """What a server of that minor version says of a pod that it refuses; empty for one that it admits."""
    minor = server if level.minor is None else min(level.minor, server)
    found = SecuredPod.of(pod)
    checks = [each for each in _CHECKS if each.since <= minor and (level.level == RESTRICTED or not each.restricted)]
    overridden = {each.overrides for each in checks}
    said = (each.check(found, minor) for each in checks if each.check not in overridden)
    told = [f"{reason} ({detail})" for reason, detail in filter(None, said)]
    return f'violates PodSecurity "{level}": {", ".join(told)}' if told else ""


_Said = tuple[str, str] | None


# --- words ------------------------------------------------------------------------------------------------------------


def _quoted(items: Iterable[str]) -> str:
    return ", ".join(f'"{each}"' for each in items)


def _several(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


def _containers(names: Sequence[str]) -> str:
    return f"{_several('container', len(names))} {_quoted(names)}"


def _use(number: int) -> str:
    return "uses" if number == 1 else "use"


def _setters(pod: bool, names: Sequence[str]) -> str:
    """Who sets something: the pod, some of its containers, or both; empty for neither."""
    return " and ".join((*(("pod",) if pod else ()), *((_containers(names),) if names else ())))


# --- baseline ---------------------------------------------------------------------------------------------------------


def _app_armor(pod: SecuredPod, minor: int) -> _Said:
    del minor
    own, them = pod.set_types("appArmorProfile")
    bad = sorted({kind for kind in (own, *them.values()) if kind not in (None, *_PROFILES)}, key=str)
    setters = [_setters(own in bad, [name for name, kind in them.items() if kind in bad])]
    annotated = [
        f'{key}="{value}"'
        for key, value in sorted(pod.annotations.items())
        if key.startswith(_APP_ARMOR) and not (value in ("", "runtime/default") or value.startswith("localhost/"))
    ]
    setters += [_several("annotation", len(annotated))] if annotated else []
    values = [*map(str, bad), *annotated]
    told = f"{' and '.join(filter(None, setters))} must not set AppArmor profile type to {_quoted(values)}"
    return (f"forbidden AppArmor {_several('profile', len(values))}", told) if values else None


def _capabilities(pod: SecuredPod, minor: int) -> _Said:
    del minor
    added = {name: own for name in pod.names if (own := pod.added(name) - _ALLOWED_CAPABILITIES)}
    if not added:
        return None
    return "non-default capabilities", _adding(added)


def _adding(added: Mapping[str, Iterable[str]]) -> str:
    every = sorted({each for own in added.values() for each in own})
    return f"{_containers(list(added))} must not include {_quoted(every)} in securityContext.capabilities.add"


def _host_namespaces(pod: SecuredPod, minor: int) -> _Said:
    del minor
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(field) is True]
    return ("host namespaces", ", ".join(found)) if found else None


def _host_paths(pod: SecuredPod, minor: int) -> _Said:
    del minor
    names = [name for name, volume in pod.volumes if volume.get("hostPath") is not None]
    return ("hostPath volumes", f"{_several('volume', len(names))} {_quoted(names)}") if names else None


def _host_ports(pod: SecuredPod, minor: int) -> _Said:
    del minor
    found = {name: ports for name in pod.names if (ports := pod.host_ports(name))}
    every = sorted({str(port) for ports in found.values() for port in ports})
    told = f"{_containers(list(found))} {_use(len(found))} {_several('hostPort', len(every))} {', '.join(every)}"
    return ("hostPort", told) if found else None


def _handlers(pod: SecuredPod, minor: int) -> _Said:
    del minor
    found = {name: hosts for name in sorted(pod.names) if (hosts := set(pod.hosts(name)))}
    every = sorted({host for hosts in found.values() for host in hosts})
    what = _several("probe or lifecycle host", len(every))
    told = f"{_containers(list(found))} {_use(len(found))} {what} {_quoted(every)}"
    return ("probe or lifecycle host", told) if found else None


def _privileged(pod: SecuredPod, minor: int) -> _Said:
    del minor
    names = [name for name in pod.names if pod.context(name).get("privileged") is True]
    return ("privileged", f"{_containers(names)} must not set securityContext.privileged=true") if names else None


def _proc_mount_baseline(pod: SecuredPod, minor: int) -> _Said:
    return None if minor >= _USER_NAMESPACES and pod.in_user_namespace else _proc_mount(pod, minor)


def _proc_mount(pod: SecuredPod, minor: int) -> _Said:
    del minor
    mounts = {name: pod.context(name).get("procMount") for name in pod.names}
    bad = {name: mount for name, mount in mounts.items() if isinstance(mount, str) and mount != "Default"}
    told = f"{_containers(list(bad))} must not set securityContext.procMount to {_quoted(sorted(set(bad.values())))}"
    return ("procMount", told) if bad else None


def _se_linux(pod: SecuredPod, minor: int) -> _Said:
    allowed = _SELINUX_TYPES | {each for each, since in _LATER_SELINUX_TYPES.items() if minor >= since}
    own, them = pod.settings("seLinuxOptions")

    def bad(options: Tree) -> bool:
        return str(options.get("type") or "") not in allowed or bool(options.get("user") or options.get("role"))

    setters = _setters(bad(own), [name for name, options in them.items() if bad(options)])
    every = (own, *them.values())
    types = sorted({kind for each in every if (kind := str(each.get("type") or "")) not in allowed})
    told = [f"{_several('type', len(types))} {_quoted(types)}"] if types else []
    told += [f"{field} may not be set" for field in ("user", "role") if any(each.get(field) for each in every)]
    text = f"{setters} set forbidden securityContext.seLinuxOptions: {'; '.join(told)}"
    return ("seLinuxOptions", text) if setters else None


def _seccomp_baseline(pod: SecuredPod, minor: int) -> _Said:
    if minor < _FIELD_SINCE:
        keys = [_SECCOMP_POD, *(f"{_SECCOMP}{name}" for name in pod.names)]
        there = {key: pod.annotations[key] for key in keys if key in pod.annotations}
        bad = sorted(
            f'{key}="{value}"'
            for key, value in there.items()
            if value not in _ANNOTATED_SECCOMP and not value.startswith("localhost/")
        )
        return ("seccompProfile", f"forbidden {_several('annotation', len(bad))} {', '.join(bad)}") if bad else None
    own, them = pod.set_types("seccompProfile")
    values = sorted({str(kind) for kind in (own, *them.values()) if kind not in (None, *_PROFILES)})
    setters = _setters(str(own) in values, [name for name, kind in them.items() if str(kind) in values])
    told = f"{setters} must not set securityContext.seccompProfile.type to {_quoted(values)}"
    return ("seccompProfile", told) if values else None


def _sysctls(pod: SecuredPod, minor: int) -> _Said:
    bad = [name for name in pod.sysctls if _SYSCTLS.get(name, minor + 1) > minor]
    return ("forbidden sysctls", ", ".join(bad)) if bad else None


def _host_process(pod: SecuredPod, minor: int) -> _Said:
    del minor
    own, them = pod.settings("windowsOptions")
    setters = _setters(
        own.get("hostProcess") is True, [name for name, each in them.items() if each.get("hostProcess") is True]
    )
    told = f"{setters} must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", told) if setters else None


# --- restricted -------------------------------------------------------------------------------------------------------

#: From here on pods of Windows need not set what only Linux has.
_WINDOWS: Final = 25
#: From here on pods with a user namespace of their own may run as root in it.
_USER_NAMESPACES: Final = 35


def _escalation(pod: SecuredPod, minor: int) -> _Said:
    if minor >= _WINDOWS and pod.on_windows:
        return None
    names = [name for name in pod.names if pod.context(name).get("allowPrivilegeEscalation") is not False]
    told = f"{_containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    return ("allowPrivilegeEscalation != false", told) if names else None


def _capabilities_restricted(pod: SecuredPod, minor: int) -> _Said:
    if minor >= _WINDOWS and pod.on_windows:
        return None
    keeping = [name for name in pod.names if "ALL" not in pod.dropped(name)]
    added = {name: own for name in pod.names if (own := pod.added(name) - {"NET_BIND_SERVICE"})}
    told = [f'{_containers(keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    told += [_adding(added)] if added else []
    return ("unrestricted capabilities", "; ".join(told)) if told else None


def _volumes(pod: SecuredPod, minor: int) -> _Said:
    del minor
    others = [(name, volume) for name, volume in pod.volumes if all(volume.get(each) is None for each in _VOLUMES)]
    names = [name for name, _ in others]
    kinds = sorted(
        {next((each for each in _OTHER_VOLUMES if volume.get(each) is not None), "unknown") for _, volume in others}
    )
    what = _several("restricted volume type", len(kinds))
    told = f"{_several('volume', len(names))} {_quoted(names)} {_use(len(names))} {what} {_quoted(kinds)}"
    return ("restricted volume types", told) if names else None


def _non_root(pod: SecuredPod, minor: int) -> _Said:
    if minor >= _USER_NAMESPACES and pod.in_user_namespace:
        return None
    own = pod.own_context.get("runAsNonRoot")
    them = {name: pod.context(name).get("runAsNonRoot") for name in pod.names}
    setters = _setters(own is False, [name for name, value in them.items() if value is False])
    if setters:
        return "runAsNonRoot != true", f"{setters} must not set securityContext.runAsNonRoot=false"
    silent = [name for name, value in them.items() if value is not True and own is not True]
    told = f"pod or {_containers(silent)} must set securityContext.runAsNonRoot=true"
    return ("runAsNonRoot != true", told) if silent else None


def _root(pod: SecuredPod, minor: int) -> _Said:
    if minor >= _USER_NAMESPACES and pod.in_user_namespace:
        return None
    setters = _setters(_is_root(pod.own_context), [name for name in pod.names if _is_root(pod.context(name))])
    return ("runAsUser=0", f"{setters} must not set runAsUser=0") if setters else None


def _is_root(context: Tree) -> bool:
    user = context.get("runAsUser")
    return isinstance(user, int) and not isinstance(user, bool) and user == 0


def _seccomp_restricted(pod: SecuredPod, minor: int) -> _Said:
    if minor >= _WINDOWS and pod.on_windows:
        return None
    bad = _seccomp_baseline(pod, minor)
    if bad is not None:
        return bad
    own, them = pod.set_types("seccompProfile")
    silent = [name for name in pod.names if name not in them and own is None]
    text = (
        f'pod or {_containers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    )
    return ("seccompProfile", text) if silent else None


@dataclass(frozen=True, slots=True)
class _Check:
    """A rule, the minor version that it begins with, and the one of the wider level that it stands in for."""

    check: Callable[[SecuredPod, int], _Said]
    since: int = 0
    restricted: bool = False
    overrides: Callable[[SecuredPod, int], _Said] | None = None


#: In the order in which the server speaks of them: by name, the wider level first.
_CHECKS: Final = (
    _Check(_app_armor),
    _Check(_capabilities),
    _Check(_host_namespaces),
    _Check(_host_paths),
    _Check(_host_ports),
    _Check(_handlers, 34),
    _Check(_privileged),
    _Check(_proc_mount_baseline),
    _Check(_se_linux),
    _Check(_seccomp_baseline),
    _Check(_sysctls),
    _Check(_host_process),
    _Check(_escalation, 8, restricted=True),
    _Check(_capabilities_restricted, 22, restricted=True, overrides=_capabilities),
    _Check(_proc_mount, _USER_NAMESPACES, restricted=True, overrides=_proc_mount_baseline),
    _Check(_volumes, restricted=True, overrides=_host_paths),
    _Check(_non_root, restricted=True),
    _Check(_root, 23, restricted=True),
    _Check(_seccomp_restricted, _FIELD_SINCE, restricted=True, overrides=_seccomp_baseline),
)
