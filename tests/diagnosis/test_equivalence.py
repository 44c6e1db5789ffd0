"""Pods of one kind share an attempt: a twin with other names gets the diagnosis that it would get alone."""

from typing import Any

import msgspec
import pytest

from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.explain.attempt import attempt
from kubectl_dra.diagnosis.gates.pending import pending_pods
from kubectl_dra.diagnosis.pod import equivalence
from kubectl_dra.diagnosis.pod.diagnose import Diagnoser
from kubectl_dra.diagnosis.pod.equivalence import kind_of
from kubectl_dra.diagnosis.records import PodDiagnosis, Verdict
from kubectl_dra.model.core import Pod
from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.features import features
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory, key_of
from kubectl_dra.scheduler.claims import resolve
from kubectl_dra.source import load
from kubectl_dra.source.spec import DEMO, SourceSpec
from tests.diagnosis.test_scenarios import EXPECTED
from tests.kit import build, facts
from tests.kit.clock import CLOCK
from tests.kit.state import state_of

Changes = dict[str, Any]
OTHER_NAMESPACE = "another-namespace"


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[Key]:
    """The pods for which an attempt was really made."""
    made: list[Key] = []

    def counted(world: ClusterState, pod: Pod, claims: Any) -> Any:
        made.append(key_of(pod.metadata))
        return attempt(world, pod, claims)

    monkeypatch.setattr(equivalence, "attempt", counted)
    return made


def with_twin(inventory: Inventory, pod: Pod, namespace: str) -> tuple[Inventory, Key]:
    """The Inventory with a copy of the pod and of its claims that are not allocated, all under other names."""
    uid, name = f"{pod.metadata.uid}-twin", f"{pod.metadata.name}-twin"
    renamed: dict[str, str] = {}
    claims = dict(inventory.claims)
    for entry in resolve(inventory, facts.evidence(), features(), pod):
        if entry.claim is None or entry.claim.status.allocation is not None:
            continue
        meta = entry.claim.metadata
        renamed[meta.name] = f"x-{meta.name}"
        owners = tuple(
            _changed(owner, uid=uid, name=name) if owner.uid == pod.metadata.uid else owner
            for owner in meta.owner_references
        )
        key = Key(namespace, renamed[meta.name])
        copied = _changed(meta, name=key.name, namespace=namespace, owner_references=owners)
        claims[key] = _changed(entry.claim, metadata=copied)
    entries = tuple(
        _changed(entry, resource_claim_name=renamed.get(entry.resource_claim_name or "", entry.resource_claim_name))
        for entry in pod.spec.resource_claims
    )
    statuses = tuple(
        _changed(status, resource_claim_name=renamed.get(status.resource_claim_name or "", status.resource_claim_name))
        for status in pod.status.resource_claim_statuses
    )
    twin = _changed(
        pod,
        metadata=_changed(pod.metadata, name=name, uid=uid, namespace=namespace),
        spec=_changed(pod.spec, resource_claims=entries),
        status=_changed(pod.status, resource_claim_statuses=statuses),
    )
    namespaces = dict(inventory.namespaces)
    if pod.metadata.namespace in namespaces:
        namespaces[namespace] = namespaces[pod.metadata.namespace]
    key = key_of(twin.metadata)
    return inventory.replace(pods={**inventory.pods, key: twin}, claims=claims, namespaces=namespaces), key


def _changed(record: Any, **changes: Any) -> Any:
    return msgspec.structs.replace(record, **changes)


def together_and_alone(inventory: Inventory, evidence: Evidence, first: Key, second: Key) -> list[PodDiagnosis]:
    """The second pod's diagnosis after that of the first, and by itself."""
    world = ClusterState(inventory, evidence, features(), CLOCK)
    both = Diagnoser(world)
    both.pod(first)
    return [both.pod(second), Diagnoser(world).pod(second)]


