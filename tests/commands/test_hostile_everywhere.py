"""Names that try to act on a terminal or in a shell, through every command, format and error."""

from __future__ import annotations

import json
import os
import re

import pytest
import yaml

from kubectl_dra.commands.app import COMMANDS, run
from kubectl_dra.source.demo import CLUSTER
from tests.kit.sample import sampled

TAILS = {
    "terminal": "\x1b[31m\u202eevil\u200b\r\n\x9b\x07[bold]{0}%s\u2066",
    "shell": " ;evil $(touch x)`id`'\"&|<>*?~!#\\",
}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
GROUP = "group-0"
#: A group whose words come from it.
POD_GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": GROUP, "namespace": "ml", "uid": GROUP},
    "spec": {
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "schedulingConstraints": {"topology": [{"key": GROUP}]},
        "workloadRef": {"workloadName": GROUP, "templateName": GROUP},
        "priorityClassName": GROUP,
        "resourceClaims": [{"name": GROUP, "resourceClaimName": GROUP}],
    },
    "status": {"conditions": [{"type": GROUP, "status": "False", "reason": GROUP, "message": GROUP}]},
}
NAMED = (
    "PodGroup",
    "Node",
    "Pod",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "DeviceClass",
    "Namespace",
    "DeviceTaintRule",
)
POD, CLAIM, POOL, CLASS = "trainer-0", "serve-0-net", "gke-prod-h100-5f3a2b1c-k4tq", "gpu.example.com"
MANIFEST = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: {name}, namespace: {name}}}
spec: {{devices: {{requests: [{{name: {name}, exactly: {{deviceClassName: {name}}}}}]}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {name}}}
spec:
  containers: [{{name: {name}, resources: {{claims: [{{name: {name}}}]}}}}]
  resourceClaims: [{{name: {name}, resourceClaimName: {name}}}]
"""


def calls(tail: str, file: str) -> dict[str, list[list[str]]]:
    """Words after each command: names that exist, names that don't, and options, each with the tail."""
    pod, claim, pool, class_, namespace = (name + tail for name in (POD, CLAIM, POOL, CLASS, "ml"))
    group = GROUP + tail
    device, nosuch = f"{CLASS}{tail}/{pool}/gpu-0{tail}", f"nosuch{tail}"
    missing = [
        [nosuch],
        ["-n", nosuch],
        ["-o", nosuch],
        [f"--{nosuch}"],
        ["--from", nosuch],
        ["--feature-gates", nosuch],
    ]
    everywhere = [["-A"], ["-A", "-o", "wide"], ["-A", "-o", "json"], ["-A", "-o", "yaml"]]
    return {
        "why-pending": [
            *(*missing, *everywhere, [pod, "-n", namespace], [pod, "-n", namespace, "-o", "json"]),
            *([f"podgroup/{group}", "-n", namespace], ["podgroups", "-A"]),
            *([f"claim/{claim}", "-n", namespace], [f"{nosuch}/x"], ["-A", "-l", nosuch], [nosuch, "-n", namespace]),
        ],
        "describe-pool": [*missing, [], ["-o", "wide"], ["-o", "json"], ["-o", "yaml"], [pool], [pool, "-o", "wide"]],
        "describe-claim": [
            *(*missing, [claim, "-n", namespace], [claim, "-n", namespace, "-o", "wide"], [nosuch, "-n", namespace]),
            *([claim, "-n", namespace, "-o", output] for output in ("json", "yaml")),
        ],
        "describe-node": [*missing, *([pool, *o] for o in ([], ["-o", "wide"], ["-o", "json"])), [pool, nosuch]],
        "describe-podgroup": [
            *(*missing, [group, "-n", namespace], [group, group, "-n", namespace], [nosuch, "-n", namespace]),
            *([group, "-n", namespace, "-o", output] for output in ("json", "yaml")),
        ],
        "test-selector": [
            *(*missing, ["true"], ["true", "-o", "wide"], ["true", "-o", "json"], ["true", "-o", "yaml"], ["-f", file]),
            *([f"device.driver == {json.dumps(class_)}"], ["true", "--class", class_], ["true", "--class", nosuch]),
            *(["true", "--explain", device], ["true", "--explain", nosuch], ["true", "--pool", pool], ["-f", nosuch]),
            *(["true", "--driver", nosuch], ["true", "--node", nosuch]),
        ],
        "simulate": [
            *(*missing, ["-f", file], ["-f", file, "-o", "json"], ["-f", file, "-o", "yaml"], ["-f", nosuch]),
            ["-f", file, "--copies", nosuch],
            *(["--drain", nosuch], ["--add-node", f"like={nosuch}"], ["--taint", f"{nosuch},k:NoSchedule"]),
        ],
        "top": [
            *missing,
            *([by] for by in ("nodes", "classes", "namespaces")),
            ["pods", "-A"],
            ["nodes", "-o", "json"],
        ],
        "capacity": [
            *(*missing, ["-f", file], ["-f", file, "-o", "json"], ["-f", file, "-o", "yaml"], ["-f", nosuch]),
            *(["--class", class_], ["--class", class_, "--selector", nosuch], ["--class", nosuch]),
            *(["--class", class_, "--drain", nosuch], ["--class", class_, "--untaint", f"{nosuch},k"]),
        ],
        "get": [
            *missing,
            *([type_, *call] for type_ in ("pools", "devices", "claims", "classes", "taints") for call in everywhere),
            *([type_, "-A", "-o", "name"] for type_ in ("pools", "devices", "claims", "classes", "taints")),
            *(["devices", "--match", nosuch], ["pools", nosuch], ["devices", "--class", nosuch], ["class", class_]),
            *(["pools", "--sort-by", nosuch], ["claims", "-A", "-l", nosuch], [f"{nosuch}/{nosuch}"]),
        ],
        "taint-device": [
            *(*missing, ["--list"], ["--list", "-o", "json"], [device, f"k{tail}:NoExecute"], [nosuch, "k:NoExecute"]),
            *([device, "k:NoExecute", "--dry-run=client", *more] for more in ([], ["-o", "json"], ["-o", "yaml"])),
            *([device, f"k:{nosuch}"], ["--match", nosuch, "k:NoExecute", "--dry-run=client"]),
            *(["gpu.example.com/a/b", f"k={tail}:NoSchedule"], [f"ecc{tail}-"]),
        ],
        "convert": [*missing, ["-f", file], ["-f", nosuch], ["-f", file, "--to", nosuch], ["-f", file, "-o", "json"]],
        "lint": [
            *(["-f", file, *more] for more in ([], ["-o", "json"], ["-o", "yaml"], ["-o", "sarif"], ["-o", "github"])),
            *([nosuch], ["-f", file, "--fail-on", nosuch], ["-f", file, "--devices", nosuch]),
        ],
        "snapshot": [*missing, [], ["--redact"], ["-n", namespace], ["-o", f"/no/such/{nosuch.replace('/', '')}"]],
        "tui": [[f"--{nosuch}"], ["--tab", nosuch], [nosuch]],
        "completion": [[nosuch], [f"--{nosuch}"]],
        "explain": [[nosuch], [f"--{nosuch}"], ["-o", nosuch], [nosuch, nosuch], []],
        "version": [[nosuch], [f"--{nosuch}"], ["-o", nosuch]],
    }


def with_tail(value: object, names: frozenset[str], tail: str) -> object:
    """A document in which every one of ``names`` has the tail, wherever it stands alone."""
    if isinstance(value, dict):
        return {key + tail if key in names else key: with_tail(held, names, tail) for key, held in value.items()}
    if isinstance(value, list):
        return [with_tail(held, names, tail) for held in value]
    return value + tail if isinstance(value, str) and value in names else value


@pytest.fixture(scope="module", params=TAILS)
def hostile(request, tmp_path_factory):
    """The tail, a cluster and a manifest full of it."""
    tail, folder = TAILS[request.param], tmp_path_factory.mktemp(request.param)
    document = json.loads(CLUSTER.read_text(encoding="utf-8"))
    document["items"].append(POD_GROUP)
    next(read for read in document["reads"] if read["kind"] == "PodGroup")["coverage"] = "complete"
    names = {item["metadata"]["name"] for item in document["items"] if item["kind"] in NAMED}
    specs = [item["spec"] for item in document["items"] if item["kind"] == "ResourceSlice"]
    names |= {spec["driver"] for spec in specs} | {spec["pool"]["name"] for spec in specs}
    devices = [device for spec in specs for device in spec.get("devices", ())]
    names |= {device["name"] for device in devices} | {name for each in devices for name in each.get("attributes", ())}
    cluster, manifest = folder / "cluster.json", folder / "manifest.yaml"
    cluster.write_text(json.dumps(with_tail(document, frozenset(names), tail)), encoding="utf-8")
    manifest.write_text(MANIFEST.format(name=json.dumps(CLAIM + tail)), encoding="utf-8")
    return tail, cluster, manifest


def is_shell_safe(text: str) -> bool:
    """Whether no command that is printed holds anything of the tail outside of quotes."""
    commands = re.findall(r"kubectl [a-z].*", text)
    quoted = re.compile("'[^']*'|\"[^\"]*\"")
    return not any("evil" in quoted.sub("", line) for line in commands)


@pytest.mark.parametrize("command", sampled(COMMANDS, 4))
def test_nothing_acts(capfd, monkeypatch, tmp_path, hostile, command):
    monkeypatch.setenv("KUBECONFIG", "/dev/null")
    monkeypatch.chdir(tmp_path)
    tail, cluster, manifest = hostile
    met = 0
    for words in calls(tail, str(manifest))[command]:
        source = (
            []
            if command in ("version", "completion", "convert", "explain") or "--from" in words
            else ["--from", str(cluster)]
        )
        # As the locale that the tests run in lets Python see a shell's bytes.
        run([command, *(os.fsdecode(word.encode()) for word in words), *source, "--color", "never"])
        out, err = capfd.readouterr()
        assert not ACTIVE.search(out + err), (words, out, err)
        assert "Traceback" not in err, words
        met += "evil" in out + err
        if {"json", "yaml"} & set(words) or (command == "snapshot" and not err):
            assert out.isascii(), words
            # What is not JSON is YAML; the reader in C, where there is one, because pages are long.
            assert err or (json.loads(out) if out.startswith("{") else yaml.load(out, LOADER)), words
        else:
            assert is_shell_safe(out + err), (words, out, err)
    assert met > len(calls(tail, "")[command]) // 2


def test_the_program_itself(capfd):
    for tail in TAILS.values():
        assert run([f"nosuch{tail}"]) == 2
        assert run([f"--nosuch{tail}"]) == 2
        assert not ACTIVE.search("".join(capfd.readouterr()))
