"""Bytes of files, pipes and packed files: the same piece by piece as in one, and never more than is allowed."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.output.files import write_private
from kubectl_dra.source import content as module
from kubectl_dra.source.content import Content, open_content
from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.limits import ANY_RATIO_BYTES, TooLargeError
from kubectl_dra.source.packing import MARKS, zstandard
from tests.kit.memory import peak_of

pytestmark = pytest.mark.one_in(3)

ZSTD: Any = zstandard()
TEXT = '{"kind": "Pod"}  \u00e9\n' * 1000
DATA = TEXT.encode()
MANY = 40 << 20


def whole(content: Content) -> bytes:
    with content:
        return b"".join(content.chunks())


def written(folder: Path, data: bytes) -> str:
    path = folder / "f"
    path.write_bytes(data)
    return str(path)


WAYS = {
    "as it is": DATA,
    "with a mark": b"\xef\xbb\xbf" + DATA,
    "utf-16": TEXT.encode("utf-16"),
    "utf-16, big": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "packed": gzip.compress(DATA),
    "packed, with a mark": gzip.compress(b"\xef\xbb\xbf" + DATA),
    "packed utf-16": gzip.compress(TEXT.encode("utf-16")),
    "zstd": ZSTD.compress(DATA),
    "zstd, with a mark": ZSTD.compress(b"\xef\xbb\xbf" + DATA),
    "zstd utf-16": ZSTD.compress(TEXT.encode("utf-16")),
    "zstd in two": ZSTD.compress(DATA[:100]) + ZSTD.compress(DATA[100:]),
    "packed in two": gzip.compress(DATA[:100]) + gzip.compress(DATA[100:]),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_writing_a_text_gives_the_same_bytes(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = WAYS[way]
    assert whole(open_content(written(tmp_path, data))) == DATA
    assert whole(Content.of(data)) == (data if data.startswith(MARKS) else DATA)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    assert whole(open_content("-")) == DATA


def test_bytes_come_as_they_are(tmp_path: Path) -> None:
    assert whole(open_content(written(tmp_path, b"\x00\xff"))) == b"\x00\xff"
    assert whole(open_content(written(tmp_path, b""))) == b""


def test_any_part_in_any_order(tmp_path: Path) -> None:
    with open_content(written(tmp_path, b"\xef\xbb\xbf0123456789")) as content:
        assert [content.read(5, 8), content.read(0, 2), content.read(8, 99)] == [b"567", b"01", b"89"]
        assert content.text().read() == "0123456789"
        assert b"".join(content.chunks(7, 3)) == b"3456"


def test_redirected_input_goes_on_where_it_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(written(tmp_path, b"line\n" + DATA)).open("rb") as stream:
        stream.readline()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream, encoding="utf-8"))
        assert whole(open_content("-")) == DATA


def test_a_pipe_and_a_file_of_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    assert whole(open_content(str(path))) == DATA
    writer.join()
    assert whole(open_content("/proc/version")).startswith(b"Linux")


def test_more_than_is_allowed_is_refused_however_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (DATA, gzip.compress(DATA), ZSTD.compress(DATA)):
        path = written(tmp_path, data)
        assert open_content(path, len(DATA)).size == len(DATA)
        with pytest.raises(TooLargeError, match=r"more than \d+B$") as caught:
            open_content(path, len(DATA) - 1)
        assert "--max-bytes=" in caught.value.hint
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        with pytest.raises(TooLargeError, match="stdin"):
            open_content("-", len(DATA) - 1)


@pytest.mark.parametrize("tool", ["gunzip", "unzstd"])
def test_a_bomb_is_refused_before_it_goes_off(tool: str, tmp_path: Path) -> None:
    packer = zlib.compressobj(wbits=31) if tool == "gunzip" else ZSTD.ZstdCompressor()
    packed = [packer.compress(b" " * MANY) for _ in range(20)]
    path = written(tmp_path, b"".join([*packed, packer.flush()]))
    err, peak = peak_of(f"from kubectl_dra.source.file import load_file; load_file({path!r})")
    assert "decompression bomb" in err
    assert peak < 200 << 20, "800 MB were in it"


def test_what_packs_well_is_no_bomb(tmp_path: Path) -> None:
    line = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%d"},"spec":{"containers":[]}}\n'
    data = b"".join(line % number for number in range(900_000))
    assert len(data) > ANY_RATIO_BYTES
    assert open_content(written(tmp_path, gzip.compress(data))).size == len(data)


def test_large_ones_are_kept_outside_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IN_MEMORY", 100)
    assert whole(open_content(written(tmp_path, gzip.compress(DATA)))) == DATA
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    with pytest.raises(FileError, match="can't be kept in /nonexistent while it is read") as caught:
        open_content(written(tmp_path, gzip.compress(DATA)))
    assert "TMPDIR" in caught.value.hint


def test_a_file_that_shrinks_meanwhile(tmp_path: Path) -> None:
    path = written(tmp_path, DATA)
    with open_content(path) as content:
        os.truncate(path, 10)
        with pytest.raises(FileError, match="became shorter"):
            content.read(0, 20)


@pytest.mark.parametrize(
    ("path", "reason"), [("/nonexistent", "No such file"), ("/", "Is a directory"), ("a\0b", "null")]
)
def test_what_can_t_be_opened(path: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason) as caught:
        open_content(path)
    assert caught.value.hint == "name a file, or - for stdin"


@pytest.mark.parametrize("damage", [slice(0, -1), slice(0, 10), slice(0, 4)])
def test_zstd_that_is_cut_off(damage: slice, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the zstd file is cut off"):
        open_content(written(tmp_path, ZSTD.compress(DATA)[damage]))


def test_broken_zstd(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="broken zstd file"):
        open_content(written(tmp_path, ZSTD.compress(DATA)[:4] + b"\xff" * 40))


@pytest.mark.parametrize("extension", [".gz", ".zst", ""])
def test_what_is_written_is_read(extension: str, tmp_path: Path) -> None:
    path = str(tmp_path / f"file.json{extension}")
    write_private(path, [DATA[:50], DATA[50:]])
    assert whole(open_content(path)) == DATA
    assert (Path(path).read_bytes() == DATA) == (not extension)
