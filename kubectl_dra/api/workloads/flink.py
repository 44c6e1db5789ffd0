"""Flink applications: the pods of the job manager and of the task managers, whose number follows from parallelism.

Upstream: apache/flink-kubernetes-operator, config/FlinkConfigBuilder.java (templates that are merged, resources,
numbers) and utils/FlinkUtils.java (getNumTaskManagers, mergePodTemplates); apache/flink, flink-kubernetes
(Init*Decorator): cpu and memory of the main container are those of Flink's configuration, its other resources and
claims stay.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from kubectl_dra.api.trees import Tree, at, list_at, mapping, number_of, text_at
from kubectl_dra.api.workloads.templates import MAX_PODS, CountField, CountSource, Expansion, MadeTemplate

GROUP: Final = "flink.apache.org"
KIND: Final = "FlinkDeployment"
_MAIN: Final = "flink-main-container"
_JOB_MANAGER, _TASK_MANAGER = "jobManager", "taskManager"
_CONFIG: Final = "spec.flinkConfiguration"
_SLOTS: Final = "taskmanager.numberOfTaskSlots"
_PARALLELISM: Final = "parallelism.default"
#: Flink's defaults for the memory of a process.
_MEMORY: Final = {_JOB_MANAGER: "1600m", _TASK_MANAGER: "1728m"}
#: MemorySize.parse: without a unit it is bytes, "m" are mebibytes.
_SIZE: Final = re.compile(r"([0-9]{1,18})\s*([a-z]*)")
_UNITS: Final = {
    f"{letter}{more}": power for letter, power in (("k", 10), ("m", 20), ("g", 30), ("t", 40)) for more in ("", "b")
} | {"": 0, "b": 0}
_LISTS_BY_NAME: Final = "kubernetes.operator.pod-template.merge-arrays-by-name"


def deployment(tree: Tree) -> Expansion:
    """The pods of an application; of a session without a job as many as it says, or none until one is submitted."""
    spec = at(tree, "spec")
    managers = max(number_of(mapping(spec.get(_JOB_MANAGER)).get("replicas"), 1), 1)
    by = CountField(((f"spec.{_JOB_MANAGER}.replicas", managers),))
    manager = replace(_made(spec, _JOB_MANAGER), copies=managers, counted_by=by)
    worker = replace(_made(spec, _TASK_MANAGER), **_numbers(spec))
    state = mapping(spec.get("job")).get("state")
    return Expansion((manager, worker), known=True, suspended=state == "suspended")


def _made(spec: Tree, part: str) -> MadeTemplate:
    """The pods of a part. Their spec stands in its own template, if it has one, else in the common one."""
    own = mapping(spec.get(part)).get("podTemplate") is not None or spec.get("podTemplate") is None
    at_ = f"spec.{part}.podTemplate.spec" if own else "spec.podTemplate.spec"
    return MadeTemplate(f"spec.{part}", _body(spec, part), role=part.lower(), spec_at=at_)


def _numbers(spec: Tree) -> dict[str, Any]:
    """How many task managers there are, and the fields that say so."""
    has_job, job = isinstance(spec.get("job"), dict), mapping(spec.get("job"))
    written = number_of(mapping(spec.get(_TASK_MANAGER)).get("replicas"), 0)
    if spec.get("mode") == "standalone" and (written or not has_job):
        number = written or 1
        return {"copies": number, "counted_by": CountField(((f"spec.{_TASK_MANAGER}.replicas", number),))}
    if not has_job:
        return {"copies": 1, "count": CountSource.UNKNOWN}
    slots = max(_setting(spec, _SLOTS), 1)
    field, parallelism = "spec.job.parallelism", number_of(job.get("parallelism"), 0)
    if not parallelism:
        field, parallelism = f'{_CONFIG}["{_PARALLELISM}"]', max(_setting(spec, _PARALLELISM), 1)
    number = min(-(-parallelism // slots), MAX_PODS)
    by = CountField(((field, parallelism),), per=slots)
    fields = (field, *((f'{_CONFIG}["{_SLOTS}"]',) if slots > 1 else ()))
    # Operators of a job may share no slots, and then need more of them.
    return {"copies": number, "counted_by": by, "count": CountSource.ASSUMED, "assumed": fields}


def _setting(spec: Tree, name: str) -> int:
    found = _configured(spec, name)
    return int(found) if found.isdecimal() and len(found) < 11 else 1


def _configured(spec: Tree, name: str) -> str:
    """A value of Flink's configuration, which stands in it flat or nested; empty where it is not set."""
    found: Any = mapping(spec.get("flinkConfiguration"))
    if name in found:
        return str(found[name]).strip()
    for part in name.split("."):
        found = mapping(found).get(part)
    return "" if found is None or isinstance(found, dict | list) else str(found).strip()


