"""Random whole clusters on the real control plane, all plugins of the default profile mixed.

Of each pod that waits it is foretold what the scheduler does; then the pod is let go, one after the other. Another
commit asks about other clusters. By hand, more: ``E2E_CLUSTERS=60 make e2e ARGS=tests/e2e/test_whole_clusters.py``;
``E2E_SEED`` brings the clusters of a failure about again. ``E2E_TABLE=FILE`` writes down what came of them.

What the scheduler has seen of a change can't be asked, and on a slow machine it sees changes late. So a cluster in
which anything differs is brought about once more, with long pauses: differences that are still there are ours.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.scheduler.snapshot import Snapshot
from kubectl_dra.source import load
from kubectl_dra.source.spec import SourceSpec
from tests.controlplane import ControlPlane, binaries
from tests.controlplane.__main__ import plane_environment
from tests.controlplane.client import Object, wait_for
from tests.differential.test_whole_clusters import seed_of_commit
from tests.differential.whole.cluster import whole_cluster
from tests.e2e.situations import PREEMPTION_TAIL
from tests.e2e.whole import WholeCluster, state_of_pod, ties, without_hold
from tests.kit.clock import CLOCK
from tests.kit.decisions import Decision, decide

pytestmark = pytest.mark.controlplane
CLUSTERS: Final = int(os.environ.get("E2E_CLUSTERS", "4"))
#: Those that the generator switches on in some clusters; a control plane has them all the time.
GATES: Final = {"UserNamespacesHostNetworkSupport": True, "TaintTolerationComparisonOperators": True}
#: How long the scheduler has to see what was changed: usually, and where something differed.
_PAUSE_SECONDS: Final = 0.7
_LONG_PAUSE_SECONDS: Final = 8.0
#: A pod that evicted others fits at its next attempt: what it was told at the first one must be read before.
_BACKOFF_SECONDS: Final = 120
_SILENCE_SECONDS: Final = 1.5
_DECISION_SECONDS: Final = 180.0
_UNSEEN_SECONDS: Final = 10.0
_SILENT: Final = (Verdict.GATED, Verdict.OTHER_SCHEDULER, Verdict.DELETING, Verdict.NOT_PENDING)


@pytest.fixture(scope="module")
def scheduling() -> Iterator[ControlPlane]:
    """A control plane whose scheduler is the only one that changes anything."""
    with ControlPlane(binaries(), feature_gates=GATES, controllers=False, backoff_seconds=_BACKOFF_SECONDS) as running:
        yield running


class Told:
    """What came of all pods."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differences: list[str] = []
        self.unknown: list[str] = []
        self.taken: set[str] = set()

    def add(self, other: Told) -> None:
        """What came of the pods of another cluster too."""
        self.counts += other.counts
        self.differences += other.differences
        self.unknown += other.unknown
        self.taken |= other.taken


def test_what_is_foretold_of_each_pod_happens(scheduling: ControlPlane, tmp_path: Path) -> None:
    told = Told()
    seed = os.environ.get("E2E_SEED") or seed_of_commit()
    for number in range(CLUSTERS):
        name = f"{seed}-{number}"
        found = _cluster(scheduling, tmp_path, name, _PAUSE_SECONDS)
        if found.differences:
            print("again, with long pauses:", *found.differences, sep="\n")
            found = _cluster(scheduling, tmp_path, name, _LONG_PAUSE_SECONDS)
            found.counts["clusters brought about again"] += 1
        told.add(found)
    if table := os.environ.get("E2E_TABLE"):
        Path(table).write_text(json.dumps(_table(told, seed), indent=1) + "\n", encoding="utf-8")
    assert not told.differences, "\n".join(told.differences)
    assert not told.unknown, "\n".join(told.unknown)
    assert told.counts["pods"] >= CLUSTERS


def _cluster(plane: ControlPlane, folder: Path, name: str, pause: float) -> Told:
    """What comes of the pods of one cluster."""
    told, stage = Told(), WholeCluster(plane.client(), pause)
    cluster, told.taken = whole_cluster(name)
    for namespace, pod in stage.bring_about(cluster):
        _one(_Pod(plane, stage, folder, name, Key(namespace, pod)), told)
        if pause > _PAUSE_SECONDS:
            time.sleep(pause)
    told.counts.update({f"refused {kind}": number for kind, number in stage.refused.items()})
    return told


