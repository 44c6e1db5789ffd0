"""Where to read from, as the command line says it. Values only; reading is done by the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kubectl_dra.model.clock import SYSTEM, Clock
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.source.limits import MAX_BYTES
from kubectl_dra.source.needs import ALL, Needs

DEMO = "demo"
STDIN = "-"
Told = Callable[[float | None], object]


@dataclass(frozen=True, slots=True)
class Connection:
    """kubectl's connection flags; empty means what the kubeconfig says. ``request_timeout`` is in seconds.

    ``max_bytes`` bounds one list, all chunks together. ``clock`` tells when what is read was true. ``address`` has the
    flags for commands that are printed; what is read completes it.
    """

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    as_user: str = ""
    as_groups: tuple[str, ...] = ()
    server: str = ""
    token: str = field(default="", repr=False)
    insecure: bool = False
    request_timeout: float | None = None
    verbosity: int = 0
    max_bytes: int = MAX_BYTES
    clock: Clock = SYSTEM
    address: Address = HERE


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source: ``file`` is a path, ``-`` or ``demo``; None means the live cluster behind ``connection``.

    ``more_files`` are of the same cluster; each may be a folder of files.

    ``namespace`` is the one asked for, empty where the source is to say which is current, or where ``all_namespaces``
    are meant. ``max_bytes`` bounds a file after decompression. ``needs`` limits what a live cluster is asked for, its
    ``namespaces`` being others that the question is about as well; files are read as they are.

    ``told`` is called again and again while it is read: with the share that is done (0 to 1), None where nobody knows.
    """

    file: str | None = None
    more_files: tuple[str, ...] = field(default=(), kw_only=True)
    connection: Connection = Connection()
    namespace: str = ""
    needs: Needs = ALL
    all_namespaces: bool = False
    max_bytes: int = MAX_BYTES
    told: Told | None = field(default=None, compare=False)
