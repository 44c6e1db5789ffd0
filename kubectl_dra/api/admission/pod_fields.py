"""The fields of a pod that Pod Security reads, as the server has them after its defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping, text_at

_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS: Final = ("postStart", "preStop")


@dataclass(frozen=True, slots=True)
class SecuredPod:
    """``containers`` by name, the init containers first, in the order in which the server visits them."""

    spec: Tree
    annotations: Mapping[str, str]
    containers: Mapping[str, Tree]

    @classmethod
    def of(cls, pod: Tree) -> SecuredPod:
        spec = mapping(pod.get("spec"))
        written = mapping(at(pod, "metadata").get("annotations"))
        annotations = {key: value for key, value in written.items() if isinstance(value, str)}
        found = (mapping(each) for field in ("initContainers", "containers") for each in list_at(spec, field))
        return cls(spec, annotations, {text_at(each, "name"): each for each in found})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.containers)

    @property
    def own_context(self) -> Tree:
        return mapping(self.spec.get("securityContext"))

    def context(self, name: str) -> Tree:
        """The securityContext of a container."""
        return mapping(self.containers[name].get("securityContext"))

    def settings(self, field: str) -> tuple[Tree, Mapping[str, Tree]]:
        """What the securityContext of the pod has in a field, and what those of its containers have that set it."""
        them = {name: self.context(name).get(field) for name in self.names}
        return mapping(self.own_context.get(field)), {k: v for k, v in them.items() if isinstance(v, dict)}

    def set_types(self, field: str) -> tuple[Any, Mapping[str, Any]]:
        """The ``type`` of such a field: of the pod, None where it is not set, and of the containers that set it."""
        own, them = self.settings(field)
        there = isinstance(self.own_context.get(field), dict)
        return (own.get("type", "") if there else None), {name: each.get("type", "") for name, each in them.items()}

    @property
    def volumes(self) -> tuple[tuple[str, Tree], ...]:
        """The volumes; one without a source is an empty directory (upstream: SetDefaults_Volume)."""
        found = (mapping(each) for each in list_at(self.spec, "volumes"))
        return tuple((text_at(each, "name"), each if len(each) > 1 else {"emptyDir": {}}) for each in found)

    def host_ports(self, name: str) -> list[int]:
        """The ports of a container on its node; in the network of the node each port is (defaultHostNetworkPorts)."""
        field = "containerPort" if self.spec.get("hostNetwork") is True else "hostPort"
        ports = (mapping(each) for each in list_at(self.containers[name], "ports"))
        found = (each.get("hostPort") or each.get(field) for each in ports)
        return [each for each in found if isinstance(each, int) and each]

    def hosts(self, name: str) -> Iterator[str]:
        """The hosts that probes and lifecycle hooks of a container reach instead of the pod."""
        container = self.containers[name]
        handlers = [container.get(each) for each in _PROBES]
        handlers += [mapping(container.get("lifecycle")).get(each) for each in _HOOKS]
        for handler in map(mapping, handlers):
            for way in ("httpGet", "tcpSocket"):
                host = text_at(mapping(handler.get(way)), "host")
                if host:
                    yield host

    def added(self, name: str) -> frozenset[str]:
        return self._capabilities(name, "add")

    def dropped(self, name: str) -> frozenset[str]:
        return self._capabilities(name, "drop")

    def _capabilities(self, name: str, field: str) -> frozenset[str]:
        found = list_at(mapping(self.context(name).get("capabilities")), field)
        return frozenset(each for each in found if isinstance(each, str))

    @property
    def sysctls(self) -> list[str]:
        return [text_at(mapping(each), "name") for each in list_at(self.own_context, "sysctls")]

    @property
    def on_windows(self) -> bool:
        return mapping(self.spec.get("os")).get("name") == "windows"

    @property
    def in_user_namespace(self) -> bool:
        return self.spec.get("hostUsers") is False
