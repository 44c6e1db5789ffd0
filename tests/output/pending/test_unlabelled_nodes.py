"""Nodes with free devices that lack the label over which a pod has to be spread."""

from __future__ import annotations

import shlex
from typing import Any

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.remedies.records import LabelNode
from kubectl_dra.output.pending.remedies import command_lines, remedy_text
from kubectl_dra.reports.pending.pending import PendingReport
from kubectl_dra.reports.pending.remedies import RemedyReport
from tests.kit import build
from tests.output.pending.test_situations import first_line, report_of

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def spread(key: str = ZONE) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "rank"}}
    constraint = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    pod = build.pod(claims=["claim"], topologySpreadConstraints=[constraint])
    pod["metadata"]["labels"] = {"app": "rank"}
    return pod


def running(name: str, node: str) -> dict[str, Any]:
    pod = build.pod(name, node_name=node, phase="Running")
    pod["metadata"]["labels"] = {"app": "rank"}
    return pod


def found(*pods: dict[str, Any], key: str = ZONE, zones: tuple[str, ...] = ("a", "b")) -> PendingReport:
    """Nodes in zones without free devices, and node-new with one and without a zone."""
    old = [build.node(f"node-{zone}", labels={ZONE: zone, HOST: f"node-{zone}"}) for zone in zones]
    new = build.slice_("node-new", build.device("gpu-0"))
    return report_of(spread(key), build.claim(), build.node("node-new"), new, *old, *pods)


def labelling(report: PendingReport) -> RemedyReport | None:
    return next((way for way in report.remedies if isinstance(way.actions[0], LabelNode)), None)


def test_the_zone_with_which_the_pod_fits_is_told() -> None:
    """In zone a there are two pods already, and one in b: one more in a would be too uneven."""
    pods = [running("rank-0", "node-a"), running("rank-1", "node-a"), running("rank-2", "node-b")]
    report = found(*pods)
    assert report.code is Code.SPREAD
    assert f"node-new has the device but lacks the label {ZONE} of its spread constraint" in first_line(report)
    way = labelling(report)
    assert way is not None
    assert (way.verified, way.nodes, way.actions[0]) == (True, ("node-new",), LabelNode("node-new", ZONE, "b"))
    assert str(remedy_text(way)) == f"label node node-new with its {ZONE}; the pod fits if that is b"
    (line,) = command_lines(way)
    assert shlex.split(str(line))[:4] == ["kubectl", "label", "node/node-new", f"{ZONE}=b"]


def test_of_the_name_of_the_host_the_value_is_known() -> None:
    way = labelling(found(key=HOST))
    assert way is not None
    assert way.actions[0] == LabelNode("node-new", HOST, "node-new")
    assert str(remedy_text(way)) == f"label node node-new with {HOST}=node-new"


def test_no_value_is_made_up() -> None:
    """No other node has the label, so that nobody knows what zones there are."""
    assert labelling(found(zones=())) is None


def test_a_value_that_says_something_to_a_shell_is_quoted() -> None:
    way = labelling(found(running("rank-0", "node-a"), zones=("a", "$(id)")))
    assert way is not None
    (line,) = command_lines(way)
    assert f"'{ZONE}=$(id)'" in str(line)
