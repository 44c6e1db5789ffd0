"""Every case of the corpus has the verdict that was reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kubectl_dra.api.lint import Mistake
from tests.corpus.__main__ import main
from tests.corpus.case import Case, Confirmed
from tests.corpus.cases import CASES
from tests.corpus.run import report_of
from tests.corpus.shapes import CLUSTERS

PROJECTS = {
    "dra-driver-nvidia-gpu",
    "dranet",
    "dra-example-driver",
    "intel-resource-drivers",
    "dra-driver-sriov",
    "k8s-gpu-dra-driver",
    "HAMi k8s-dra-driver",
    "dra-driver-cpu",
    "kueue",
    "kubernetes",
    "website",
    "karpenter",
    "workloads",
    "mistakes",
}

#: How docs/development/corpus.md calls them, in the order of Confirmed.
_WHO = ("the real scheduler", "the real API server", "a person")


def test_it_is_large_and_covers_the_projects_and_clusters() -> None:
    assert len(CASES) >= 120
    assert {case.project for case in CASES} == PROJECTS
    assert {case.cluster for case in CASES} == CLUSTERS.keys()
    assert sum(case.confirmed is Confirmed.HAND for case in CASES) < 10


def test_the_guide_counts_them() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "development" / "corpus.md").read_text(encoding="utf-8")
    numbers = [sum(case.confirmed is who for case in CASES) for who in Confirmed]
    rows = [f"| {who} | {number} |" for who, number in zip(_WHO, numbers, strict=True)]
    assert [text for text in (f"has {len(CASES)} cases", *rows) if text not in guide] == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Case) -> None:
    report = report_of(case)
    refused = {
        each.object.name
        for each in report.manifests
        # Strict validation refuses misplaced fields, too, which are corrected to tell what would be then.
        if each.refused or each.error or any(not f.corrected or f.code is Mistake.MISPLACED for f in each.findings)
    }
    told = [each.pending and each.pending.message for each in report.pods]
    assert refused == set(case.refused), report.manifests
    # Of pods that are refused themselves it is told what would be if they were not.
    pods = report.pods or report.then
    assert (str(report.fits), tuple(pod.copies for pod in pods)) == (case.fits, case.copies), told


def test_a_checkout_is_judged_and_changes_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    case = next(case for case in CASES if case.name == "dra-example-driver: one GPU on example")
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "one.yaml").write_text(yaml.safe_dump_all(case.objects), encoding="utf-8")
    (folder / "README.md").write_text("resource.k8s.io", encoding="utf-8")
    (folder / "broken.yaml").write_text("a: [ # resource.k8s.io\n", encoding="utf-8")
    verdicts = ["--verdicts", str(tmp_path / "verdicts.json")]
    assert main([str(folder), *verdicts, "--write"]) == 0
    assert "2 files: 1 Yes, 0 No, 0 Unknown, 1 unread; 0 to look at" in capfd.readouterr().out
    assert main([str(folder), *verdicts]) == 0
    (folder / "one.yaml").write_text(yaml.safe_dump_all(case.objects[1:]), encoding="utf-8")
    capfd.readouterr()
    assert main([str(folder), *verdicts]) == 1
    assert "one.yaml: CHANGED" in capfd.readouterr().out