def is_shareable(inventory: Inventory, key: Key) -> bool:
    """Whether the pod names no allocated claim, which its twin in another namespace could not name."""
    entries = resolve(inventory, facts.evidence(), features(), inventory.pods[key])
    return all(entry.claim is None or entry.claim.status.allocation is None for entry in entries)


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded_pods_and_their_twins(name: str, elsewhere: bool) -> None:
    inventory, result = facts.scenario(name)
    key = Key(*result["pod"].split("/"))
    if elsewhere and not is_shareable(inventory, key):
        pytest.skip("its claim is allocated")
    namespace = OTHER_NAMESPACE if elsewhere else key.namespace
    changed, twin = with_twin(inventory, inventory.pods[key], namespace)
    together, alone = together_and_alone(changed, facts.evidence(), key, twin)
    assert together == alone


def test_most_recorded_twins_share(attempts: list[Key]) -> None:
    shared = []
    for name in sorted(EXPECTED):
        inventory, result = facts.scenario(name)
        key = Key(*result["pod"].split("/"))
        changed, twin = with_twin(inventory, inventory.pods[key], OTHER_NAMESPACE)
        attempts.clear()
        diagnoser = Diagnoser(ClusterState(changed, facts.evidence(), features(), CLOCK))
        first = diagnoser.pod(key)
        diagnoser.pod(twin)
        if first.nodes and len(attempts) == 1:
            shared.append(first.verdict)
    assert shared.count(Verdict.UNSCHEDULABLE) >= 15
    assert shared.count(Verdict.SCHEDULER_ERROR) >= 4


def test_the_demo_cluster(attempts: list[Key]) -> None:
    inventory, evidence = load(SourceSpec(DEMO))
    for key in pending_pods(state_of(inventory, features=features())):
        changed, twin = with_twin(inventory, inventory.pods[key], OTHER_NAMESPACE)
        together, alone = together_and_alone(changed, evidence, key, twin)
        assert together == alone, key


# --- words with names -------------------------------------------------------------------------------------------------


def two_pods(**second: Any) -> list[dict[str, Any]]:
    """Two pods of one kind but for what ``second`` changes of the other."""
    return [build.pod("first", claims=["one"]), build.pod("second", claims=["two"], **second)]


def test_fatal_errors_name_the_pods_own_claim(attempts: list[Key]) -> None:
    selector = f'device.attributes["{build.DRIVER}"].missing == "x"'
    claims = [build.claim(name, build.request(selector=selector)) for name in ("one", "two")]
    slice_ = build.slice_("node-1", build.device("a"))
    inventory = facts.inventory([build.device_class(), *two_pods(), *claims, build.node(), slice_])
    diagnoser = Diagnoser(ClusterState(inventory, facts.evidence(), features(), CLOCK))
    first, second = (diagnoser.pod(Key(build.NAMESPACE, name)) for name in ("first", "second"))
    assert len(attempts) == 1
    for found, mine, other in ((first, "ml/one", "ml/two"), (second, "ml/two", "ml/one")):
        texts = [found.message or "", *found.nodes[0].messages, found.causes[0].detail.text]  # type: ignore[union-attr]
        assert all(f"claim {mine}:" in text and other not in text for text in texts)


def test_refusals_at_binding_name_the_pods_own_claim(attempts: list[Key]) -> None:
    claims = [build.claim(name, build.request(adminAccess=True)) for name in ("one", "two")]
    objects = [build.device_class(), build.namespace(), *two_pods(), *claims, build.node()]
    inventory = facts.inventory([*objects, build.slice_("node-1", build.device("a"))])
    diagnoser = Diagnoser(ClusterState(inventory, facts.evidence(), features(), CLOCK))
    first, second = (diagnoser.pod(Key(build.NAMESPACE, name)) for name in ("first", "second"))
    assert len(attempts) == 1
    assert "claim ml/one:" in (first.message or "")
    assert second.message == (first.message or "").replace("one", "two")
    assert second.causes[0].claim is not None
    assert second.causes[0].claim.name == "two"


