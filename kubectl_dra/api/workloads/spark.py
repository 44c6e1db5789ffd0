"""Spark applications: the driver's pod and those of the executors, which Spark makes from a few fields.

Upstream: apache/spark, resource-managers/kubernetes (BasicDriverFeatureStep, BasicExecutorFeatureStep) and
core/.../ResourceProfile.scala (getResourcesForClusterManager): requests of cpu and memory replace those of a template,
memory has an overhead. kubeflow/spark-operator, internal/controller/sparkapplication/submission.go: what becomes an
option of Spark, later ones before earlier ones; internal/webhook/sparkpod_defaulter.go: what its webhook adds to pods
without a template, and only to those. apache/spark-kubernetes-operator: what Spark is told is its configuration alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, group_of, list_at, mapping, number_of
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField, Expansion, Growth, MadeTemplate

GROUP: Final = "sparkoperator.k8s.io"
_APACHE: Final = "spark.apache.org"
_SPECS: Final[Mapping[str, str]] = {"SparkApplication": "spec", "ScheduledSparkApplication": "spec.template"}
_DRIVER: Final = "driver"
_EXECUTOR: Final = "executor"
#: common/utils JavaUtils.byteStringAs: without a suffix memory is in MiB.
_SIZE: Final = re.compile(r"([0-9]{1,15})([a-z]*)")
_KIB: Final[Mapping[str, int]] = {
    "k": 1,
    "m": 1 << 10,
    "": 1 << 10,
    "g": 1 << 20,
    "t": 1 << 30,
    "p": 1 << 40,
}
_LEAST_OVERHEAD: Final = 384
#: Nobody adds more than so many times the heap.
_MOST_OVERHEAD: Final = 1000
_NOT_JVM: Final = ("Python", "R")
#: Fields of a driver or executor that the operator's webhook copies into the pod.
_COPIED: Final = ("affinity", "tolerations", "nodeSelector", "schedulerName", "priorityClassName", "hostNetwork")
_DYNAMIC: Final = "spark.dynamicAllocation"
#: Upstream: SchedulerBackendUtils.DEFAULT_NUMBER_EXECUTORS; the operator asks for one where it has options for Spark.
_EXECUTORS: Final = 2


class _SizeError(ValueError):
    """A size that Spark does not read."""


def is_spark(group: str, kind: str) -> bool:
    """Whether it is an application of Kubeflow's Spark operator, or of Apache's."""
    return (group == GROUP and kind in _SPECS) or (group, kind) == (_APACHE, "SparkApplication")


def application(tree: Tree, kind: str) -> Expansion:
    """The driver, which is created first and makes the executors."""
    apache = group_of(tree.get("apiVersion")) == _APACHE
    app = _ApacheApp(tree, "spec") if apache else _App(tree, _SPECS[kind])
    suspended = at(tree, "spec").get("suspend") is True
    try:
        driver, executor = app.pod(_DRIVER), app.pod(_EXECUTOR)
    except _SizeError as error:
        return Expansion(known=True, suspended=suspended, untried=str(error))
    number, fields, most = app.executors()
    growth = Growth("Spark's dynamic allocation", most) if most is not None and most > number else None
    return Expansion(
        (
            app.made(_DRIVER, driver),
            replace(app.made(_EXECUTOR, executor), copies=number, awaits=(_DRIVER,), counted_by=fields, growth=growth),
        ),
        known=True,
        suspended=suspended,
    )


@dataclass(frozen=True, slots=True)
class _App:
    """An application; ``path`` leads to its spec."""

    tree: Tree
    path: str

    @property
    def spec(self) -> Tree:
        return at(self.tree, self.path)

    def part(self, role: str) -> Tree:
        """What the operator makes options of Spark of."""
        return at(self.spec, role)

    def template_at(self, role: str) -> str:
        """Where the template of the driver or of executors stands in the spec."""
        return f"{role}.template"

    @property
    def image(self) -> str:
        found = self.spec.get("image")
        return found if isinstance(found, str) and found else "spark"

    def option(self, name: str) -> str | None:
        """What the application tells Spark itself."""
        value = mapping(self.spec.get("sparkConf")).get(name)
        return value if isinstance(value, str) and value else None

    def made(self, role: str, body: Tree) -> MadeTemplate:
        path = f"{self.path}.{role}"
        spec_at = f"{path}.template.spec" if at(self.spec, f"{role}.template") else path
        return MadeTemplate(
            path, body, role=role, spec_at=spec_at, moved=(("cpu", f"{path}.coreRequest"), ("memory", ""))
        )

    def pod(self, role: str) -> dict[str, Any]:
        """Metadata and spec of the driver or of an executor. Raises :class:`_SizeError`."""
        part, template = self.part(role), at(self.spec, self.template_at(role))
        spec = {**mapping(template.get("spec"))}
        containers = [each for each in list_at(spec, "containers") if isinstance(each, dict)]
        name = f"spark-kubernetes-{role}"
        own = next((each for each in containers if each.get("name") == name), next(iter(containers), {}))
        others = [each for each in containers if each is not own]
        container = {"name": name, "image": self.image, **own}
        container["resources"] = self._resources(role, part, mapping(own.get("resources")), whole=not template)
        spec["containers"] = [container, *others]
        spec["restartPolicy"] = "Never"
        if not template:
            spec |= self._by_webhook(part, spec["containers"])
        if selector := {**mapping(self.spec.get("nodeSelector")), **self._selector(role)}:
            spec["nodeSelector"] = {**mapping(spec.get("nodeSelector")), **selector}
        named = (f"spark.kubernetes.{role}.scheduler.name", "spark.kubernetes.scheduler.name")
        scheduler = next(filter(None, map(self.option, named)), None)
        if scheduler and not spec.get("schedulerName"):
            spec["schedulerName"] = scheduler
        meta = mapping(template.get("metadata"))
        return {"metadata": {**meta, "labels": self._labels(role, part, meta)}, "spec": spec}

    def _labels(self, role: str, part: Tree, meta: Tree) -> dict[str, Any]:
        name = mapping(self.tree.get("metadata")).get("name")
        own = {"spark-role": role, f"{GROUP}/app-name": name, f"{GROUP}/launched-by-spark-operator": "true"}
        return {**mapping(meta.get("labels")), **own, **mapping(part.get("labels"))}

    def _selector(self, role: str) -> dict[str, str]:
        """Node labels that options demand."""
        prefixes = ("spark.kubernetes.node.selector.", f"spark.kubernetes.{role}.node.selector.")
        options = mapping(self.spec.get("sparkConf"))
        return {
            name.removeprefix(prefix): value
            for prefix in prefixes
            for name, value in options.items()
            if name.startswith(prefix) and isinstance(value, str)
        }

    def _by_webhook(self, part: Tree, containers: list[dict[str, Any]]) -> dict[str, Any]:
        """What the operator's webhook makes of a pod without a template."""
        made = {field: part[field] for field in _COPIED if part.get(field)}
        containers += [each for each in list_at(part, "sidecars") if isinstance(each, dict)]
        if batch := self.spec.get("batchScheduler"):
            made["schedulerName"] = batch
        if waiting := list_at(part, "initContainers"):
            made["initContainers"] = waiting
        mounted = {mapping(each).get("name") for each in list_at(part, "volumeMounts")}
        if volumes := [each for each in list_at(self.spec, "volumes") if mapping(each).get("name") in mounted]:
            made["volumes"] = volumes
        return {"containers": containers, **made}

    # --- sizes --------------------------------------------------------------------------------------------------------

    def _resources(self, role: str, part: Tree, own: Tree, *, whole: bool) -> dict[str, Any]:
        cores = self.option(f"spark.{role}.cores") if part.get("cores") is None else part["cores"]
        request = part.get("coreRequest") or self.option(f"spark.kubernetes.{role}.request.cores")
        limit = part.get("coreLimit") or self.option(f"spark.kubernetes.{role}.limit.cores")
        memory = f"{self._memory(role, part)}Mi"
        requests = {**mapping(own.get("requests")), "cpu": str(request or cores or 1), "memory": memory}
        limits = {**mapping(own.get("limits")), "memory": memory, **({"cpu": str(limit)} if limit else {})}
        gpu = mapping(part.get("gpu")) if whole else {}
        if isinstance(gpu.get("name"), str) and gpu.get("quantity"):
            limits[gpu["name"]] = str(gpu["quantity"])
        limits |= dict(self._extended(role))
        return {**own, "requests": requests, "limits": limits}

    def _extended(self, role: str) -> Iterator[tuple[str, str]]:
        """Extended resources that options ask for: ``spark.executor.resource.gpu.amount`` with its vendor."""
        prefix = f"spark.{role}.resource."
        for name in mapping(self.spec.get("sparkConf")):
            resource = name.removeprefix(prefix).removesuffix(".amount")
            if name == f"{prefix}{resource}.amount":
                vendor, amount = self.option(f"{prefix}{resource}.vendor"), self.option(name)
                if vendor and amount:
                    yield f"{vendor}/{resource}", amount

    def _memory(self, role: str, part: Tree) -> int:
        """MiB of a pod: its heap and what Spark adds. Raises :class:`_SizeError`."""
        heap = self._size(f"{role}.memory", part.get("memory") or self.option(f"spark.{role}.memory") or "1g")
        overhead = part.get("memoryOverhead") or self.option(f"spark.{role}.memoryOverhead")
        if overhead:
            more = self._size(f"{role}.memoryOverhead", overhead)
        else:
            least = self._size("sparkConf", self.option(f"spark.{role}.minMemoryOverhead") or f"{_LEAST_OVERHEAD}")
            more = max(int(self._factor(role) * heap), least)
        if role == _EXECUTOR:
            if self.option("spark.memory.offHeap.enabled") == "true":
                # Of this one the unit is bytes.
                more += self._size("sparkConf", self.option("spark.memory.offHeap.size") or "0", "b")
            if self._is_python():
                more += self._size("sparkConf", self.option("spark.executor.pyspark.memory") or "0")
        return heap + more

    def _factor(self, role: str) -> Decimal:
        default = "0.4" if self._is_python() or self.spec.get("type") in _NOT_JVM else "0.1"
        options = (f"spark.{role}.memoryOverheadFactor", "spark.kubernetes.memoryOverheadFactor")
        given = next(filter(None, map(self.option, options)), None)
        try:
            found = Decimal(given or self.spec.get("memoryOverheadFactor") or default)
        except (InvalidOperation, TypeError, ValueError):
            return Decimal(default)
        return found if found.is_finite() and 0 <= found <= _MOST_OVERHEAD else Decimal(default)

    def _is_python(self) -> bool:
        return self.spec.get("type") == "Python" or str(self.spec.get("mainApplicationFile")).endswith(".py")

    def _size(self, field: str, text: object, unit: str = "") -> int:
        """MiB. Raises :class:`_SizeError`."""
        found = _SIZE.fullmatch(str(text).strip().lower())
        suffix = (found[2] or unit) if found is not None else "?"
        if found is not None and suffix == "b":
            return int(found[1]) >> 20
        suffix = suffix.removesuffix("b")
        if found is None or suffix not in _KIB:
            shown = json.dumps(text) if isinstance(text, str) else str(text)
            raise _SizeError(f"Spark does not read {self.path}.{field}: {shown}; it reads sizes such as 512m and 8g")
        return int(found[1]) * _KIB[suffix] >> 10

    # --- numbers ------------------------------------------------------------------------------------------------------

    def executors(self) -> tuple[int, CountField, int | None]:
        """How many executors start, the fields that say so, and to how many they may grow.

        Upstream: Utils.getDynamicAllocationInitialExecutors: the largest of three numbers.
        """
        dynamic, path = at(self.spec, "dynamicAllocation"), self.path
        field = f"{path}.executor.instances"
        instances = _number(self.part(_EXECUTOR).get("instances"), self.option("spark.executor.instances"))
        if not (dynamic.get("enabled") is True or self.option(f"{_DYNAMIC}.enabled") == "true"):
            default = 1 if self.spec.get("sparkConf") is not None else _EXECUTORS
            number = min(default if instances is None else instances, MAX_PODS)
            return number, CountField(((field, number),)), None
        names = ("minExecutors", "initialExecutors")
        given = {f"{path}.dynamicAllocation.{name}": self._dynamic(dynamic, name) or 0 for name in names}
        values = {field: instances or 0, **given}
        number = min(max(values.values()), MAX_PODS)
        fields = tuple((name, value) for name, value in values.items() if value)
        return number, CountField(fields), self._dynamic(dynamic, "maxExecutors")

    def _dynamic(self, dynamic: Tree, name: str) -> int | None:
        return _number(dynamic.get(name), self.option(f"{_DYNAMIC}.{name}"))


