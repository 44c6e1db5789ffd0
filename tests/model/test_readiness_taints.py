"""Taints that say that a node is not ready, and those that say something else."""

from __future__ import annotations

import pytest

from kubectl_dra.diagnosis.records.nodes import tells_of_node
from kubectl_dra.model.taint_text import remover_of


@pytest.mark.parametrize(
    ("taint", "name"),
    [
        ("node.kubernetes.io/not-ready:NoExecute", "the node controller"),
        ("node.kubernetes.io/disk-pressure:NoSchedule", "the node controller"),
        ("node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule", "the cloud controller manager"),
        ("node.cilium.io/agent-not-ready=true:NoExecute", "Cilium's agent"),
        ("ebs.csi.aws.com/agent-not-ready:NoExecute", "the EBS CSI driver"),
        ("karpenter.sh/unregistered:NoExecute", "Karpenter"),
        ("readiness.k8s.io/network:NoSchedule", "the node readiness controller"),
        ("node.example.org/agent-not-ready:NoSchedule", "the agent of node.example.org"),
    ],
)
def test_who_removes_a_taint_of_a_node_that_is_not_ready(taint: str, name: str) -> None:
    found = remover_of(taint.partition(":")[0].partition("=")[0])
    assert found is not None
    assert found.name == name
    assert tells_of_node(taint)


@pytest.mark.parametrize("taint", ["nvidia.com/gpu=present:NoSchedule", "dedicated:NoSchedule", "not-ready:NoSchedule"])
def test_other_taints_are_for_pods_to_tolerate(taint: str) -> None:
    assert not tells_of_node(taint)
