"""An object of another project that makes pods, by its name: got from a live cluster; files hold theirs already."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_dra.api.controllers import MAKERS, RUNTIMES
from kubectl_dra.api.kinds import Kind
from kubectl_dra.api.sources import Source
from kubectl_dra.api.trees import mapping, read_tree
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.not_found import not_there
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.ids import Key
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.reports.invocations import kubectl, of, plain_word, shell_line, within
from kubectl_dra.source.errors import ClusterError, ForbiddenError
from kubectl_dra.source.spec import Connection


def with_maker(options: Options, state: ClusterState, kind: Kind, key: Key, *, has_pods: bool) -> ClusterState:
    """The state with the object, where ``kind`` is one of another project's.

    Where it may not be read, or is gone, its pods are all that is known of it. Raises ``CommandError`` and
    ``ClusterError`` where there are none either.
    """
    if kind not in MAKERS or (kind.name, key.namespace, key.name) in state.inventory.makers:
        return state
    if options.from_ is not None:
        if has_pods:
            return state
        raise _not_in_file(state, kind, key)
    connection = source_spec(options).connection
    try:
        found = _get(connection, kind.group, kind.plural, kind.name, key)
    except ForbiddenError:
        if has_pods:
            return state
        raise
    if found is None:
        if has_pods:
            return state
        look = shell_line(kubectl("get", kind.resource, within(key.namespace)))
        raise CommandError(not_there(kind, key), look)
    from kubectl_dra.api.makers import Makers  # what reads manifests is loaded only where there is one

    makers = Makers((found, *_runtime(connection, found, key.namespace)))
    return state.changed(state.inventory.replace(makers=makers))


def _not_in_file(state: ClusterState, kind: Kind, key: Key) -> CommandError:
    known = [Key(namespace, name) for of_kind, namespace, name in state.inventory.makers if of_kind == kind.name]
    what = f'{kind.resource} "{key.name}" is not among what was read in namespace "{key.namespace}"'
    here = (each.name for each in known if each.namespace == key.namespace)
    elsewhere = sorted(str(each) for each in known if each.name == key.name)
    what += f"; there is {elsewhere[0]}" if elsewhere else did_you_mean(key.name, here)
    words = kubectl("get", of(kind.resource, key.name, key.namespace), plain_word("-oyaml"))
    return CommandError(what, shell_line(words))


def _get(connection: Connection, group: str, plural: str, kind: str, key: Key) -> Source | None:
    from kubectl_dra.source.live.foreign import get_foreign  # the kubernetes package is heavy

    return get_foreign(connection, group, plural, kind, key)


def _runtime(connection: Connection, job: Source, namespace: str) -> Iterator[Source]:
    """What describes the pods of a TrainJob; nothing where it can't be read, which is said of the job."""
    from kubectl_dra.api.workloads.made import is_train_job, runtime_of

    tree = mapping(read_tree(job.data))
    if not is_train_job(tree):
        return
    kind, _, name = runtime_of(tree).partition(" ")
    group = job.api_version.rpartition("/")[0]
    if (group, kind) not in RUNTIMES:
        return
    key = Key("" if kind.startswith("Cluster") else namespace, name)
    try:
        found = _get(connection, group, f"{kind.lower()}s", kind, key)
    except ClusterError:
        return
    if found is not None:
        yield found
