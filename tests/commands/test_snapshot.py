"""snapshot as a command: files are private and whole, the output feeds every other command."""

from __future__ import annotations

import gzip
import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run

ROOT = Path(__file__).parents[2]


def call(capfd, *arguments):
    code = run([*map(str, arguments)])
    out, err = capfd.readouterr()
    return code, out, err


def take(capfd, *arguments, source="demo"):
    return call(capfd, "snapshot", *arguments, "--from", source)


def test_a_file_is_private_and_read_by_every_command(capfd, tmp_path):
    path = tmp_path / "cluster.json"
    code, out, err = take(capfd, "-o", path)
    assert (code, out) == (0, "")
    assert err == f"142 objects written to {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    for command in (["describe-pool"], ["why-pending", "-A"], ["get", "devices"]):
        code, out, _ = call(capfd, *command, "--from", path)
        demo = call(capfd, *command, "--from", "demo")[:2]
        assert (code, out.replace(f"--from {path}", "--from demo")) == demo


def test_stdout_and_a_second_snapshot_of_it(capfd, tmp_path):
    first = take(capfd)[1]
    path = tmp_path / "cluster.json"
    path.write_text(first, encoding="utf-8")
    assert take(capfd, source=path)[1] == first
    assert first.isascii()


def test_a_format_is_no_file(capfd, tmp_path, monkeypatch):
    """After -o kubectl has formats: json is what a snapshot is, and the others end before anything is read."""
    monkeypatch.chdir(tmp_path)
    assert run(["snapshot", "--from", "demo"]) == 0
    whole = capfd.readouterr().out
    for words in (["-o", "json"], ["-ojson"], ["--output=json"], ["-f", "-"], ["-o", "-"]):
        assert run(["snapshot", "--from", "demo", *words]) == 0
        assert capfd.readouterr().out == whole
    for word in ("yaml", "wide", "name", "jsonpath={.items}"):
        assert run(["snapshot", "--from", str(tmp_path / "missing.json"), "-o", word]) == 2
        out, err = capfd.readouterr()
        assert not out
        assert "a snapshot is always JSON" in err
        assert "-f FILE" in err
    assert run(["snapshot", "--from", "demo", "-f", "a.json", "-o", "b.json"]) == 2
    assert "give one of them" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []
    for words in (["-f", "yaml"], ["-o", "./json"], ["-o", "cluster.json"]):
        assert run(["snapshot", "--from", "demo", *words]) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cluster.json", "json", "yaml"]


def test_gzip(capfd, tmp_path):
    path = tmp_path / "cluster.json.gz"
    take(capfd, "-o", path)
    assert gzip.decompress(path.read_bytes()).decode() == take(capfd)[1]
    assert take(capfd, source=path)[1] == take(capfd)[1]


def test_an_existing_file_is_replaced_and_a_link_kept(capfd, tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o644)
    link.symlink_to(target)
    assert take(capfd, "-o", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["kind"] == "Snapshot"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("path", ["/nonexistent/x.json", "/dev/null", "."])
def test_a_place_that_can_t_be_written(capfd, path):
    code, out, err = take(capfd, "-o", path)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {path}: ")
    assert len(err.splitlines()) == 2


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text("old", encoding="utf-8")

    def limit():
        # The kernel refuses to write beyond this, as it does on a full disk.
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    program = "import sys; from kubectl_dra.commands.app import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-B", "-c", program, "snapshot", "--from", "demo", "-o", str(path)]
    done = subprocess.run(command, cwd=ROOT, preexec_fn=limit, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {path}: File too large")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_closed_pipe_is_silent(tmp_path):
    program = "import sys; from kubectl_dra.commands.app import run; sys.exit(run(sys.argv[1:]))"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        command = [sys.executable, "-c", program, "snapshot", "--from", "demo"]
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_namespace(capfd):
    document = json.loads(take(capfd, "-n", "ml")[1])
    assert {item["metadata"].get("namespace", "") for item in document["items"]} == {"", "ml"}
    assert {read.get("namespace", "") for read in document["reads"]} == {"", "ml"}


def test_redaction(capfd):
    text = take(capfd, "--redact")[1]
    for name in (
        "trainer-0",
        "gke-prod-h100-5f3a2b1c-k4tq",
        "gpu.example.com",
        "serve-1",
        "rack-7",
        "leftover",
    ):
        assert name not in text


def test_parameters_only_on_request(capfd):
    assert "TimeSlicing" not in take(capfd)[1]
    assert "TimeSlicing" in take(capfd, "--with-parameters")[1]


@pytest.mark.parametrize("redact", [[], ["--redact"]])
def test_a_snapshot_with_parameters_warns(capfd, redact):
    assert "warning" not in take(capfd, *redact)[2]
    _, out, err = take(capfd, "--with-parameters", *redact)
    assert "warning: " in err and "before you share it" in err
    assert ("TimeSlicing" in out) is not bool(redact)


def test_a_redacted_snapshot_says_so_to_whoever_reads_it(capfd, tmp_path):
    path = tmp_path / "cluster.json"
    take(capfd, "--redact", "-o", path)
    assert "redacted: names" in call(capfd, "get", "pools", "--from", path)[2]
