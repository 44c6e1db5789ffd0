"""Hooks of Helm and Argo CD: objects of a chart or application that are not created together with the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: The annotation, whose hooks these are, those that have ended before the rest is there, or start when it is gone, and
#: those that run beside it from its creation on. Upstream: helm.sh/docs/topics/charts_hooks, and Argo CD's sync waves.
_HOOKS: Final = (
    (
        "helm.sh/hook",
        "Helm",
        frozenset({"crd-install", "pre-install", "pre-upgrade", "post-delete"}),
        frozenset({"post-install", "post-upgrade", "post-rollback"}),
    ),
    ("argocd.argoproj.io/hook", "Argo CD", frozenset({"PreSync", "PostDelete"}), frozenset({"Sync", "PostSync"})),
)


def hook_of(annotations: Mapping[str, str]) -> tuple[str, bool]:
    """``Helm test`` of what is not created with the rest, empty for all else; whether the rest is not there then."""
    for annotation, program, apart, beside in _HOOKS:
        named = [each.strip() for each in annotations.get(annotation, "").split(",") if each.strip()]
        if named and beside.isdisjoint(named):
            return f"{program} {', '.join(named)}", apart.issuperset(named)
    return "", False
