"""What a file is that holds no object of a cluster, and what to do about it."""

from __future__ import annotations

import os
import re
import shlex
from typing import Final

from kubectl_dra.source.errors import ManifestError

#: What a document is that says nothing of what it is.
FOREIGN: Final = "it has neither apiVersion nor kind"
#: The names under which kustomize looks for a kustomization.
KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
#: Begins the name of what kustomize has made of a folder.
BUILT: Final = "kustomization "
OBJECT: Final = "kubectl get NAME -o yaml shows what one looks like"
_VALUES: Final = "values of a chart are not objects: helm template CHART -f VALUES | kubectl dra … -f -"
_VALUES_FILE: Final = re.compile(r"(?:^|[/\\])(?:[\w.-]*values[\w.-]*|Chart)\.ya?ml$")


def no_object(file: str, place: str, line: int, problem: str) -> ManifestError:
    """The error for a file that is not an object; kustomizations and values of charts are the most frequent ones."""
    foreign = problem.endswith(FOREIGN)
    what, hint = f"is not a Kubernetes object: {problem}", _VALUES if _VALUES_FILE.search(file) else OBJECT
    if foreign and os.path.basename(file) in KUSTOMIZATIONS:
        place, what = file, "a kustomization, not an object of a cluster; what it changes was not tried"
        hint = f"kubectl dra … -k {shlex.quote(os.path.dirname(file) or '.')}"
    return ManifestError(f"{place}: {what}", hint, file=file, line=line, problem=what, foreign=foreign)
