"""The demo cluster is fresh, complete, and says what a real scheduler would have written."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from kubectl_dra.api.kinds import KINDS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.source.demo import CLUSTER, load_demo
from tests.kit.clock import CLOCK

GENERATOR: Final = Path(__file__).parents[2] / "tools" / "demo_cluster.py"
INVENTORY, EVIDENCE = load_demo()

# What the demo is for: each pod that waits, and why.
WAITING: Final = {
    "dev/nb-2": ("Schedulable", "stale"),
    "edge/split-1": ("Preparing", "agrees"),
    "edge/split-2": ("Unschedulable", "agrees"),
    "lab/batch-7": ("OtherScheduler", "unchecked"),
    "lab/eval-0": ("Gated", "agrees"),
    "lab/finetune": ("Gated", "agrees"),
    "lab/fpga-0": ("Unschedulable", "agrees"),
    "lab/probe": ("Unschedulable", "agrees"),
    "lab/render-5": ("Unschedulable", "agrees"),
    "ml/infer-7c9f8d6b54-kcqfk": ("SchedulerError", "agrees"),
    "ml/infer-7c9f8d6b54-mlk25": ("SchedulerError", "agrees"),
    "ml/infer-7c9f8d6b54-phgbx": ("SchedulerError", "agrees"),
    "ml/sweep-0": ("Unschedulable", "agrees"),
    "ml/sweep-1": ("Unschedulable", "agrees"),
    "ml/sweep-2": ("Unschedulable", "agrees"),
    "ml/sweep-3": ("Unschedulable", "agrees"),
    "ml/train-x": ("Gated", "agrees"),
    "ml/trainer-0": ("Unschedulable", "agrees"),
    "net/bulk": ("Unschedulable", "agrees"),
    "net/fabric-test": ("SchedulerError", "agrees"),
    "net/ingest": ("Unschedulable", "agrees"),
}


def test_the_file_is_what_the_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("demo_cluster", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.text() == module.text() == CLUSTER.read_text(encoding="utf-8")


def test_it_is_complete() -> None:
    assert EVIDENCE.bad_objects == ()
    assert EVIDENCE.notes == ()
    assert EVIDENCE.server_version == (1, 37)
    assert all(EVIDENCE.complete(kind.name) for kind in KINDS)


def test_the_hardware() -> None:
    devices = Counter(s.spec.driver for s in INVENTORY.slices.values() for _ in s.spec.devices)
    assert devices == {"gpu.example.com": 32, "nic.example.com": 8, "mig.example.com": 7}
    held = Counter(device.driver for device in INVENTORY.holdings_by_device)
    assert held == {"gpu.example.com": 14, "nic.example.com": 4, "mig.example.com": 2}


def test_references_lead_somewhere() -> None:
    """Every holder is a pod that names the claim, and every device that is held exists."""
    published = {
        (s.spec.driver, s.spec.pool.name, device.name) for s in INVENTORY.slices.values() for device in s.spec.devices
    }
    assert set(INVENTORY.holdings_by_device) <= published
    for key, claim in INVENTORY.claims.items():
        for consumer in claim.status.reserved_for:
            assert INVENTORY.pods_by_uid[consumer.uid] in INVENTORY.pods_by_claim[key]
    for pod in INVENTORY.pods.values():
        assert not pod.spec.node_name or pod.spec.node_name in INVENTORY.nodes
        for owner in pod.metadata.owner_references:
            assert (owner.kind, pod.metadata.namespace, owner.name) in INVENTORY.workloads


def test_what_waits() -> None:
    assert {str(key) for key, pod in INVENTORY.pods.items() if pod.status.phase == "Pending"} == set(WAITING)


@pytest.mark.parametrize("name", WAITING)
def test_the_recorded_words_are_those_of_a_real_scheduler(name: str) -> None:
    """The message that the model of the scheduler predicts is the one that the demo's pod carries."""
    diagnoser = Diagnoser(ClusterState(INVENTORY, EVIDENCE, features(37), CLOCK))
    namespace, _, pod = name.partition("/")
    diagnosis = diagnoser.pod(Key(namespace, pod))
    assert (diagnosis.verdict, diagnosis.agreement) == WAITING[name]