# --- what makes another kind ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "difference",
    [
        {"nodeSelector": {"zone": "a"}},
        {"tolerations": [{"operator": "Exists"}]},
        {"requests": {"cpu": "3"}},
        {"overhead": {"cpu": "1"}},
        {"schedulingGroup": {"podGroupName": "group"}},
        {"hostNetwork": True},
    ],
)
def test_other_specs_are_other_kinds(difference: Changes, attempts: list[Key]) -> None:
    claims = [build.claim("one"), build.claim("two")]
    inventory = facts.inventory([build.device_class(), *two_pods(**difference), *claims, build.node()])
    diagnoser = Diagnoser(ClusterState(inventory, facts.evidence(), features(), CLOCK))
    for name in ("first", "second"):
        diagnoser.pod(Key(build.NAMESPACE, name))
    assert len(attempts) == 2


def kinds_of(objects: list[dict[str, Any]]) -> list[Any]:
    inventory = facts.inventory(objects)
    world = ClusterState(inventory, facts.evidence(), features(), CLOCK)
    found = []
    for name in ("first", "second"):
        pod = inventory.pods[Key(build.NAMESPACE, name)]
        claims = [e.claim for e in resolve(inventory, world.evidence, features(), pod) if e.claim is not None]
        found.append(kind_of(world, pod, claims))
    return found


def test_the_volume_with_the_token_makes_no_kind() -> None:
    """Its name is random in each pod, so that no two pods of a real cluster would be of one kind."""
    objects = [*two_pods(), build.claim("one"), build.claim("two")]
    for number, pod in enumerate(objects[:2]):
        pod["spec"]["volumes"] = [{"name": f"kube-api-access-{number}", "projected": {"sources": []}}]
    first, second = kinds_of(objects)
    assert first is not None
    assert first == second
    for number, pod in enumerate(objects[:2]):
        pod["spec"]["volumes"] = [{"name": "disk", "gcePersistentDisk": {"pdName": f"disk-{number}"}}]
    first, second = kinds_of(objects)
    assert first != second


def test_priority_counts_only_beside_nominated_pods() -> None:
    objects = [*two_pods(priority=5), build.claim("one"), build.claim("two")]
    first, second = kinds_of(objects)
    assert first == second
    nominated = build.pod("nominated")
    nominated["status"]["nominatedNodeName"] = "node-1"
    first, second = kinds_of([*objects, nominated])
    assert first != second


def test_other_requests_and_shared_claims_are_other_kinds() -> None:
    first, second = kinds_of([*two_pods(), build.claim("one"), build.claim("two", build.request(count=2))])
    assert first != second
    held = [build.claim(name, held=[("node-1", name)]) for name in ("one", "two")]
    first, second = kinds_of([*two_pods(), *held])
    assert first != second
    twice = [build.pod("first", claims=["one", "one"]), build.pod("second", claims=["one", "two"])]
    first, second = kinds_of([*twice, build.claim("one"), build.claim("two")])
    assert first != second


def test_what_concerns_one_pod_alone_is_never_shared() -> None:
    mine = build.claim("one", held=[("node-1", "a")], by=["first"])
    assert kinds_of([*two_pods(), mine, build.claim("two")])[0] is None
    pods = two_pods()
    pods[0]["status"]["nominatedNodeName"] = "node-1"
    assert kinds_of([*pods, build.claim("one"), build.claim("two")])[0] is None


def test_priority_counts_where_it_could_evict() -> None:
    objects = [*two_pods(priority=5), build.claim("one"), build.claim("two")]
    low = build.pod("low", node_name="node-1", phase="Running", priority=4)
    assert len(set(kinds_of([*objects, low]))) == 2
    high = build.pod("high", node_name="node-1", phase="Running", priority=9)
    assert len(set(kinds_of([*objects, high]))) == 1
