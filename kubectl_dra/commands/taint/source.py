"""Where taint-device reads and writes: a live cluster over one session, or a file for plans that are only shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kubectl_dra.api.kinds import BY_NAME, DEVICE_TAINT_RULE
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import features_of, gates_of, source_spec
from kubectl_dra.commands.shared.errors import CommandError
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.unread import way_to
from kubectl_dra.diagnosis.records import Missing
from kubectl_dra.model.evidence import Coverage, Evidence
from kubectl_dra.model.taint_plan import PlanTarget
from kubectl_dra.output.safe import fmt, plain
from kubectl_dra.output.unread import lacking_lines
from kubectl_dra.output.words import listed
from kubectl_dra.reports.taints.taint_plan import KINDS
from kubectl_dra.reports.unread import missing_rights
from kubectl_dra.source import load

if TYPE_CHECKING:
    from kubectl_dra.source.live import Session

# The first minor version whose best version of DeviceTaintRule is this one.
_SINCE: Final = (("v1", 37), ("v1beta2", 36), ("v1alpha3", 33))


@dataclass(frozen=True)
class TaintSource:
    """``session`` for a live cluster, ``snapshot`` for a file; ``api_version`` is the best one of DeviceTaintRule."""

    options: Options
    api_version: str
    target: PlanTarget
    session: Session | None = None
    snapshot: ClusterState | None = None

    def state(self) -> ClusterState:
        """The cluster as it is now. Raises ``SourceError``, and CommandError where a right is missing."""
        if self.session is None:
            assert self.snapshot is not None  # noqa: S101 - it is one or the other
            return self.snapshot
        from kubectl_dra.source.live import Needs
        from kubectl_dra.source.live.read import read

        inventory, evidence = read(self.session, Needs(frozenset(KINDS)))
        _check_rights(evidence)
        return ClusterState(
            inventory, evidence, features_of(inventory, evidence, gates_of(self.options)), self.options.clock
        )

    @property
    def live(self) -> Session:
        assert self.session is not None  # noqa: S101 - files are refused before anything is written
        return self.session


@contextmanager
def open_source(options: Options) -> Iterator[TaintSource]:
    """The source that the options name. Raises ``SourceError`` or CommandError."""
    if options.from_ is not None:
        yield _from_file(options)
        return
    from kubectl_dra.source.live import open_session

    with closing(open_session(source_spec(options).connection)) as session:
        yield _from_session(options, session)


def _from_file(options: Options) -> TaintSource:
    inventory, evidence = load(source_spec(options, KINDS))
    features = features_of(inventory, evidence, gates_of(options))
    return source_of_facts(options, ClusterState(inventory, evidence, features, options.clock))


def source_of_facts(options: Options, state: ClusterState) -> TaintSource:
    """The source for plans that are only shown."""
    minor = state.features.minor
    version = next((version for version, since in _SINCE if minor >= since), "v1alpha3")
    return TaintSource(options, DEVICE_TAINT_RULE.api_version_of(version), PlanTarget(), snapshot=state)


def _from_session(options: Options, session: Session) -> TaintSource:
    from kubectl_dra.source.live.discovery import discover
    from kubectl_dra.source.live.write import plan_target

    served = discover(session, [DEVICE_TAINT_RULE])
    version = served.api_versions.get(DEVICE_TAINT_RULE.name)
    if version is None:
        running = f" ({served.git_version})" if served.git_version else ""
        hint = "needs Kubernetes 1.33 or later, with the API and the feature gate DRADeviceTaintRules switched on"
        raise CommandError(f"{session.server}{running} does not serve DeviceTaintRules", hint)
    return TaintSource(options, version, plan_target(session, source_spec(options).connection), session)


def _check_rights(evidence: Evidence) -> None:
    """A plan that may overlook a pod is no plan; the error says what would permit one."""
    unread = unreadable(missing_rights(evidence, KINDS))
    if not unread:
        return
    names = plain(listed([BY_NAME[each.kind].resource for each in unread]))
    what = f"{names} can't be listed in the whole cluster, so the pods that a taint affects are unknown"
    details = [fmt("  {}", note) for note in evidence.notes]
    raise CommandError(what, way_to(unread[0]), details=[*details, *lacking_lines(unread, evidence.address)])


def unreadable(missing: Sequence[Missing]) -> tuple[Missing, ...]:
    return tuple(item for item in missing if item.coverage in (Coverage.FORBIDDEN, Coverage.FAILED, Coverage.NOT_READ))
