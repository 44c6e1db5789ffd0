"""Where to read from, as the command line says it. Values only; reading is done by the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kubectl_dra.model.clock import SYSTEM, Clock
from kubectl_dra.model.evidence import Fields
from kubectl_dra.model.ids import Key
from kubectl_dra.model.invocation import HERE, Address
from kubectl_dra.source.limits import MAX_BYTES

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
    are meant. ``max_bytes`` bounds a file after decompression. ``needs`` names the kinds that the command reads, empty
    for all. ``pods`` are asked for by name: a live cluster keeps them whatever they ask for, and reads them even when
    they are finished.

    The rest limits what a live cluster is asked for; files are read as they are. ``slices`` are field selectors, of
    which a slice must match one. ``local``: only the namespace matters, also of pods and claims. ``claims``: the
    question is about these only, so that slices are read of the pools that they hold devices of. ``node``: slices
    are read of the pools that this node can use something of. ``demanded``: kinds that are read even where no pod
    of the cluster makes them matter. ``more_namespaces``: others that the question is about as well.
    ``whole_nodes``: the pods on these nodes are kept one by one. ``everywhere``: kinds that are read in all namespaces,
    whichever the question is about.

    ``told`` is called again and again while it is read: with the share that is done (0 to 1), None where nobody knows.
    """

    file: str | None = None
    more_files: tuple[str, ...] = field(default=(), kw_only=True)
    connection: Connection = Connection()
    namespace: str = ""
    needs: frozenset[str] = frozenset()
    all_namespaces: bool = False
    max_bytes: int = MAX_BYTES
    pods: frozenset[Key] = frozenset()
    slices: frozenset[Fields] = frozenset()
    local: bool = False
    claims: frozenset[Key] = frozenset()
    node: str = ""
    demanded: frozenset[str] = frozenset()
    more_namespaces: frozenset[str] = frozenset()
    whole_nodes: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    told: Told | None = field(default=None, compare=False)
