"""The records of a lint: findings with their rule and place, and the table of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from kubectl_dra.diagnosis.records import Missing, ObjectRef
from kubectl_dra.model.base import ReportRecord


class Severity(StrEnum):
    """How bad a finding is: an error is what a server refuses or drops, or what can never work."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(StrEnum):
    """What a finding is an instance of; the words beside it may change."""

    UNREADABLE = "unreadable"
    NOT_KUBERNETES = "not-kubernetes"
    PATCH = "kustomize-patch"
    NO_API_VERSION = "no-api-version"
    UNKNOWN_FIELD = "unknown-field"
    OTHER_GENERATION = "other-generation"
    NO_SUCH_VERSION = "no-such-version"
    REFUSED = "refused"
    SELECTOR = "selector"
    ERROR_ON_DEVICE = "selector-error-on-device"
    NOT_PUBLISHED = "attribute-not-published"
    NO_DEVICE = "selector-matches-no-device"
    OTHER_NAMESPACE = "other-namespace"
    NOT_FOUND = "name-not-found"
    UNUSED_CLAIM = "claim-without-container"
    NO_REQUEST = "request-not-in-claim"
    TWICE = "requested-twice"
    NODE_NAME = "node-name"
    SHARED_CLAIM = "shared-claim"
    POOL = "pool-never-used"
    TAINT_RULE = "taint-rule-on-no-device"
    OLD_VERSION = "old-version"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule for people: one line, and what to do about it."""

    severity: Severity
    title: str
    help: str


def _error(title: str, help_: str) -> RuleText:
    return RuleText(Severity.ERROR, title, help_)


def _warning(title: str, help_: str) -> RuleText:
    return RuleText(Severity.WARNING, title, help_)


RULES: Final[Mapping[Rule, RuleText]] = MappingProxyType(
    {
        Rule.UNREADABLE: _error(
            "The document can't be read",
            "Correct the syntax at the place that is named; for a chart, lint the output of helm template.",
        ),
        Rule.NOT_KUBERNETES: RuleText(
            Severity.NOTE, "The document is not a Kubernetes object", "Leave such files out, or name single files."
        ),
        Rule.PATCH: RuleText(
            Severity.NOTE,
            "The file is a patch of a kustomization",
            "It is not an object by itself: kubectl dra lint -k DIR checks what it becomes.",
        ),
        Rule.NO_API_VERSION: _error("The object has no apiVersion", "Add the apiVersion; kubectl refuses the file."),
        Rule.UNKNOWN_FIELD: _error(
            "No server has the field",
            "kubectl apply refuses it, other clients silently drop it: correct the name.",
        ),
        Rule.OTHER_GENERATION: _error(
            "The field is of another version of the API", "kubectl dra convert -f FILE writes the corrected manifest."
        ),
        Rule.NO_SUCH_VERSION: _error(
            "The kind does not exist in this apiVersion",
            "Name a version that has it; for resource.k8s.io kubectl dra convert -f FILE does.",
        ),
        Rule.REFUSED: _error("The API server refuses the object", "Correct the field that is named."),
        Rule.SELECTOR: _error(
            "The selector does not compile, or costs too much", "kubectl dra test-selector EXPR shows where."
        ),
        Rule.ERROR_ON_DEVICE: _error(
            "The selector raises an error on a device", "An error stops scheduling on every node: guard the attribute."
        ),
        Rule.NOT_PUBLISHED: _warning(
            "No device publishes the attribute", "kubectl dra get devices -o wide shows what drivers publish."
        ),
        Rule.NO_DEVICE: _warning(
            "The selector matches none of the given devices", "kubectl dra test-selector -f FILE shows which part."
        ),
        Rule.OTHER_NAMESPACE: _error(
            "The claim or template is in another namespace",
            "Pods only use claims and templates of their own namespace.",
        ),
        Rule.NOT_FOUND: _warning(
            "A name is not among the files", "Correct the name, or make sure that the cluster has the object."
        ),
        Rule.NODE_NAME: _error(
            "The pod names its node, so that nothing allocates devices for it",
            "spec.nodeName bypasses the scheduler; write nodeSelector with kubernetes.io/hostname instead.",
        ),
        Rule.UNUSED_CLAIM: _warning(
            "No container uses the claim",
            "Name it under resources.claims of a container; without that, no container sees the device. "
            "Drivers that serve the whole pod, as for networks, may not need it.",
        ),
        Rule.NO_REQUEST: _warning(
            "A container names a request that the claim does not have",
            "Write a request of the claim, or leave it out for all of them; the container sees no device otherwise.",
        ),
        Rule.TWICE: _warning(
            "A container requests devices of a class by a claim and by an extended resource",
            "Each of the two gets devices of its own: drop the extended resource if the same one is meant.",
        ),
        Rule.SHARED_CLAIM: _warning(
            "Pods that can't all be where the devices of their claim are share it",
            "Name a ResourceClaimTemplate instead (resourceClaimTemplateName), so that each pod gets its own claim. "
            "Devices that their driver publishes for several nodes may be shared so.",
        ),
        Rule.POOL: _warning(
            "Devices of the pool can never be allocated",
            "A pool is used once all of its slices are published, each device and counter set once, and every counter "
            "that a device uses is there with at least so much.",
        ),
        Rule.TAINT_RULE: _warning(
            "The DeviceTaintRule is on none of the devices of the files",
            "Its deviceSelector names a driver or pool that no ResourceSlice of the files has, and one has almost that "
            "name. With effect NoExecute the corrected rule evicts pods at once: kubectl dra taint-device shows whom.",
        ),
        Rule.OLD_VERSION: _warning(
            "The version is old",
            "kubectl dra convert -f FILE writes resource.k8s.io/v1, served since Kubernetes 1.34; DeviceTaintRules "
            "since 1.37.",
        ),
        Rule.DUPLICATE: _warning("The object occurs twice", "The last one counts when both are applied: remove one."),
    }
)


class Instead(ReportRecord, frozen=True):
    """A corrected ``expression``, which compiles and raises no error: so many of the ``devices`` match."""

    expression: str
    matching: int
    devices: int


class LintFinding(ReportRecord, frozen=True):
    """One finding. ``line`` and ``column`` count from 1; 0: not known. ``path`` is the field, empty for the object.

    ``corrected``: convert writes the manifest without it. ``object`` None: the document is none. ``instead``: the
    selector as it is probably meant.
    """

    code: Rule
    severity: Severity
    message: str
    file: str
    line: int
    column: int
    object: ObjectRef | None
    path: str
    corrected: bool = False
    instead: Instead | None = None


class LintReport(ReportRecord, frozen=True):
    """All findings by file and line; ``devices`` is the number of devices that selectors were tried on.

    ``missing``: what could not be read of the recorded cluster, so that there may be more findings.
    """

    findings: tuple[LintFinding, ...]
    files: int
    objects: int
    errors: int
    warnings: int
    devices: int
    missing: tuple[Missing, ...] = ()
