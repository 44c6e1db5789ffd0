"""A name that nothing has: one text and one hint for each kind, whichever command it was given to."""

from __future__ import annotations

import shlex

import pytest

from kubectl_dra.commands.app import run

NODE, CLASS, CLAIM = "nodes", "deviceclasses.resource.k8s.io", "resourceclaims.resource.k8s.io"
SOME_NODES = "cpu-1, cpu-2, gke-prod-h100-5f3a2b1c-k4tq and 3 more"
SOME_POOLS = "cpu-2, gke-prod-h100-5f3a2b1c-k4tq, gke-prod-h100-5f3a2b1c-x9zk and 11 more"
GANG = "docs/examples/gang.yaml"
#: What is said of "nope", the hint, and every command that takes a name of the kind.
KINDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "node": (
        f'nodes "nope" not found; the cluster has {SOME_NODES}',
        "get nodes",
        (
            "get node nope",
            "get devices --node nope",
            "describe-node nope",
            "why-pending trainer-0 -n ml --node nope",
            "why-pending trainer-0 -n ml --drain nope",
            "test-selector true --node nope",
            "capacity --class gpu.example.com --remove-node nope",
            "simulate -f docs/examples/two-gpus.yaml --add-node like=nope",
        ),
    ),
    "class": (
        f'{CLASS} "nope" not found; the cluster has any-device, gpu.example.com, l40.example.com and 2 more',
        "get classes",
        (
            "get class nope",
            "get devices --class nope",
            "test-selector true --class nope",
            "capacity --class nope",
        ),
    ),
    "pool": (
        f'pool "nope" not found; the cluster has {SOME_POOLS}',
        "get pools",
        ("get pool nope", "describe-pool nope", "test-selector true --pool nope"),
    ),
    "pool in full": (
        'pool "gpu.example.com/nope" not found; the cluster has ',
        "get pools",
        (
            "get pool gpu.example.com/nope",
            "describe-pool gpu.example.com/nope",
            "test-selector true --pool gpu.example.com/nope",
            "taint-device gpu.example.com/nope/gpu-0 k:NoSchedule --dry-run=client",
            "taint-device 'gpu.example.com/nope/*' k:NoSchedule --dry-run=client",
        ),
    ),
    "device": (
        'device "nope" not found; the cluster has card-0-half-0, card-0-half-1, card-0-quarter-0 and ',
        "get devices",
        ("get device nope", "test-selector true --explain nope"),
    ),
    "driver": (
        'driver "nope" not found; the cluster has gpu.example.com, mig.example.com, nic.example.com',
        "get pools",
        ("test-selector true --driver nope",),
    ),
    "rule": (
        'devicetaintrules.resource.k8s.io "nope" not found; the cluster has ecc-errors',
        "get taints",
        ("get taint nope",),
    ),
    "claim": (
        f'{CLAIM} "nope" not found in namespace "ml"',
        "get claims -A",
        ("get claim nope -n ml", "describe-claim nope -n ml", "why-pending claim/nope -n ml"),
    ),
    "template": (
        'resourceclaimtemplates.resource.k8s.io "nope" not found in namespace "ml"',
        "get templates -A",
        ("get template nope -n ml",),
    ),
    "pod": ('pods "nope" not found in namespace "ml"', "why-pending -A", ("why-pending nope -n ml",)),
    "pod group": (
        'podgroups.scheduling.k8s.io "nope" not found in namespace "ml"',
        "get podgroups -A",
        tuple(
            f"{words} -n ml --from {GANG}"
            for words in ("get podgroup nope", "describe-podgroup nope", "why-pending podgroup/nope")
        ),
    ),
    "workload": (
        'statefulsets.apps "nope" not found in namespace "ml"',
        "why-pending -A",
        ("why-pending sts/nope -n ml",),
    ),
    "namespace": (
        'namespaces "nope" not found; the cluster has ',
        "get claims -A",
        ("get claims -n nope", "why-pending -n nope", "describe-claim c -n nope"),
    ),
}
CALLS = [(kind, call) for kind, (_, _, calls) in KINDS.items() for call in calls]


@pytest.mark.parametrize(("kind", "call"), CALLS)
def test_what_is_not_there_is_told_the_same_by_every_command(
    capfd: pytest.CaptureFixture[str], kind: str, call: str
) -> None:
    said, hint, _ = KINDS[kind]
    source = "" if "--from" in call else " --from demo"
    assert run(shlex.split(call + source)) == 1
    captured = capfd.readouterr()
    error, again, *_ = captured.err.splitlines()
    assert error.startswith(f"error: {said}")
    assert again == f"try:   kubectl dra {hint} --from {GANG if GANG in call else 'demo'}"
    assert captured.out == ""
