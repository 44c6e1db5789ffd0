"""The autoscalers of a live cluster, read when advice is about the number of a workload's pods."""

from __future__ import annotations

import dataclasses
from typing import Final

from kubectl_dra.api.decode import DecodeError, decode_object
from kubectl_dra.api.kinds import AUTOSCALER
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import source_spec
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.model.admission import HorizontalPodAutoscaler
from kubectl_dra.model.evidence import Coverage, Read
from kubectl_dra.model.inventory import key_of
from kubectl_dra.source.errors import ClusterError

_READ: Final = {AUTOSCALER.group: {AUTOSCALER.plural: AUTOSCALER.name}}


def with_autoscalers(options: Options, state: ClusterState, namespace: str) -> ClusterState:
    """The state with the autoscalers of one namespace, as far as they may be read: they only explain."""
    if options.from_ is not None or state.evidence.complete(AUTOSCALER.name, namespace):
        return state
    from kubectl_dra.source.live.foreign import read_foreign  # the kubernetes package is heavy

    try:
        found = read_foreign(source_spec(options).connection, _READ, {AUTOSCALER.plural: namespace})
        records = [decode_object(each.data, each.api_version, AUTOSCALER) for each in found.objects]
    except (ClusterError, DecodeError):
        # What is known of the devices is answered without it.
        return state
    scalers = {key_of(each.metadata): each for each in records if isinstance(each, HorizontalPodAutoscaler)}
    if found.unread:
        return state
    reads = (*state.evidence.reads, Read(AUTOSCALER.name, namespace, Coverage.COMPLETE, time=state.as_of))
    known = dataclasses.replace(state, evidence=dataclasses.replace(state.evidence, reads=reads))
    return known.changed(state.inventory.replace(autoscalers=scalers))