def _table(told: Told, seed: str) -> Object:
    counts = dict(sorted(told.counts.items()))
    return {"seed": seed, "clusters": CLUSTERS, "counts": counts, "branches": len(told.taken)}


class _Pod:
    """A pod that is held back."""

    def __init__(self, plane: ControlPlane, stage: WholeCluster, folder: Path, cluster: str, key: Key) -> None:
        self._plane, self._client, self._stage, self._folder = plane, plane.client(), stage, folder
        self.name, self.key = f"{cluster} {key}", key
        #: The node that it was nominated for before it was let go, and what of it was bound or being bound.
        self._before: tuple[str, frozenset[str]] = ("", frozenset())

    def foretold(self) -> tuple[PodDiagnosis, Decision]:
        """What the plugin says of a snapshot of now, had the pod not been held back."""
        command = [str(self._plane.kubectl), "dra", "snapshot"]
        environment = plane_environment(self._plane)
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        path = self._folder / "before.json"
        path.write_text(json.dumps(without_hold(json.loads(done.stdout), *self.key)), encoding="utf-8")
        inventory, evidence = load(SourceSpec(file=str(path)))
        gates = {"TaintTolerationComparisonOperators": True}
        state = ClusterState(inventory, evidence, features(gates=gates), CLOCK)
        return Diagnoser(state).pod(self.key), decide(Snapshot(state), inventory.pods[self.key])

    def happens(self, verdict: Verdict) -> tuple[str, Object | None]:
        """The node that the pod gets, and what the scheduler writes about it."""
        self._before = self._nomination(self._read())
        self._stage.let_go(*self.key)
        silent = verdict in _SILENT
        if silent:
            time.sleep(_SILENCE_SECONDS)
            return self._now()
        if verdict is Verdict.SCHEDULABLE and all(self._before):
            # Where its volumes go and that it goes there was written before: then nothing is written.
            with contextlib.suppress(AssertionError):
                return self._decided(_UNSEEN_SECONDS)
            return self._before[0], None
        return self._decided(_DECISION_SECONDS)

    def _decided(self, seconds: float) -> tuple[str, Object | None]:
        found = wait_for(lambda: [*filter(any, [self._now()])], f"the scheduler decides about {self.name}", seconds)
        return found[0]

    def _now(self) -> tuple[str, Object | None]:
        pod = self._read()
        node, spoken = state_of_pod(pod)
        if node:
            return node, spoken
        # A pod whose volumes or devices are still to be bound has its node, which a nomination alone says.
        nominated, binding = found = self._nomination(pod)
        return (nominated if binding and found != self._before else ""), spoken

    def _read(self) -> Object:
        pod = self._client.get("Pod", self.key.name, self.key.namespace)
        assert pod is not None
        return pod

    def _nomination(self, pod: Object) -> tuple[str, frozenset[str]]:
        return pod["status"].get("nominatedNodeName", ""), self._volumes(pod) | self._devices(pod)

    def _devices(self, pod: Any) -> frozenset[str]:
        """Its claims with devices that nobody attaches here: the scheduler waits for their binding conditions."""
        return frozenset(
            claim["metadata"]["name"]
            for claim in self._client.list("resource.k8s.io/v1", "ResourceClaim", self.key.namespace)
            if any(user["uid"] == pod["metadata"]["uid"] for user in claim.get("status", {}).get("reservedFor", ()))
            and any(result.get("bindingConditions") for result in claim["status"]["allocation"]["devices"]["results"])
        )

    def _volumes(self, pod: Any) -> frozenset[str]:
        names = {each.get("persistentVolumeClaim", {}).get("claimName") for each in pod["spec"].get("volumes", ())}
        names |= {f"{self.key.name}-{each['name']}" for each in pod["spec"].get("volumes", ()) if "ephemeral" in each}
        selected = "volume.kubernetes.io/selected-node"
        claims = self._client.list("v1", "PersistentVolumeClaim", self.key.namespace)
        volumes = {each["spec"].get("claimRef", {}).get("name") for each in self._client.list("v1", "PersistentVolume")}
        return frozenset(
            claim["metadata"]["name"]
            for claim in claims
            if claim["metadata"]["name"] in names
            and (selected in claim["metadata"].get("annotations", {}) or claim["metadata"]["name"] in volumes)
        )

    def agreement(self) -> str:
        """What the plugin says of the pod once the scheduler has spoken."""
        words = ("why-pending", f"pod/{self.key.name}", "-n", self.key.namespace, "-o", "json")
        gates = ("--feature-gates", "TaintTolerationComparisonOperators=true")
        command = [str(self._plane.kubectl), "dra", *words, *gates]
        environment = plane_environment(self._plane)
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
        found: str = json.loads(done.stdout)["agreement"] if not done.returncode else done.stderr
        return found

    def is_bound(self) -> bool:
        """Whether it has its node for good."""
        pod = self._client.get("Pod", self.key.name, self.key.namespace)
        return pod is not None and bool(pod["spec"].get("nodeName"))

    def end(self) -> None:
        """Delete it, so that it is tried no more."""
        self._stage.remove("Pod", self.key.namespace, self.key.name)


