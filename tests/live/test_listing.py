"""Lists: chunks, expired tokens, and answers that are no lists and must never pass for "there are none"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import NODE, POD, RESOURCE_SLICE
from kubectl_dra.model.clock import timestamp
from kubectl_dra.model.evidence import Coverage
from kubectl_dra.model.inventory import key_of
from kubectl_dra.source.errors import ClusterError
from kubectl_dra.source.live import Session, open_session
from kubectl_dra.source.live.errors import BadAnswerError, ExpiredError, RefusedError, ServerFailedError, ThrottledError
from kubectl_dra.source.live.listing import CHUNK, take_list
from tests.kit.clock import CLOCK
from tests.kit.fake_api import Answer, FakeApi, Request, chunk_of, connection_to, status


@pytest.fixture
def session(tmp_path: Path, api: FakeApi) -> Session:
    return open_session(connection_to(tmp_path, api, clock=CLOCK))


def _nodes(count: int) -> list[dict[str, Any]]:
    return [{"metadata": {"name": f"node-{number}"}} for number in range(count)]


def _names(sink: Any) -> list[str]:
    return [key_of(record.metadata).name for record in sink.kept]


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_chunks_give_every_object_once_and_in_order(session: Session, api: FakeApi, count: int) -> None:
    path = api.serve("Node", _nodes(count))
    listed = take_list(session, NODE, "v1")
    assert _names(listed.sink) == [f"node-{number}" for number in range(count)]
    assert len(api.asked(path)) == max(1, -(-count // CHUNK))
    assert all(request.query["limit"] == str(CHUNK) for request in api.asked(path))
    read = listed.read
    assert (read.kind, read.namespace, read.coverage, read.resource_version) == ("Node", "", Coverage.COMPLETE, "7")
    assert read.time == timestamp(CLOCK)


def test_a_selector_goes_with_every_chunk(session: Session, api: FakeApi) -> None:
    path = api.serve("Node", _nodes(CHUNK + 1))
    take_list(session, NODE, "v1", field_selector="spec.unschedulable=true")
    assert [request.query["fieldSelector"] for request in api.asked(path)] == ["spec.unschedulable=true"] * 2


def test_an_expired_token_starts_the_list_again_in_one_piece(session: Session, api: FakeApi) -> None:
    def expires(request: Request) -> Answer:
        if "continue" in request.query:
            return status(410, "The provided continue parameter is too old", "Expired")
        return chunk_of(request, "Node", _nodes(CHUNK + 20), "v1")

    api.routes["/api/v1/nodes"] = expires
    listed = take_list(session, NODE, "v1")
    assert len(_names(listed.sink)) == len(set(_names(listed.sink))) == CHUNK + 20
    assert [set(request.query) for request in api.requests] == [{"limit"}, {"limit", "continue"}, set()]


def test_a_list_that_expires_again_is_an_error(session: Session, api: FakeApi) -> None:
    api.routes["/api/v1/nodes"] = status(410, "too old", "Expired")
    with pytest.raises(ExpiredError):
        take_list(session, NODE, "v1")
    assert len(api.requests) == 2


def test_a_refusal_halfway_is_not_a_short_list(session: Session, api: FakeApi) -> None:
    def refuses(request: Request) -> Answer:
        first = "continue" not in request.query
        return chunk_of(request, "Node", _nodes(CHUNK + 1), "v1") if first else status(403, "no more")

    api.routes["/api/v1/nodes"] = refuses
    with pytest.raises(RefusedError, match="no more"):
        take_list(session, NODE, "v1")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{}",
        b"[]",
        b"<html></html>",
        b'{"kind":"Status","status":"Success"}',
        b'{"kind":"PodList","apiVersion":"v1","items":[]}',
        b'{"kind":"NodeList","apiVersion":"v1","items":[',
        b'{"kind":"NodeList","apiVersion":"v1","items":3}',
        b'{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":7},"items":[]}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_list_is_an_error_and_not_empty(session: Session, api: FakeApi, body: bytes) -> None:
    api.routes["/api/v1/nodes"] = Answer(body)
    with pytest.raises(BadAnswerError):
        take_list(session, NODE, "v1")


def test_a_list_cut_off_in_the_second_chunk_is_an_error(session: Session, api: FakeApi) -> None:
    def breaks(request: Request) -> Answer:
        answer = chunk_of(request, "Node", _nodes(CHUNK + 1), "v1")
        return Answer(answer.body, cut=10) if "continue" in request.query else answer

    api.routes["/api/v1/nodes"] = breaks
    with pytest.raises(ClusterError, match="broke off"):
        take_list(session, NODE, "v1")


def test_items_null_is_an_empty_list(session: Session, api: FakeApi) -> None:
    api.routes["/api/v1/nodes"] = Answer({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": None})
    listed = take_list(session, NODE, "v1")
    assert (listed.sink.kept, listed.read.coverage) == ([], Coverage.COMPLETE)


def test_one_bad_object_costs_only_itself_and_the_claim_to_be_complete(session: Session, api: FakeApi) -> None:
    good = {"metadata": {"name": "good"}, "spec": {"driver": "d", "pool": {"name": "p"}}}
    bad = {"metadata": {"name": "bad"}, "spec": {"devices": 7}}
    path = api.serve("ResourceSlice", [bad, good], "resource.k8s.io/v1")
    listed = take_list(session, RESOURCE_SLICE, "resource.k8s.io/v1")
    assert path == "/apis/resource.k8s.io/v1/resourceslices"
    assert _names(listed.sink) == ["good"]
    assert listed.read.coverage is Coverage.PARTIAL
    assert [(each.kind, each.name) for each in listed.bad_objects] == [("ResourceSlice", "bad")]
    assert "devices" in listed.bad_objects[0].error


def test_a_namespace_is_part_of_the_path(session: Session, api: FakeApi) -> None:
    api.serve("Pod", [{"metadata": {"name": "p", "namespace": "ml"}}], namespace="ml")
    listed = take_list(session, POD, "v1", namespace="ml")
    assert (_names(listed.sink), listed.read.namespace) == (["p"], "ml")


@pytest.mark.parametrize("code", [429, 504])
def test_of_a_list_that_breaks_off_the_chunks_that_came_are_kept_where_that_is_wanted(
    session: Session, api: FakeApi, code: int
) -> None:
    path, nodes = api.serve("Node", []), _nodes(2 * CHUNK)

    def answer(request: Request) -> Answer:
        return status(code, "no more") if "continue" in request.query else chunk_of(request, "Node", nodes, "v1")

    api.routes[path] = answer
    failures = (ServerFailedError, ThrottledError)
    with pytest.raises(failures):
        take_list(session, NODE, "v1")
    listed = take_list(session, NODE, "v1", in_part=failures)
    assert len(listed.sink.kept) == CHUNK
    assert listed.read.coverage is Coverage.PARTIAL
    assert isinstance(listed.broken, failures)
    assert "no more" in listed.read.note
    api.routes[path] = status(code, "nothing")
    with pytest.raises(failures, match="nothing"):
        take_list(session, NODE, "v1", in_part=failures)
