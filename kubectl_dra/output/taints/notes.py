"""What the version of a server means for rules: said beside the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kubectl_dra.model.features import Features
from kubectl_dra.output.safe import Safe, fmt

# The first minor version whose rules have effect None and a status.
EFFECT_NONE_SINCE: Final = 35


def has_effect_none(api_version: str, server_version: tuple[int, int] | None) -> bool:
    """Whether the server knows effect None and the status of rules; an unknown v1alpha3 is taken to be an old one."""
    if server_version is None:
        return not api_version.endswith("/v1alpha3")
    return server_version >= (1, EFFECT_NONE_SINCE)


def version_notes(api_version: str, server_version: tuple[int, int] | None, features: Features) -> Iterator[Safe]:
    """What old versions can't express, and a gate that is off unless somebody switched it on."""
    if not has_effect_none(api_version, server_version):
        yield fmt(
            "{} of this server has neither effect None nor a status: what the controller does can't be read from "
            "the rule, only from the pods.",
            api_version,
        )
    if server_version is not None and not features.device_taint_rules:
        yield fmt(
            "In Kubernetes 1.{} rules count only where the feature gate DRADeviceTaintRules (DRADeviceTaints up to "
            "1.34) was switched on in kube-scheduler and kube-controller-manager.",
            features.minor,
        )