@dataclass(frozen=True, slots=True)
class _ApacheApp(_App):
    """One of Apache's operator: no fields of its own say what Spark is told."""

    def part(self, role: str) -> Tree:
        return {}

    def template_at(self, role: str) -> str:
        return f"{role}Spec.podTemplateSpec"

    @property
    def image(self) -> str:
        return self.option("spark.kubernetes.container.image") or "spark"

    def made(self, role: str, body: Tree) -> MadeTemplate:
        path = f"{self.path}.{self.template_at(role)}"
        moved = (("cpu", f'{self.path}.sparkConf["spark.{role}.cores"]'), ("memory", ""))
        return MadeTemplate(path, body, role=role, moved=moved)

    def _is_python(self) -> bool:
        return bool(self.spec.get("pyFiles"))

    def executors(self) -> tuple[int, CountField, int | None]:
        """Those of Spark's options: the operator has bounds by which it judges them, and sets none."""
        conf = f"{self.path}.sparkConf"
        if self.option(f"{_DYNAMIC}.enabled") != "true":
            given = _number(None, self.option("spark.executor.instances"))
            number = min(_EXECUTORS if given is None else given, MAX_PODS)
            return number, CountField(((f'{conf}["spark.executor.instances"]', number),)), None
        names = ("spark.executor.instances", f"{_DYNAMIC}.minExecutors", f"{_DYNAMIC}.initialExecutors")
        values = {f'{conf}["{name}"]': _number(None, self.option(name)) or 0 for name in names}
        number = min(max(values.values()), MAX_PODS)
        fields = tuple((name, value) for name, value in values.items() if value)
        return number, CountField(fields), _number(None, self.option(f"{_DYNAMIC}.maxExecutors"))


def _number(value: object, option: str | None) -> int | None:
    if (given := number_of(value, None)) is not None:
        return given
    return int(option) if option is not None and option.isdecimal() and len(option) < 11 else None
