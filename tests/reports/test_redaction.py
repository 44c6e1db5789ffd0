"""Redaction: nothing of what was marked survives, whatever field it stands in, and no answer changes."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.encode import encode
from kubectl_dra.api.generations import _shapes
from kubectl_dra.api.kinds import BY_NAME, KINDS
from kubectl_dra.cel import SCHEDULER, CompileError, compile_expression, device_value
from kubectl_dra.model.core import Pod
from kubectl_dra.model.semver import Semver, SemverError
from kubectl_dra.model.usage import is_terminal
from kubectl_dra.reports.redaction import NOTE, redacted
from kubectl_dra.reports.redaction.words import LABEL_KEYS, LABEL_VALUES
from kubectl_dra.reports.snapshot import SnapshotDocument, objects_of
from kubectl_dra.scheduler.snapshot import Snapshot
from tests.every_field import MARK, EveryField, leaves
from tests.kit.decisions import decide
from tests.kit.evaluated import evaluated
from tests.reports.clusters import DEMO, FULL, SMALL, facts
from tests.reports.clusters import snapshot as taken
from tests.scheduler.rows import rows_of, snapshot_of

SHAPES = [
    (kind.api_version_of(version), kind.name, shape.struct)
    for kind in KINDS
    for version in kind.versions
    if (shape := _shapes(kind.api_version_of(version)).get(kind.name)) is not None
]


def fields_of(struct: Any) -> set[str]:
    """The names of all fields of an object."""
    return {step for path, _ in leaves(EveryField().object(struct)) for step in re.findall("[A-Za-z]+", path)}


def redact(*items: dict[str, Any], **head: Any) -> dict[str, Any]:
    """The redacted document of a snapshot with these items."""
    header = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "reads": [], **head}
    return redacted(SnapshotDocument(header, lambda: iter(json.loads(json.dumps(items))))).whole()


def redacted_document(whole: dict[str, Any]) -> dict[str, Any]:
    """The same of a whole document."""
    head = {name: value for name, value in whole.items() if name != "items"}
    return redact(*whole["items"], **head)


def item_of(*items: dict[str, Any]) -> dict[str, Any]:
    return redact(*items)["items"][0]


# --- nothing survives -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("api_version", "kind", "struct"), SHAPES, ids=lambda value: getattr(value, "__name__", value))
def test_no_string_of_an_object_with_every_field_set_survives(api_version: str, kind: str, struct: Any) -> None:
    item = {**EveryField().object(struct), "apiVersion": api_version, "kind": kind}
    marked = [path for path, value in leaves(item) if isinstance(value, str) and value.startswith(MARK)]
    assert len(marked) > 3
    assert MARK not in json.dumps(redact(item))


def test_a_kind_that_nobody_knows_is_closed() -> None:
    item = {"apiVersion": "zq1/v1", "kind": "zq2", "metadata": {"name": "zq3"}, "zq4": [{"zq5": "zq6"}, 7, True]}
    assert MARK not in json.dumps(redact(item))
    item = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "zq1": "zq2"}, "zq3": {"zq4": "zq5"}}
    assert MARK not in json.dumps(redact(item))


def test_the_header_is_closed() -> None:
    head = {
        "taken": "zq1",
        "server": {"version": "v1.34.0-zq2"},
        "reads": [{"kind": "zq3", "coverage": "complete", "namespace": "zq4", "note": "no right: zq5", "time": "zq6"}],
        "notes": ["Pod zq7/zq8 is left out: spec.zq9: expected a list"],
        "zq10": "zq11",
    }
    assert MARK not in json.dumps(redact(**head))


SENTENCES = (
    "dial tcp 10.1.2.3:443: connect: connection refused",
    "failed to notify zq-jane.doe@zq-corp.example about https://zq-internal.corp:8443/zqpath?zq=1",
    "the zq merger with zqacme, see ZQ/zq-42 (zq_7) and fe80::zq%zq0",
)


@pytest.mark.parametrize("text", SENTENCES)
def test_addresses_people_and_free_text_in_messages_are_replaced(text: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": text, "note": text}
    pod["status"] = {"message": text, "conditions": [{"type": "PodScheduled", "status": "False", "message": text}]}  # type: ignore[assignment]
    made = json.dumps(redact(pod, event)["items"]).lower()
    assert MARK not in made
    assert "10.1.2.3" not in made


EXPRESSION = """// zq1 comment
device.driver == "zq2" /* zq3 */ && device.attributes["zq4"].zq5 in ['zq6', r"zq7", \"\"\"zq8\"\"\"] // zq9
 && device.attributes["zq4"].all(zq10, zq10 == `zq11`) && device.attributes["zq4"].zq5.startsWith("zq12")
 && size("zq13" + "zq14") > 3 && b"zq15" == bytes("zq16") && zqfunction("zq17") && "\\x7aq18" != "" § zq19"""


@pytest.mark.parametrize("text", [EXPRESSION, EXPRESSION.split("&& zqfunction")[0].replace("/* zq3 */", ""), "zq1 +"])
def test_literals_comments_and_names_in_expressions_are_replaced(text: str) -> None:
    made = redact(device_class(text), slice_of({"zq5": {"string": "zq12"}}, driver="zq4"))
    assert MARK not in json.dumps(made)


QUANTITY = re.compile(r"[0-9]+[A-Za-z]*")


@cache
def field_names() -> frozenset[str]:
    """The names of all fields of the API."""
    return frozenset(name for _, _, struct in SHAPES for name in fields_of(struct))


def strings(value: Any) -> set[str]:
    """Every string of a document, keys of maps that are no fields included."""
    match value:
        case str():
            return {value}
        case list():
            return set().union(*map(strings, value))
        case dict():
            return set(value).union(*map(strings, value.values()))
    return set()


def occurs(name: str, text: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text) is not None


@pytest.mark.parametrize("path", [SMALL, FULL, DEMO], ids=["small", "full", "demo"])
@pytest.mark.parametrize("parameters", [False, True])
def test_no_name_and_no_attribute_of_a_cluster_is_left(path: Path, parameters: bool) -> None:
    whole = taken(facts(path), with_parameters=parameters)
    originals = {each for item in whole["items"] for each in strings(item["metadata"].get("labels", {}))}
    for item in whole["items"]:
        originals |= {item["metadata"].get(field, "") for field in ("name", "namespace", "uid")}
        spec = item.get("spec", {}) if item["kind"] == "ResourceSlice" else {}
        originals |= {spec.get("driver", ""), spec.get("pool", {}).get("name", "")}
        for device in spec.get("devices", ()):
            originals |= {device["name"], *strings(list(device.get("attributes", {}).values()))}
    originals -= {"", "string", "strings", "int", "bool", "version", "versions", "ints", "bools"}
    made = redacted_document(whole)
    left = {each for each in originals & strings(made["items"]) if not QUANTITY.fullmatch(each)}
    assert left <= LABEL_KEYS | LABEL_VALUES | field_names()
    text = json.dumps(made["items"])
    # A name of one word may be one of Kubernetes' own words elsewhere.
    assert not {
        name for name in originals - left if occurs(name, text) and not re.fullmatch("[a-z]+|v?[0-9]+[A-Za-z]*", name)
    }


@pytest.mark.parametrize("path", [SMALL, FULL, DEMO], ids=["small", "full", "demo"])
def test_redaction_is_stable(path: Path) -> None:
    once = redacted_document(taken(facts(path)))
    assert taken(facts(json.loads(json.dumps(once)))) == once
    assert redacted_document(once) == once


# --- what it becomes ------------------------------------------------------------------------------------------------


def device_class(*expressions: str, name: str = "c") -> dict[str, Any]:
    selectors = [{"cel": {"expression": text}} for text in expressions]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": selectors},
    }


def slice_of(*attributes: dict[str, Any], driver: str = "gpu.example.com") -> dict[str, Any]:
    devices = [{"name": f"gpu-{number}", "attributes": each} for number, each in enumerate(attributes)]
    spec = {"driver": driver, "nodeName": "node-a", "pool": {"name": "p", "resourceSliceCount": 1}, "devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}


def expression_of(document: dict[str, Any]) -> str:
    found = next(item for item in document["items"] if item["kind"] == "DeviceClass")
    return found["spec"]["selectors"][0]["cel"]["expression"]


@pytest.mark.parametrize("shows_sharing", [True, False])
def test_answers_are_those_of_the_allocator_that_is_used(shows_sharing: bool) -> None:
    """The "stable" one does not tell expressions that a device may be shared."""
    text = 'device.attributes["zq.example"].kind.startsWith("zq") || device.allowMultipleAllocations'
    slices = slice_of({"kind": {"string": "a"}}, driver="zq.example")
    slices["spec"]["devices"][0]["allowMultipleAllocations"] = True
    header = {"apiVersion": "kubectl-dra/v1alpha1", "kind": "Snapshot", "reads": []}
    document = SnapshotDocument(header, lambda: iter(json.loads(json.dumps([device_class(text), slices]))))
    made = redacted(document, shows_sharing).whole()["items"]
    attributes = next(item for item in made if item["kind"] == "ResourceSlice")["spec"]["devices"][0]["attributes"]
    assert attributes["redacted/p001"] == {"bool": shows_sharing}


MODELS = ("A100-SXM4-80GB", "A100-PCIE-40GB", "H100", "h100", "", "L40S 48", "älter")
VERSIONS = ("1.2.3", "1.10.0", "1.2.3-rc.1", "1.2.3+build7", "0.9.0")
G = 'device.attributes["gpu.example.com"]'
ANSWERED = [
    f'{G}.model == "H100"',
    f'{G}.model != "H100" && {G}.model < "b"',
    f'{G}.model in ["H100", "L40S 48", "none"]',
    f'{G}["model"] == "h100" // a comment',
    f'{G}.model.startsWith("A100")',
    f'{G}.model.lowerAscii().matches("^.*a100.*$")',
    f'{G}.model.contains("0") && device.driver == "gpu.example.com"',
    f'{G}.model.endsWith("GB") || {G}.model == "H100"',
    f"{G}.model.size() > 4",
    f'{G}.model + "x" == "H100x"',
    f'{G}.model.split("-")[1] == "SXM4"',
    f'{G}.model.substring(0, 4) == "A100"',
    f'has({G}.model) && "model" in {G}',
    f'"uuid" in {G} && "gpu.example.com" in device.attributes',
    f"{G}.missing == 1",
    f'{G}.exists(k, k == "model")',
    f'{G}.?model.orValue("H100") == "H100"',
    f'{G}.version.isGreaterThan(semver("1.2.3-rc.1"))',
    f'{G}.version.compareTo(semver("1.10.0")) < 0',
    f"{G}.version.major() == 1",
    f"{G}.index >= 1 && {G}.index % 2 == 0",
    f'{G}.strings.exists(s, s == "zone-1") && "zone-1" in {G}.strings',
    f'{G}.strings.exists(s, s.endsWith("1"))',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0',
    f'cel.bind(model, {G}.model, model == "H100" || model == "h100")',
    'device.driver.endsWith(".com")',
    f'{G}.model.matches("(")',
    f"{G}.model ==",
    f"unknown({G}.model)",
    "1",
]


def many_devices() -> dict[str, Any]:
    found = []
    for number, (model, version) in enumerate(zip(MODELS, (*VERSIONS, *VERSIONS), strict=False)):
        found.append(
            {
                "model": {"string": model},
                "uuid": {"string": f"GPU-{number}"},
                "index": {"int": number},
                "version": {"version": version},
                "strings": {"strings": [f"zone-{number % 2}"]},
            }
        )
    made = slice_of(*found, {"model": {"int": 5}}, {})
    for device in made["spec"]["devices"]:
        device["capacity"] = {"memory": {"value": f"{20 + 10 * len(device['attributes'])}Gi"}}
    return made


@pytest.mark.parametrize("text", ANSWERED)
def test_an_expression_says_of_every_device_what_it_said(text: str) -> None:
    before = {"items": [many_devices(), device_class(text)]}
    after = redact(*before["items"])
    assert answers(after) == answers(before)


def answers(document: dict[str, Any]) -> list[str]:
    pools = facts({"apiVersion": "v1", "kind": "List", "items": document["items"]}).inventory.slices.values()
    try:
        program = compile_expression(expression_of(document), SCHEDULER)
    except CompileError as error:
        return [error.type]
    found = [evaluated(program, device_value(s.spec.driver, device)) for s in pools for device in s.spec.devices]
    return ["error" if answer.match is None else str(answer.match) for answer in found]


def test_a_value_that_is_derived_by_taking_strings_apart_is_kept_as_a_value() -> None:
    """Constraints compare what the expression gives, device by device."""
    derived = {"name": "example.com/root", "expression": f'{G}.pciRoot.split(":")[0] + "/x"'}
    exactly = {"deviceClassName": "c", "derivedAttributes": [derived]}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    }
    roots = ("00:1", "00:2", "80:1")
    items = redact(claim, slice_of(*({"pciRoot": {"string": root}} for root in roots)))["items"]
    text = items[0]["spec"]["devices"]["requests"][0]["exactly"]["derivedAttributes"][0]["expression"]
    program = compile_expression(text, SCHEDULER, derived=True)
    (slice_,) = facts({"apiVersion": "v1", "kind": "List", "items": items}).inventory.slices.values()
    found = [evaluated(program, device_value(slice_.spec.driver, device)).value for device in slice_.spec.devices]
    values = [value.string if value else None for value in found]
    assert values[0] == values[1] != values[2] and None not in values
    assert not {"00/x", "80/x"} & set(values)


# --- sentences, labels, resources, versions -------------------------------------------------------------------------

CLUSTER: tuple[dict[str, Any], ...] = (
    *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("ml", "claim", "7")),
    *({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in ("node-a", "serve-0")),
    slice_of({}, driver="gpu.example.com"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pod ml/serve-0 on node-a.", "pod {ml}/{serve-0} on {node-a}."),
        ("serve-0-gpus-x1 failed", "{serve-0-gpus-x1} failed"),
        ("serve-01 and html", "{serve-01} and {html}"),
        ("gpu.example.com/node-a/gpu-0", "{gpu.example.com}/{node-a}/{gpu-0}"),
        ('claim ml/claim, "claim"', 'claim {ml}/{claim}, "{claim}"'),
        ("0/7 nodes are available: 7 cannot allocate all claims.",) * 2,
        ("1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 Insufficient cpu.",) * 2,
        ("had untolerated taint {{team: red}}", "had untolerated taint {{{team}: {red}}}"),
        ("retry in 1m30s, 42% done after 3.5s", "retry in 1m30s, 42% {done} after 3.5s"),
        ("token 12345678901 of 10.0.0.1", "token {12345678901} of {10.0.0.1}"),
    ],
)
def test_names_in_sentences(text: str, expected: str) -> None:
    written = text.replace("{{", "{").replace("}}", "}")
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": written}
    made = redact(*CLUSTER, event)["items"][-1]["message"]
    names = re.findall(r"n\d{4}", made)
    wanted = expected if expected == text else re.sub(r"\{([^{}]+)\}", "NAME", expected.replace("{{{", "{{ {"))
    shape = re.sub(r"n\d{4}", "NAME", made)
    assert shape == wanted.replace("{{ ", "{").replace("}}", "}")
    assert len(set(names)) == len(set(re.findall(r"\{([^{}]+)\}", expected))) or expected == text


def test_names_in_sentences_are_those_of_the_objects() -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": "pod ml/serve-0 on node-a"}
    items = redact(*CLUSTER, event)["items"]
    names = [item["metadata"]["name"] for item in items]
    assert items[-1]["message"] == f"pod {names[0]}/{names[4]} on {names[3]}"


def test_kubernetes_own_label_keys_keep_their_meaning() -> None:
    labels = {"resource.kubernetes.io/admin-access": "true", "app": "app", "kubernetes.io/hostname": "node-a"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a", "labels": labels}}
    made = item_of(node)["metadata"]
    assert list(made["labels"]) == ["resource.kubernetes.io/admin-access", "n0001", "kubernetes.io/hostname"]
    assert list(made["labels"].values()) == ["true", "n0001", made["name"]]


def test_labels_that_are_compared_as_numbers_stay_numbers() -> None:
    values = ("8", "08", "10", "9", "-3", "x", "9" * 30)
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{i}", "labels": {"gen": value, "free": value}}}
        for i, value in enumerate(values)
    ]
    term = {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["9"]}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    pod["spec"] = {"affinity": {"nodeAffinity": required}}
    *made, last = redact(*nodes, pod)["items"]
    key = next(key for key in made[0]["metadata"]["labels"] if made[0]["metadata"]["labels"][key].isdigit())
    found = [item["metadata"]["labels"][key] for item in made]
    assert [text.lstrip("-").isdigit() for text in found] == [True] * 5 + [False] * 2
    assert int(found[0]) == int(found[1]) and found[0] != found[1]
    assert int(found[4]) < int(found[0]) < int(found[3]) < int(found[2])
    affinity = last["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert affinity["nodeSelectorTerms"][0]["matchExpressions"][0] == {
        "key": key,
        "operator": "Gt",
        "values": [found[3]],
    }
    assert not set(values) & {
        item["metadata"]["labels"][other] for item in made for other in item["metadata"]["labels"] if other != key
    }


def test_extended_resources_follow_their_class_and_driver() -> None:
    requests = {
        "deviceclass.resource.kubernetes.io/big-gpu": "1",
        "gpu.example.com/h100": "1",
        "cpu": "1",
        "hugepages-2Mi": "4Mi",
    }
    container = {"name": "c", "resources": {"requests": requests}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}}
    hard = {"big-gpu.deviceclass.resource.k8s.io/devices": "4", "requests.gpu.example.com/h100": "2", "pods": "9"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
    class_ = device_class("true", name="big-gpu")
    class_["spec"]["extendedResourceName"] = "gpu.example.com/h100"
    made_class, made_pod, made_quota, made_slice = redact(class_, pod, quota, slice_of({}))["items"]
    name, driver = made_class["metadata"]["name"], made_slice["spec"]["driver"]
    resource = made_class["spec"]["extendedResourceName"]
    assert resource.startswith(f"{driver}/")
    assert list(made_pod["spec"]["containers"][0]["resources"]["requests"]) == [
        f"deviceclass.resource.kubernetes.io/{name}",
        resource,
        "cpu",
        "hugepages-2Mi",
    ]
    assert list(made_quota["spec"]["hard"]) == [
        f"{name}.deviceclass.resource.k8s.io/devices",
        f"requests.{resource}",
        "pods",
    ]


def test_names_are_the_same_everywhere_and_in_the_same_order() -> None:
    names = ["b", "a", "a.b", "Z", "ä", "10", "9", "a/b"]
    made = [
        item["metadata"]["name"]
        for item in redact(*({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}} for name in names))[
            "items"
        ]
    ]
    whole = [(old, new) for old, new in zip(names, made, strict=True) if "/" not in old]
    assert [new for _, new in sorted(whole)] == sorted(new for _, new in whole)
    assert made[-1] == f"{made[1]}/{made[0]}"


def test_a_common_attribute_keeps_its_name_unless_something_is_called_so() -> None:
    (plain,) = redact(slice_of({"model": {"int": 1}, "ourSecret": {"int": 2}}))["items"]
    assert "model" in plain["spec"]["devices"][0]["attributes"]
    assert "ourSecret" not in plain["spec"]["devices"][0]["attributes"]
    named = item_of(slice_of({"model": {"string": "model"}}))
    assert list(named["spec"]["devices"][0]["attributes"].values()) == [
        {"string": next(iter(named["spec"]["devices"][0]["attributes"]))}
    ]
    assert "model" not in json.dumps(named)


def test_the_first_note_says_what_stays() -> None:
    assert redact()["notes"] == [NOTE]
    assert redact(notes=[NOTE, "metadata is missing"])["notes"][0] == NOTE


def test_versions_keep_their_order() -> None:
    made = item_of(slice_of(*({"v": {"version": version}} for version in VERSIONS), {"v": {"version": "not one"}}))
    found = [next(iter(device["attributes"].values()))["version"] for device in made["spec"]["devices"]]
    parsed = [Semver.parse(text) for text in found[:-1]]
    old = [Semver.parse(text) for text in VERSIONS]
    assert [[a.cmp(b) for b in parsed] for a in parsed] == [[a.cmp(b) for b in old] for a in old]
    assert len(set(found)) == len(found)
    with pytest.raises(SemverError):
        Semver.parse(found[-1])


# --- volumes --------------------------------------------------------------------------------------------------------


def decisions(row: Any) -> list[Any]:
    """What the scheduler decides about each pod, without any name or text."""

    def said(snapshot: Snapshot, pod: Pod) -> Any:
        found = decide(snapshot, pod)
        nodes = list(snapshot.nodes)
        attempt, preemption = found.attempt, found.preemption
        return (
            found.outcome,
            [(attempt.status_of(name).plugin, attempt.status_of(name).code) for name in nodes] if attempt else (),
            [nodes.index(name) for name in found.scores.best] if found.scores else (),
            [(nodes.index(name), len(each.victims)) for name, each in preemption.candidates.items()]
            if preemption
            else (),
        )

    snapshot = snapshot_of(row)
    pods = snapshot.inventory.pods.values()
    return [said(snapshot, pod) for pod in pods if not pod.spec.node_name and not is_terminal(pod)]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", ["volumes.jsonl.gz", "preemption.jsonl.gz"])
def test_what_the_scheduler_decides_about_volumes_and_victims_survives(name: str) -> None:
    for row in rows_of(name):
        snapshot = snapshot_of(row)
        items = [json.loads(encode(record, kind)) for kind, record in objects_of(snapshot.inventory)]
        hidden: dict[str, list[Any]] = {}
        for item in redact(*items)["items"]:
            hidden.setdefault(BY_NAME[item["kind"]].plural, []).append(item)
        gates = {"featureGates": row["featureGates"]} if "featureGates" in row else {}
        assert decisions({**hidden, **gates}) == decisions(row), row["id"]


def test_zones_disks_and_ephemeral_claims_keep_their_form() -> None:
    zone = "topology.kubernetes.io/zone"
    volume, pod, claim = redact(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "v", "labels": {zone: "eu-west-1a__eu-west-1b"}},
            "spec": {
                "awsElasticBlockStore": {"volumeID": "aws://eu-west-1a/vol-0815"},
                "csi": {"volumeHandle": "vol-0815"},
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train-0", "namespace": "ml"},
            "spec": {"volumes": [{"name": "scratch", "ephemeral": {}}]},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "train-0-scratch", "namespace": "ml"},
            "spec": {},
        },
    )["items"]
    one, other = volume["metadata"]["labels"][zone].split("__")
    assert one != other
    assert one.split("-")[:2] == other.split("-")[:2]
    disk = volume["spec"]["awsElasticBlockStore"]["volumeID"]
    assert re.fullmatch(r"aws://[n0-9-]+/vol-n\d+", disk)
    assert volume["spec"]["csi"]["volumeHandle"] == disk.rpartition("/")[2]
    assert claim["metadata"]["name"] == f"{pod['metadata']['name']}-{pod['spec']['volumes'][0]['name']}"
    assert "0815" not in disk