def _afterwards(message: str) -> str:
    """What the plugin says of a message right after it.

    Where two entries name one claim the attempt has allocated it before it failed, so that the next fails otherwise.
    """
    return "stale" if message.endswith(" got allocated elsewhere in the meantime") else "agrees"


def _one(pod: _Pod, told: Told) -> None:
    told.counts["pods"] += 1
    diagnosis, decision = pod.foretold()
    told.counts[f"foretold {diagnosis.verdict}"] += 1
    if diagnosis.verdict is Verdict.UNKNOWN:
        told.unknown.append(f"{pod.name}: {[cause.code for cause in diagnosis.causes]}")
    node, spoken = pod.happens(diagnosis.verdict)
    problem = _difference(diagnosis, decision, node, spoken)
    if problem:
        told.differences.append(f"{pod.name}: {problem}")
    elif spoken is not None and not node:
        said = pod.agreement()
        told.counts[f"afterwards it {said}"] += 1
        # An eviction that was ordered has begun by then.
        if said != _afterwards(spoken["message"]) and PREEMPTION_TAIL not in spoken["message"]:
            told.differences.append(f"{pod.name}: after the scheduler has spoken it {said}")
    # One whose volumes or devices nobody binds would wait for them, unseen.
    if not pod.is_bound():
        pod.end()


def _difference(diagnosis: PodDiagnosis, decision: Decision, node: str, spoken: Object | None) -> str:
    """What is not as foretold; empty if all is."""
    match diagnosis.verdict:
        case Verdict.SCHEDULABLE:
            best = decision.scores.best if decision.scores is not None else ()
            if not node:
                return f"said to fit, but {spoken}"
            return "" if node in best else f"got {node}, said to get one of {best}"
        case Verdict.UNSCHEDULABLE | Verdict.SCHEDULER_ERROR:
            if spoken is None:
                return f"said to be {diagnosis.verdict}, but got {node or 'no verdict'}"
            if spoken["reason"] != diagnosis.verdict:
                return f"said to be {diagnosis.verdict}, but is {spoken['reason']}: {spoken['message']}"
            return _text_difference(diagnosis, decision, spoken["message"])
        case verdict if verdict in _SILENT:
            return f"said to be {verdict}, but {node or spoken}" if node or spoken is not None else ""
    return f"said to be {diagnosis.verdict}"


def _text_difference(diagnosis: PodDiagnosis, decision: Decision, message: str) -> str:
    nodes = decision.preemption.nominated if decision.preemption is not None else ()
    own = (diagnosis.message, *diagnosis.alternatives)
    if decision.message and message in ties(decision.message, nodes):
        return "" if any(text and message.startswith(text) for text in own) else f"it shows {diagnosis.message!r}"
    # Of several nodes with an error chance decides which one is reported.
    if diagnosis.verdict is Verdict.SCHEDULER_ERROR and message in own:
        return ""
    return f"it says {message!r}, foretold was {decision.message!r}"