# --- templates --------------------------------------------------------------------------------------------------------


def _body(spec: Tree, part: str) -> dict[str, Any]:
    by_name = _configured(spec, _LISTS_BY_NAME) == "true"
    own = mapping(mapping(spec.get(part)).get("podTemplate"))
    merged = _merged(mapping(spec.get("podTemplate")), own, by_name=by_name)
    pod = mapping(merged.get("spec"))
    containers = [each for each in list_at(pod, "containers") if isinstance(each, dict)]
    main = next((each for each in containers if each.get("name") == _MAIN), {})
    others = [each for each in containers if each is not main]
    image = spec.get("image") if isinstance(spec.get("image"), str) else "flink"
    resources = _resources(spec, part, mapping(main.get("resources")))
    main = {"image": image, **main, "name": _MAIN, "resources": resources}
    return {**merged, "spec": {**pod, "containers": [main, *others]}}


def _merged(first: Any, second: Any, *, by_name: bool) -> Any:  # noqa: ANN401 - any JSON value
    """Upstream: mergeInto and mergeArray. Lists are merged by position, or by names where all of their items have one.

    By position only objects are merged: texts of the first list stay as they are.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        both = {key: _merged(first[key], second[key], by_name=by_name) for key in first if key in second}
        return {**first, **second, **both}
    if not (isinstance(first, list) and isinstance(second, list)):
        return second
    if by_name and all(text_at(mapping(each), "name") for each in (*first, *second)):
        named = {each["name"]: each for each in first}
        for each in second:
            name = each["name"]
            named[name] = _merged(named[name], each, by_name=by_name) if name in named else each
        return list(named.values())
    pairs = [
        _merged(one, other, by_name=by_name) if isinstance(one, dict) and isinstance(other, dict) else one
        for one, other in zip(first, second, strict=False)
    ]
    return [*pairs, *first[len(pairs) :], *second[len(pairs) :]]


def _resources(spec: Tree, part: str, own: Tree) -> dict[str, Any]:
    """What the main container requests: cpu and memory of Flink, the rest of its template."""
    wanted = mapping(spec.get(part))
    given, old = mapping(wanted.get("resources")), mapping(wanted.get("resource"))
    requests, limits = mapping(given.get("requests")), mapping(given.get("limits"))
    if requests or limits:
        cpu, memory = ({**limits, **requests}.get(name) for name in ("cpu", "memory"))
    else:
        cpu, memory = old.get("cpu"), old.get("memory")
    prefix = part.lower()
    slots = _configured(spec, _SLOTS) if part == _TASK_MANAGER else ""
    cpu = cpu or _configured(spec, f"kubernetes.{prefix}.cpu") or slots or "1"
    memory = memory or _configured(spec, f"{prefix}.memory.process.size") or _MEMORY[part]
    amounts = {"cpu": str(cpu), "memory": _mebibytes(str(memory))}
    others = {name: value for name, value in {**limits, **requests}.items() if name not in amounts}
    return {
        **own,
        "requests": {**mapping(own.get("requests")), **others, **amounts},
        "limits": {**mapping(own.get("limits")), **others, **amounts},
    }


def _mebibytes(text: str) -> str:
    """A size as Flink reads it, else as Kubernetes does."""
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None or found[2] not in _UNITS:
        return text
    return f"{(int(found[1]) << _UNITS[found[2]]) >> 20}Mi"
