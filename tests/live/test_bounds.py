"""Servers that answer without end: in bytes, in chunks, in time, and when unpacked. Each ends in words."""

from __future__ import annotations

import gzip
import itertools
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.api.kinds import POD, RESOURCE_SLICE
from kubectl_dra.commands.app import run
from kubectl_dra.source.limits import BODY_BYTES, MAX_BYTES
from kubectl_dra.source.live import bodies, open_session, session
from kubectl_dra.source.live.errors import BadAnswerError, TimedOutError, TooLongListError
from kubectl_dra.source.live.listing import Listed, take_list
from tests.kit.fake_api import Answer, FakeApi, Request, connection_to, write_kubeconfig
from tests.kit.memory import peak_of

pytestmark = pytest.mark.one_in(4)


PODS = "/api/v1/pods"


def items(start: int, count: int) -> list[dict[str, Any]]:
    return [{"metadata": {"name": f"p{n}", "namespace": "ml"}} for n in range(start, start + count)]


def page(continue_: str, objects: list[Any]) -> Answer:
    return Answer({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": continue_}, "items": objects})


def take(folder: Path, api: FakeApi, **options: Any) -> Listed:
    return take_list(open_session(connection_to(folder, api, **options)), POD, "v1")


def test_the_bounds() -> None:
    assert (BODY_BYTES, MAX_BYTES) == (256 << 20, 8 << 30)


# --- bytes ----------------------------------------------------------------------------------------------------------


def test_one_body(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_BYTES", 1 << 20)
    sent = itertools.count()
    api.routes[PODS] = Answer(stream=(b" " * (1 << 16) for _ in sent))
    with pytest.raises(BadAnswerError, match=r"answers with more than 1MiB at once \(list pods\)"):
        take(tmp_path, api)
    assert next(sent) < 1000, "it does not wait for the end, which never comes"


def test_an_error_page(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_BYTES", 1 << 20)
    api.routes[PODS] = Answer(b"x" * (2 << 20), 503)
    with pytest.raises(BadAnswerError, match="more than 1MiB at once"):
        take(tmp_path, api)


def test_one_event_of_a_watch(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_BYTES", 1 << 20)
    api.routes["/watch"] = Answer(stream=(b'{"type": "ADDED"' for _ in itertools.count()))
    with pytest.raises(BadAnswerError, match=r"more than 1MiB at once \(watch pods\)"):
        list(open_session(connection_to(tmp_path, api)).lines("/watch", "watch pods", {}, 60))


def test_lines_however_they_come_in(tmp_path: Path, api: FakeApi) -> None:
    pieces = [b"a", b"b\n\nc\nd", b"e", b"\n", b"f\n", b"\n", b"lost"]
    api.routes["/watch"] = Answer(stream=pieces)
    lines = open_session(connection_to(tmp_path, api)).lines("/watch", "watch pods", {}, 60)
    assert list(lines) == [b"", b"ab", b"c", b"de", b"f"]


class Watched(bytes):
    """Bytes that count how many of them are searched, or copied by being put together one after the other."""

    handled = 0

    def __add__(self, other: bytes) -> Watched:
        return self._handled(super().__add__(other))

    def __radd__(self, other: bytes) -> Watched:
        return self._handled(other.__add__(self))

    def split(self, *arguments: Any) -> list[Watched]:  # type: ignore[override]
        Watched.handled += len(self)
        return [Watched(part) for part in super().split(*arguments)]

    def find(self, *arguments: Any) -> int:
        Watched.handled += len(self)
        return super().find(*arguments)

    def partition(self, *arguments: Any) -> tuple[Watched, Watched, Watched]:  # type: ignore[override]
        Watched.handled += len(self)
        first, separator, last = super().partition(*arguments)
        return Watched(first), Watched(separator), Watched(last)

    @staticmethod
    def _handled(data: bytes) -> Watched:
        Watched.handled += len(data)
        return Watched(data)


def test_a_long_line_is_put_together_once(tmp_path: Path, api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watched, "handled", 0)
    came = bodies.pieces
    monkeypatch.setattr(bodies, "pieces", lambda *arguments: map(Watched, came(*arguments)))
    size = 4 << 20
    api.routes["/watch"] = Answer(stream=[*[b"x" * (1 << 16)] * (size >> 16), b"\n"])
    _, line = open_session(connection_to(tmp_path, api)).lines("/watch", "watch pods", {}, 60)
    assert len(line) == size
    assert size <= Watched.handled < 4 * size, "a hundred times as much if every piece were joined to all before it"


def test_a_whole_list(
    tmp_path: Path, api: FakeApi, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()

    def endless(request: Request) -> Answer:
        number = next(numbers)
        return page(f"token-{number}", items(number * 10, 10))

    api.routes[PODS] = endless
    with pytest.raises(TooLongListError, match=r"the list of pods from http.* has more than 16KiB") as caught:
        take(tmp_path, api, max_bytes=16 << 10)
    assert caught.value.hint.startswith("--max-bytes=32Ki reads more; ")
    assert next(numbers) < 1000
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path, api.url)))
    assert run(["why-pending", "-A", "--max-bytes=8Ki"]) == 1
    assert "--max-bytes=16Ki" in capfd.readouterr().err


# --- chunks ---------------------------------------------------------------------------------------------------------


def same_token(_request: Request) -> Answer:
    return page("again", items(next(NUMBERS) * 2, 2))


def same_objects(_request: Request) -> Answer:
    return page(f"token-{next(NUMBERS)}", items(0, 2))


def nothing(_request: Request) -> Answer:
    return page(f"token-{next(NUMBERS)}", [])


def in_turn(_request: Request) -> Answer:
    number = next(NUMBERS)
    return page("ab"[number % 2], items(number, 1))


NUMBERS = itertools.count()


@pytest.mark.parametrize("answer", [same_token, same_objects, nothing, in_turn], ids=lambda each: each.__name__)
def test_chunks_without_progress(tmp_path: Path, api: FakeApi, answer: Any) -> None:
    api.routes[PODS] = answer
    with pytest.raises(BadAnswerError, match="lists pods without end: its chunks bring nothing new"):
        take(tmp_path, api)
    assert len(api.requests) < 200


def test_chunks_that_are_empty_for_a_while(tmp_path: Path, api: FakeApi) -> None:
    def answer(request: Request) -> Answer:
        at = int(request.query.get("continue", "0"))
        nameless = {"metadata": {"name": 7}}
        objects = [nameless] if at in (30, 31) else [] if at % 20 else items(at, 1)
        return page(str(at + 1) if at < 60 else "", objects)

    api.routes[PODS] = answer
    listed = take(tmp_path, api)
    assert (len(listed.sink.kept), len(listed.bad_objects)) == (4, 2)


# --- unpacking ------------------------------------------------------------------------------------------------------


def bomb() -> bytes:
    """A quarter of a GiB of spaces, of which a quarter may be unpacked."""
    packer = zlib.compressobj(wbits=31)
    packed = [packer.compress(b" " * (1 << 22)) for _ in range(64)]
    return b"".join([*packed, packer.flush()])


def test_a_bomb_is_refused_before_it_takes_memory(tmp_path: Path, api: FakeApi) -> None:
    api.routes[PODS] = Answer(bomb(), headers={"Content-Encoding": "gzip"})
    config = write_kubeconfig(tmp_path, api.url)
    program = "import sys; from kubectl_dra.commands.app import run; run(sys.argv[1:])"
    err, peak = peak_of(program, "why-pending", "-A", "--kubeconfig", str(config))
    assert "decompression bomb" in err
    assert peak < 200 << 20


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate", "br", "zstd", "gzip, gzip, gzip, gzip", "x\ty"])
def test_packings_that_nobody_asked_for(tmp_path: Path, api: FakeApi, encoding: str) -> None:
    api.routes[PODS] = Answer(gzip.compress(gzip.compress(b"{}")), headers={"Content-Encoding": encoding})
    with pytest.raises(BadAnswerError, match="which nobody asked for"):
        take(tmp_path, api)


def test_what_is_packed_well_is_read(tmp_path: Path, api: FakeApi) -> None:
    api.routes[PODS] = Answer(gzip.compress(b'{"kind":"PodList","items":[]}'), headers={"Content-Encoding": "GZIP"})
    assert take(tmp_path, api).sink.kept == []


# --- time -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "READ_SECONDS", 0.5)


def slowly(what: bytes, seconds: float) -> Iterator[bytes]:
    for _ in range(10_000):
        yield what
        time.sleep(seconds)


@pytest.mark.usefixtures("impatient")
def test_no_byte_at_all(tmp_path: Path, api: FakeApi) -> None:
    api.routes[PODS] = Answer({}, seconds=20)
    with pytest.raises(TimedOutError, match=r"does not answer in time \(list pods\)"):
        take(tmp_path, api)


@pytest.mark.usefixtures("impatient")
def test_a_byte_now_and_then(tmp_path: Path, api: FakeApi) -> None:
    api.routes[PODS] = Answer(stream=slowly(b" ", 0.05))
    with pytest.raises(TimedOutError, match=r"does not answer in time \(list pods\)"):
        take(tmp_path, api)


def test_an_event_that_does_not_end(tmp_path: Path, api: FakeApi) -> None:
    api.routes["/watch"] = Answer(stream=slowly(b"{", 0.05))
    with pytest.raises(TimedOutError, match=r"does not answer in time \(watch pods\)"):
        list(open_session(connection_to(tmp_path, api)).lines("/watch", "watch pods", {}, 0.5))


def test_a_watch_may_be_quiet_between_events(tmp_path: Path, api: FakeApi) -> None:
    def stream() -> Iterator[bytes]:
        for _ in range(4):
            yield b"{}\n"
            time.sleep(0.5)

    api.routes["/watch"] = Answer(stream=stream())
    lines = list(open_session(connection_to(tmp_path, api)).lines("/watch", "watch pods", {}, 1.8))
    assert lines == [b"", b"{}", b"{}", b"{}", b"{}"]


def test_slices_are_bounded_as_well(tmp_path: Path, api: FakeApi) -> None:
    path = "/apis/resource.k8s.io/v1/resourceslices"
    metadata = {"continue": "x"}
    api.routes[path] = Answer({"kind": "ResourceSliceList", "metadata": metadata, "items": []})
    with pytest.raises(BadAnswerError, match="lists resourceslices without end"):
        take_list(open_session(connection_to(tmp_path, api)), RESOURCE_SLICE, "resource.k8s.io/v1")
