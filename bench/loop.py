"""The least that reading a live cluster can cost: each list once from the same server, each chunk decoded once.

``python -m bench.loop`` asks the server of the kubeconfig with nothing but ``http.client``, pods in chunks of 500 as
kubectl does, and decodes each body as one typed list. It keeps nothing and answers nothing.
"""

from __future__ import annotations

import json
import os
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from kubectl_dra.api.decode import ListMeta
from kubectl_dra.api.decoders import make_decoder
from kubectl_dra.api.generations import shape_of
from kubectl_dra.api.kinds import BY_NAME

_PODS = "/api/v1/pods?fieldSelector=status.phase!%3DSucceeded,status.phase!%3DFailed"
LISTS = {
    "Pod": _PODS,
    "Node": "/api/v1/nodes?",
    "ResourceSlice": "/apis/resource.k8s.io/v1/resourceslices?",
    "ResourceClaim": "/apis/resource.k8s.io/v1/resourceclaims?",
    "DeviceClass": "/apis/resource.k8s.io/v1/deviceclasses?",
}
_LIMIT = 500


def main() -> int:
    """Read everything; returns the number of objects."""
    config = json.loads(Path(os.environ["KUBECONFIG"]).read_text(encoding="utf-8"))
    url = urlsplit(config["clusters"][0]["cluster"]["server"])
    connection = HTTPConnection(url.hostname or "", url.port)
    return sum(_pages(connection, kind, path) for kind, path in LISTS.items())


def _pages(connection: HTTPConnection, kind: str, path: str) -> int:
    decoder = _list_of(kind)
    objects, more = 0, ""
    while True:
        connection.request("GET", f"{path}&limit={_LIMIT}{more}")
        page = decoder.decode(connection.getresponse().read())
        objects += len(page.items)
        if not page.metadata.continue_:
            return objects
        more = f"&continue={page.metadata.continue_}"


def _list_of(kind: str) -> Any:
    found = BY_NAME[kind]
    struct: Any = shape_of(found.api_version, found).struct
    form = msgspec.defstruct("List", [("metadata", ListMeta), ("items", list[struct])])
    return make_decoder(form, numbers_as_text=True)


if __name__ == "__main__":
    print(main(), "objects")
