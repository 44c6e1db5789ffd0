"""Files, folders, patterns, addresses and kustomizations, as kubectl reads them; what is broken costs only itself."""

from __future__ import annotations

import io
import json
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kubectl_dra.source.errors import FileError, SourceError
from kubectl_dra.source.inputs import Inputs, Skipped, opened
from kubectl_dra.source.limits import TooLargeError
from kubectl_dra.source.reading import MANIFEST_BYTES, read_objects, read_records
from tests.kit import work
from tests.kit.http import Server

CLAIM = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: {}\n"


def claim(folder: Path, name: str, file: str = "") -> str:
    path = folder / (file or f"{name}.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CLAIM.format(name), encoding="utf-8")
    return str(path)


def names(*words: str, **options: Any) -> list[str]:
    found = read_objects(Inputs(words, **options))
    assert not found.problems
    return [json.loads(each.data)["metadata"]["name"] for each in found.objects]


def problem(*words: str, **options: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read_objects(Inputs(words, **options))
    assert "\n" not in caught.value.what
    assert caught.value.hint
    return caught.value


# --- files and folders ----------------------------------------------------------------------------------------------


def test_several_files_are_read_in_their_order_and_each_once(tmp_path: Path) -> None:
    a, b = claim(tmp_path, "a"), claim(tmp_path, "b")
    assert names(b, a) == ["b", "a"]
    assert names(a, b, a) == ["a", "b"]
    assert names(f"{a},{b}") == ["a", "b"]


def test_a_name_with_a_comma_is_a_name_first(tmp_path: Path) -> None:
    assert names(claim(tmp_path, "a", "x,y.yaml")) == ["a"]


def test_a_folder_gives_its_manifests_and_deeper_ones_with_r_only(tmp_path: Path) -> None:
    claim(tmp_path, "b", "2.yml")
    claim(tmp_path, "a", "1.yaml")
    claim(tmp_path, "deep", "deeper/3.yaml")
    (tmp_path / "4.json").write_text('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"}}', encoding="utf-8")
    (tmp_path / "README.md").write_text("{{ no manifest", encoding="utf-8")
    assert names(str(tmp_path)) == ["a", "b", "j"]
    assert names(str(tmp_path), recursive=True) == ["a", "b", "j", "deep"]


def test_a_pattern_that_the_shell_left_alone_is_expanded(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    claim(tmp_path, "b")
    assert names(str(tmp_path / "*.yaml")) == ["a", "b"]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "No such file" in problem(str(tmp_path / "none.yaml")).what
    assert "No such file" in problem(claim(tmp_path, "a"), str(tmp_path / "none-*.yaml")).what


def test_a_folder_without_manifests_says_what_it_looked_for(tmp_path: Path) -> None:
    claim(tmp_path, "deep", "deeper/3.yaml")
    found = problem(str(tmp_path))
    assert ".json, .yaml, .yml" in found.what
    assert "-R" in found.hint


def test_sockets_pipes_and_dangling_links_of_a_folder_are_left_out_with_a_note(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the names of sockets are short
        try:
            listening.bind("s.yaml")
        finally:
            os.chdir(here)
        os.mkfifo(tmp_path / "p.yaml")
        (tmp_path / "l.yaml").symlink_to(tmp_path / "nowhere")
        (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
        (tmp_path / "d.yaml").mkdir()
        found = read_objects(Inputs((str(tmp_path),)))
    assert len(found.objects) == 1
    assert not found.problems
    assert [note.split(" is left out")[0].rpartition("/")[2] for note in sorted(found.notes)] == [
        "l.yaml",
        "p.yaml",
        "s.yaml",
        "self.yaml",
    ]


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    claim(tmp_path, "a", "x/a.yaml")
    (tmp_path / "x" / "again").symlink_to(tmp_path)
    assert names(str(tmp_path), recursive=True) == ["a"]


def test_a_link_to_a_folder_that_is_named_is_entered(tmp_path: Path) -> None:
    claim(tmp_path, "a", "x/a.yaml")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    assert names(str(tmp_path / "link")) == ["a"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_costs_only_itself(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    Path(claim(tmp_path, "b")).chmod(0)
    found = read_objects(Inputs((str(tmp_path),)))
    assert (len(found.objects), len(found.problems)) == (1, 1)


# --- what is broken ---------------------------------------------------------------------------------------------------


def test_a_broken_file_costs_only_itself(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    claim(tmp_path, "c")
    (tmp_path / "b.yaml").write_text("kind: [\n", encoding="utf-8")
    found = read_objects(Inputs((str(tmp_path),)))
    assert len(found.objects) == 2
    assert [each.what.startswith(f"{tmp_path}/b.yaml, document 1, line 2") for each in found.problems] == [True]


def test_a_broken_document_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    parts = [CLAIM.format("a"), "kind: [\n", CLAIM.format("b"), "a: {{ .Values.x }}\n", "5\n", CLAIM.format("c")]
    path.write_text("---\n".join(parts), encoding="utf-8")
    found = read_objects(Inputs((str(path),)))
    assert [json.loads(each.data)["metadata"]["name"] for each in found.objects] == ["a", "b", "c"]
    assert [each.origin.line for each in found.objects] == [1, 8, 17]
    places = [each.what.removeprefix(f"{path}, ").partition(":")[0] for each in found.problems]
    assert [place.rpartition("line ")[2] for place in places] == ["7", "13", "14"]
    assert "helm template" in found.problems[1].hint


def test_the_only_problem_of_a_file_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("kind: [\n", encoding="utf-8")
    assert "line 2" in problem(str(path)).what
    path.write_text("", encoding="utf-8")
    assert "no objects" in problem(str(path)).what


def test_records_are_those_of_all_files(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    claim(tmp_path, "b")
    (tmp_path / "c.yaml").write_text("kind: [\n", encoding="utf-8")
    found = read_records(Inputs((str(tmp_path),)))
    assert [each.origin.rpartition("/")[2] for each in found.manifests.objects] == [
        "a.yaml, document 1",
        "b.yaml, document 1",
    ]
    assert len(found.problems) == 1


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0

    class Watched(io.FileIO):
        def readinto(self, buffer: Any, /) -> int | None:
            nonlocal taken
            count = super().readinto(buffer)
            taken += count or 0
            return count

    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    monkeypatch.setattr(Path, "open", lambda self, mode: io.BufferedReader(Watched(self, mode)))
    with pytest.raises(TooLargeError) as caught:
        read_objects(Inputs((str(path),)))
    assert 0 < taken < 1 << 20, "its first bytes say what it is"
    assert "--max-bytes" in caught.value.hint


def test_all_files_together_are_bounded(tmp_path: Path) -> None:
    for number in range(3):
        with (tmp_path / f"{number}.json").open("wb") as file:
            file.write(b" " * (MANIFEST_BYTES // 2) + b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}')
    with pytest.raises(TooLargeError):
        read_objects(Inputs((str(tmp_path),)))


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    path = tmp_path / "bomb.yaml"
    path.write_text("kind: Pod\n" + "\n".join(lines), encoding="utf-8")
    assert work.calls(lambda: problem(str(path))) < 10_000
    assert "bomb.yaml" in problem(str(path)).what


def test_ten_thousand_documents_with_some_broken_are_all_answered(tmp_path: Path) -> None:
    broken = {17, 5000, 9999}
    path = tmp_path / "many.yaml"
    docs = ("kind: [\n" if number in broken else CLAIM.format(f"c{number}") for number in range(10_000))
    path.write_text("---\n" + "---\n".join(docs), encoding="utf-8")
    found = read_objects(Inputs((str(path),)))
    assert (len(found.objects), len(found.problems)) == (9_997, 3)


# --- kustomizations ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return program


def script(program: Path, text: str) -> None:
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


def test_a_kustomization_is_what_kubectl_makes_of_it(kubectl: Path, tmp_path: Path) -> None:
    claim(tmp_path, "a", "base/a.yaml")
    script(kubectl, 'test "$1" = kustomize && cat "$2/a.yaml"')
    assert names(kustomize=str(tmp_path / "base")) == ["a"]


def test_what_kubectl_complains_about_is_said(kubectl: Path) -> None:
    script(kubectl, 'echo "error: unable to find one of kustomization.yaml" >&2; exit 1')
    found = problem(kustomize="nowhere")
    assert "unable to find one of kustomization.yaml" in found.what


def test_a_kustomization_that_prints_without_end_is_ended(kubectl: Path) -> None:
    script(kubectl, "exec yes")
    with pytest.raises(TooLargeError):
        read_objects(Inputs(kustomize="x", max_bytes=1 << 20))


def test_without_kubectl_there_are_no_kustomizations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "PATH" in problem(kustomize="x").what


# --- addresses --------------------------------------------------------------------------------------------------------


class _Site(BaseHTTPRequestHandler):
    seen: ClassVar[list[dict[str, str]]] = []

    def do_GET(self) -> None:
        self.seen.append(dict(self.headers))
        if self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://localhost:1/x.yaml")
            self.end_headers()
        elif self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/claim.yaml")
            self.end_headers()
        elif self.path == "/missing":
            self.send_error(404)
        else:
            kind = "text/html; charset=utf-8" if self.path == "/page" else "text/plain"
            body = CLAIM.format("web").encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body + (b"#" * 1024 * 1024 * 20 if self.path == "/large" else b""))

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*words, "-keyout", str(key), "-out", str(cert), *subject], check=True, capture_output=True)
    server = Server(("localhost", 0), _Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(cert))
        patch.setenv("NO_PROXY", "localhost")
        patch.setenv("HOME", str(folder))
        (folder / ".netrc").write_text("machine localhost login me password secret\n", encoding="utf-8")
        yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_address_is_fetched_without_credentials(site: str) -> None:
    _Site.seen.clear()
    assert names(f"{site}/claim.yaml") == ["web"]
    assert names(f"{site}/moved") == ["web"]
    sent = {name.lower() for headers in _Site.seen for name in headers}
    assert sent == {"host", "user-agent", "accept", "accept-encoding", "connection"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/elsewhere", "not https"),
        ("/missing", "404"),
        ("/page", "web page"),
        ("/large", "more than 16MiB"),
    ],
)
def test_an_address_that_answers_otherwise_is_an_error(site: str, path: str, words: str) -> None:
    assert words in problem(f"{site}{path}").what


def test_only_https_and_no_passwords() -> None:
    assert "only https" in problem("http://localhost:1/claim.yaml").what
    found = problem("https://me:secret@localhost:1/claim.yaml?token=secret")
    assert "secret" not in found.what + found.hint


def test_an_untrusted_server_is_an_error(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    assert "can't be fetched" in problem(f"{site}/claim.yaml").what


def test_what_is_opened_can_be_told_from_what_is_not(tmp_path: Path) -> None:
    claim(tmp_path, "a")
    (tmp_path / "l.yaml").symlink_to(tmp_path / "nowhere")
    kinds = [type(each) for each in opened(Inputs((str(tmp_path),)))]
    assert Skipped in kinds
    with pytest.raises(FileError):
        list(opened(Inputs((str(tmp_path / "none"),))))
