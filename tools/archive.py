"""Builds dist/kubectl-dra-linux-amd64.tar.gz, which needs no Python, and the krew manifest.

A folder made by PyInstaller: it brings its own interpreter, starts the first time as it does later, and writes nothing
into the home folder (docs/platforms.md has figures of others). The same inputs give the same bytes: names, owners,
times and the order of files come from here and not from the machine.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from kubectl_dra.version import __version__

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ARCHIVE = "kubectl-dra-linux-amd64.tar.gz"
ENTRY = "from kubectl_dra.__main__ import main\n\nmain()\n"
# Commands are imported by name when they are called, so analysis of imports does not see them.
FLAGS = (
    "--noconfirm",
    "--onedir",
    "--name=kubectl-dra",
    "--collect-submodules=kubectl_dra",
    "--collect-data=kubectl_dra",
    f"--add-data={ROOT / 'docs' / 'reasons'}:kubectl_dra/output/explain/reasons",
)
UNUSED = ("tkinter", "pytest", "hypothesis", "mypy", "ruff")


def moment() -> int:
    """The time that all files get: ``SOURCE_DATE_EPOCH``, else that of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    command = ["git", "log", "-1", "--format=%ct"]
    return int(given or subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout)


def built(folder: Path, time: int) -> Path:
    """The folder with the program."""
    entry = folder / "entry.py"
    entry.write_text(ENTRY, encoding="utf-8")
    places = [f"--distpath={folder}/dist", f"--workpath={folder}/work", f"--specpath={folder}", "--log-level=WARN"]
    command = [sys.executable, "-m", "PyInstaller", *FLAGS, *places, *(f"--exclude-module={name}" for name in UNUSED)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time), "PYTHONHASHSEED": "1"}
    subprocess.run([*command, str(entry)], check=True, env=environment, cwd=ROOT)
    return folder / "dist" / "kubectl-dra"


def packed(program: Path, time: int) -> bytes:
    """The archive: the program and the licence."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        files = [(path, f"kubectl-dra/{path.relative_to(program).as_posix()}") for path in program.rglob("*")]
        for path, name in sorted([*files, (ROOT / "LICENSE", "LICENSE")], key=lambda pair: pair[1]):
            if path.is_dir() and not path.is_symlink():
                continue
            info = archive.gettarinfo(path, name)
            info.mtime, info.uid, info.gid, info.uname, info.gname = time, 0, 0, "", ""
            info.mode = 0o755 if info.mode & 0o100 else 0o644
            if info.islnk():  # a second name of a file
                info.type, info.linkname, info.size = tarfile.REGTYPE, "", path.stat().st_size
            archive.addfile(info, path.open("rb") if info.isreg() else None)
    return gzip.compress(plain.getvalue(), 9, mtime=time)


def main() -> int:
    """Build both files."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        print("the archive is built on linux/amd64 only", file=sys.stderr)
        return 0
    time = moment()
    with tempfile.TemporaryDirectory() as folder:
        data = packed(built(Path(folder), time), time)
    DIST.mkdir(exist_ok=True)
    (DIST / ARCHIVE).write_bytes(data)
    checksum = hashlib.sha256(data).hexdigest()
    manifest = (ROOT / "deploy" / "krew" / "dra.yaml").read_text(encoding="utf-8").partition("apiVersion: ")
    url = os.environ.get("ARCHIVE_URL", f"file://{DIST / ARCHIVE}")
    text = "".join(manifest[1:])
    for name, value in (("VERSION", __version__), ("SHA256", checksum), ("ARCHIVE_URL", url)):
        text = text.replace(f"@{name}@", value)
    (DIST / "dra.yaml").write_text(text, encoding="utf-8")
    print(f"{ARCHIVE}: {len(data) / 1e6:.1f} MB, sha256 {checksum}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
