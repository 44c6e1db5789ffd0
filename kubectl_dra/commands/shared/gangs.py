"""Gangs of other schedulers in a live cluster, read when a pod that waits is in one; files hold theirs already."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from kubectl_dra.api.gang_objects import READ, gang_objects, reads_of_gangs
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.gang_objects import KINDS, GangObjects, qualified
from kubectl_dra.source.errors import ClusterError


def with_gangs(options: Options, state: ClusterState, namespace: str, groups: Collection[str]) -> ClusterState:
    """The state with the gangs of ``namespace`` (empty: of all) of these API ``groups``, as far as they may be read."""
    if options.from_ is not None or not groups:
        return state
    found = _read(options, namespace, groups)
    reads = (*state.evidence.reads, *reads_of_gangs(found, groups, namespace, state.as_of))
    known = dataclasses.replace(state, evidence=dataclasses.replace(state.evidence, reads=reads))
    return known.changed(state.inventory.replace(gangs=found))


def _read(options: Options, namespace: str, groups: Collection[str]) -> GangObjects:
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    objects, complete, refused = list[Source](), list[str](), list[str]()
    for group in groups:
        within = {plural: namespace for plural, spaced in KINDS[group].values() if spaced}
        try:
            found = read_foreign(source_spec(options).connection, {group: READ[group]}, within)
        except ClusterError:
            # What is known of the devices is answered without it.
            refused += [qualified(group, kind) for kind in KINDS[group]]
            continue
        objects += found.objects
        # Kinds of two groups have the same name.
        complete += [qualified(group, kind) for kind in found.complete]
        refused += [qualified(group, each.kind) for each in found.unread]
    return gang_objects(objects, complete, refused)
