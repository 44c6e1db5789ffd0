"""The built-in demo cluster: one moment of one coherent cluster, as a snapshot in ``cluster.json`` beside this file.

All examples in the docs are made from it. ``tools/demo_cluster.py`` writes the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kubectl_dra.model.evidence import Evidence
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.source.content import Content
from kubectl_dra.source.file import load_content

CLUSTER: Final = Path(__file__).with_name("cluster.json")


def load_demo() -> tuple[Inventory, Evidence]:
    return load_content(Content.of(CLUSTER.read_bytes(), "demo"))
