"""Kinds and the words that name them."""

from __future__ import annotations

import pytest

from kubectl_dra.api.kinds import BY_NAME, KINDS, WORKLOADS, find_kind, kind_for_word


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("pod", "Pod"),
        ("pods", "Pod"),
        ("po", "Pod"),
        ("PODS", "Pod"),
        ("claim", "ResourceClaim"),
        ("resourceclaims.resource.k8s.io", "ResourceClaim"),
        ("resourceclaims.v1beta1.resource.k8s.io", "ResourceClaim"),
        ("resourceslice", "ResourceSlice"),
        ("devicetaintrules", "DeviceTaintRule"),
        ("deploy", "Deployment"),
        ("deployments.apps", "Deployment"),
        ("deployments.v1.apps", "Deployment"),
        ("rs", "ReplicaSet"),
        ("sts", "StatefulSet"),
        ("ds", "DaemonSet"),
        ("jobs", "Job"),
        ("cj", "CronJob"),
        ("rc", "ReplicationController"),
        ("no", "Node"),
        ("ns", "Namespace"),
        ("quota", "ResourceQuota"),
    ],
)
def test_words_name_kinds(word: str, kind: str) -> None:
    assert kind_for_word(word) is BY_NAME[kind]


@pytest.mark.parametrize(
    "word", ["", "podx", "pods.apps", "deployments.batch", "pods.", "trainer-0", "deployments.v2.apps"]
)
def test_other_words_name_none(word: str) -> None:
    assert kind_for_word(word) is None


def test_no_word_is_ambiguous() -> None:
    names = [word for kind in KINDS for word in {kind.plural, kind.singular, *kind.short_names}]
    assert len(names) == len(set(names))


def test_kinds_are_found_in_every_version_but_only_in_their_group() -> None:
    for kind in KINDS:
        for version in kind.versions:
            assert find_kind(kind.api_version_of(version), kind.name) is kind
        assert find_kind("other.example.com/v1", kind.name) is None
    assert find_kind("events.k8s.io/v1", "Event") is BY_NAME["Event"]
    assert find_kind("events.k8s.io/v1", "Pod") is None


def test_names_for_rights_and_requests() -> None:
    assert BY_NAME["ResourceClaim"].resource == "resourceclaims.resource.k8s.io"
    assert BY_NAME["ResourceClaim"].api_version == "resource.k8s.io/v1"
    assert BY_NAME["Pod"].resource == "pods"
    assert all(kind.workload and kind.namespaced for kind in WORKLOADS)
