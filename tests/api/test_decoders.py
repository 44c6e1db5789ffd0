"""Decoders are made by several threads at once when a live cluster is read: none may see another's half-made parts."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Threads switch all the time, and every one of them needs records that share their parts with those of the others.
_PROGRAM = """
import json, sys, threading
from kubectl_dra.api.decode import decode_object
from kubectl_dra.api.kinds import BY_NAME

sys.setswitchinterval(1e-6)
NAMES = ("ResourceClaim", "ResourceClaimTemplate", "Pod", "ResourceSlice", "ResourceClaim", "Pod")
DATA = json.dumps({"metadata": {"name": "x"}, "spec": {}, "status": {}}).encode()
together = threading.Barrier(len(NAMES))

def decode(name):
    together.wait()
    decode_object(DATA, BY_NAME[name].api_version, BY_NAME[name])

threads = [threading.Thread(target=decode, args=(name,)) for name in NAMES]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize("attempt", range(4))
def test_threads_that_need_decoders_at_the_same_time(attempt: int) -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"attempt {attempt}"
