"""Opening the source that the options name: facts, evidence, features, and the namespaces in scope."""

from __future__ import annotations

import dataclasses
import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from kubectl_dra.api.served import STABLE_SINCE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.address import address_of
from kubectl_dra.commands.shared.asked_again import asked_again
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.evidence import Coverage, Evidence, Fields
from kubectl_dra.model.features import NEWEST_MINOR, FeatureError, Features, features, known_gates, parse_gates
from kubectl_dra.model.ids import Key
from kubectl_dra.model.inventory import Inventory
from kubectl_dra.model.signs import newest_kubelet, shown_gates
from kubectl_dra.output.progress import PROGRESS
from kubectl_dra.source import current_namespace, load
from kubectl_dra.source.needs import Needs
from kubectl_dra.source.spec import STDIN, SourceSpec, Told

_MANY_OBJECTS: Final = 100_000
_STABLE: Final = "v1"

#: What was read last, if that is much: to take it apart object by object would take a twentieth of all time.
KEPT: Final[list[ClusterState]] = []


class Scoped(msgspec.Struct, frozen=True):
    """What a command works on, and the namespace in scope; empty for all namespaces."""

    state: ClusterState
    namespace: str


def read_cluster(
    options: Options,
    needs: Iterable[str] = (),
    pods: Iterable[str] = (),
    *,
    slices: Iterable[Fields] = (),
    claims: Iterable[str] = (),
    node: str = "",
    local: bool = False,
    demanded: Iterable[str] = (),
    whole_nodes: Iterable[str] = (),
    namespaces: Iterable[str] = (),
    everywhere: Iterable[str] = (),
) -> Scoped:
    """Read what the options name. ``needs`` are kinds (``Pod``, ``ResourceSlice``, …); none means all.

    ``pods`` are names that must be read in any case.

    ``slices``, ``claims`` (names), ``node``, ``local``, ``demanded`` (kinds), ``whole_nodes``, ``namespaces``
    (others that matter) and ``everywhere`` (kinds) say what of a live cluster is enough, as :class:`Needs` explains.
    """
    gates = gates_of(options)
    limits = Needs(
        frozenset(needs),
        tuple(namespaces),
        slices=frozenset(slices),
        local=local,
        node=node,
        demanded=frozenset(demanded),
        whole_nodes=frozenset(whole_nodes),
        everywhere=frozenset(everywhere),
    )
    spec, namespace = spec_and_namespace(options, limits, pods, claims)
    with unwatched():
        inventory, evidence = load(dataclasses.replace(spec, told=_told(spec)))
        much = gc.get_count()[0] > _MANY_OBJECTS
    PROGRESS.say("Working out the answer")
    state = ClusterState(inventory, evidence, features_of(inventory, evidence, gates), options.clock)
    if much:
        KEPT[:] = [state]
    return Scoped(state, namespace)


@contextmanager
def unwatched() -> Iterator[None]:
    """Keep the garbage collector from what is read: it is no garbage, and to look through it took a fifth of all time.

    Where much was read it stays off: what is worked out of it is large as well, hardly any of it in cycles, and the
    process ends with its answer, or says that it :func:`goes_on`. Of little nothing is kept from it: a process that
    reads often would never get rid of what it read before.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] <= _MANY_OBJECTS:
            gc.enable()


def goes_on() -> None:
    """Of a process that does not end with the answer to what it read: what it leaves behind is collected again."""
    KEPT.clear()
    gc.enable()


def _told(spec: SourceSpec) -> Told:
    """Shows on a terminal how far reading has come."""
    what = f"Reading {'the cluster' if spec.file is None else 'stdin' if spec.file == STDIN else spec.file}"

    def told(share: float | None) -> None:
        PROGRESS.begin(sys.stderr)
        PROGRESS.say(what, share)

    return told


def spec_and_namespace(
    options: Options, needs: Needs, pods: Iterable[str], claims: Iterable[str] = ()
) -> tuple[SourceSpec, str]:
    """The source that the options name, and the namespace in scope (empty for all) of ``pods`` and ``claims``."""
    spec = source_spec(options)
    namespace = "" if options.all_namespaces else current_namespace(spec)
    named = dataclasses.replace(needs, pods=_keys(namespace, pods), claims=_keys(namespace, claims))
    address = dataclasses.replace(spec.connection.address, again=asked_again(options, namespace))
    connection = dataclasses.replace(spec.connection, address=address)
    return dataclasses.replace(spec, connection=connection, needs=named), namespace


def _keys(namespace: str, names: Iterable[str]) -> frozenset[Key]:
    return frozenset(Key(namespace, name) for name in names)


def source_spec(options: Options, kinds: Iterable[str] = ()) -> SourceSpec:
    """The source that the options name. Raises a usage error for a file together with flags of a live cluster."""
    if options.from_ is not None:
        _refuse_connection_flags(options)
    if options.verbosity:
        from kubectl_dra.commands.shared.logs import log_requests

        log_requests(options.color)
    return SourceSpec(
        options.from_,
        dataclasses.replace(options, address=address_of(options)),
        options.namespace,
        Needs(frozenset(kinds)),
        all_namespaces=options.all_namespaces,
        max_bytes=options.max_bytes,
        more_files=options.from_others,
    )


def _refuse_connection_flags(options: Options) -> None:
    flags = {
        "--context": options.context,
        "--cluster": options.cluster,
        "--user": options.user,
        "--kubeconfig": options.kubeconfig,
        "--as": options.as_user,
        "--as-group": options.as_groups,
        "--server": options.server,
        "--token": options.token,
        "--insecure-skip-tls-verify": options.insecure,
    }
    given = [flag for flag, value in flags.items() if value]
    if given:
        raise UsageProblem(f"--from and {given[0]} cannot be combined", f"leave out --from or {given[0]}")


def gates_of(options: Options) -> dict[str, bool]:
    """What ``--feature-gates`` says. Raises a usage error for gates that don't exist."""
    try:
        return parse_gates(options.feature_gates)
    except FeatureError as error:
        raise UsageProblem(
            str(error), f"--feature-gates takes GATE=true,…; gates: {', '.join(known_gates())}"
        ) from error


def features_of(inventory: Inventory, evidence: Evidence, gates: dict[str, bool]) -> Features:
    """The features of the server's version with ``gates`` on top. Raises a usage error for what it can't have.

    Where ``gates`` says nothing, what the server's objects show to be on counts as on.
    """
    minor = evidence.server_version[1] if evidence.server_version is not None else _minor_of_list(inventory, evidence)
    try:
        # What a plain list does not hold says nothing about any server.
        groups = evidence.coverage("PodGroup") if evidence.server_version is not None else Coverage.NOT_READ
        return features(minor, gates, shown_gates(inventory, minor, groups))
    except FeatureError as error:
        raise UsageProblem(str(error), "leave it out, or set the gates that the scheduler really has") from error


def _minor_of_list(inventory: Inventory, evidence: Evidence) -> int:
    """What a list of objects shows of its server: its newest kubelet, and that it wrote the list in a version."""
    kubelet = newest_kubelet(inventory)
    if kubelet is None:
        return NEWEST_MINOR
    return max(kubelet, STABLE_SINCE) if _STABLE in evidence.written_in else kubelet
