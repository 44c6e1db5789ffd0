"""The scheduler refused a pod that fits now: what was read tells whether anything changed since, but for deletions."""

from __future__ import annotations

from kubectl_dra.diagnosis.codes import Code
from tests.kit import build
from tests.output.pending.test_situations import POD, page_of, refused, report_of, version

WORDS = "0/1 nodes are available: 1 cannot allocate all claims."
REFUSED = version(refused(POD, WORDS), 100)
FREE = build.slice_("node-1", build.device("gpu-0"))


def test_a_slice_that_is_newer_is_a_change() -> None:
    report = report_of(build.node(), version(FREE, 120), REFUSED, build.claim("claim"))
    assert report.code is Code.FITS_NOW
    assert "outdated: the cluster has changed since" in page_of(report)


def test_where_nothing_is_newer_only_a_deletion_explains_it() -> None:
    report = report_of(build.node(), FREE, REFUSED, build.claim("claim"))
    assert report.code is Code.FITS_NOW
    page = page_of(report)
    assert "the cluster has changed since" not in page
    assert "outdated if something was deleted since: nothing else that was read has changed" in page
