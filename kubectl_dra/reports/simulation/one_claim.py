"""What one new claim with a selector would get now: its devices and their node, or why there is none."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.diagnosis.pod.placing import place
from kubectl_dra.model.held import devices_of
from kubectl_dra.model.ids import DeviceId, Key
from kubectl_dra.reports.admitted import admitted
from kubectl_dra.reports.simulation.existing import new_namespaces, with_namespaces, with_objects
from kubectl_dra.reports.simulation.pods import Copies, batch
from kubectl_dra.reports.simulation.records import SimulationReport
from kubectl_dra.reports.simulation.report import simulation_report
from kubectl_dra.reports.simulation.trials import trials

_NAME = "claim-with-this-selector"


@dataclass(frozen=True, slots=True)
class ClaimTrial:
    """The simulation of the claim with a bare pod; where that fits, the ``devices`` it gets and the pod's ``node``."""

    simulation: SimulationReport
    node: str = ""
    devices: tuple[DeviceId, ...] = ()


def try_claim(cluster: ClusterState, device_class: str, expression: str, namespace: str) -> ClaimTrial:
    """A claim for one device of a class that ``expression`` matches, with a pod that asks for nothing else."""
    exactly = {"deviceClassName": device_class, "selectors": [{"cel": {"expression": expression}}]}
    document = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": _free_name(cluster, namespace), "namespace": namespace},
        "spec": {"devices": {"requests": [{"name": "device", "exactly": exactly}]}},
    }
    objects = read_all([Source(json.dumps(document).encode())], namespace)
    report = simulation_report(cluster, objects, Copies())
    if not report.pods or not report.pods[0].nodes:
        return ClaimTrial(report)
    state = with_objects(with_namespaces(cluster, objects, new_namespaces(cluster, objects)), objects)
    made = batch(state, trials(state, admitted(state, objects), [], together=False)[0], Copies())
    claim = place(made.state, made.pods).state.inventory.claims.get(objects[0].key)
    return ClaimTrial(report, report.pods[0].nodes[0].node, devices_of(claim) if claim is not None else ())


def _free_name(cluster: ClusterState, namespace: str) -> str:
    taken = cluster.inventory.claims
    return next(
        name
        for name in (_NAME, *(f"{_NAME}-{number}" for number in range(len(taken) + 1)))
        if Key(namespace, name) not in taken
    )
