"""The name that the server makes where a manifest has ``generateName`` alone."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from kubectl_dra.api.trees import in_utf8, mapping, read_tree

# Letters that the API server takes for generated names (k8s.io/apimachinery, util/rand).
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5
_NAME: Final = 58


def named(data: bytes) -> tuple[bytes, bool]:
    """The object with a name where the server would generate one, as it would look; and whether that is so."""
    tree = mapping(read_tree(in_utf8(data)))
    meta = tree.get("metadata")
    if not isinstance(meta, dict) or meta.get("name") or not isinstance(meta.get("generateName"), str):
        return data, False
    if not meta["generateName"]:
        return data, False
    digest = hashlib.sha256(data).digest()
    suffix = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_SUFFIX])
    whole = {**tree, "metadata": {**meta, "name": meta["generateName"][:_NAME] + suffix}}
    return json.dumps(whole).encode(), True
