"""Random whole clusters: what becomes of each pending pod is what the real scheduler says, word for word.

Another commit asks about other clusters. By hand, more of them: ``DIFFERENTIAL_CLUSTERS=20000 make differential
ARGS=tests/differential/test_whole_clusters.py``; ``DIFFERENTIAL_SEED`` asks about the clusters of a failure again.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.differential.whole.compare import Comparison
from tests.differential.whole.features import ANSWERS, BRANCHES, RARE
from tests.oracle.scheduler_oracle import Oracle

pytestmark = pytest.mark.go
#: Enough for every feature, and about a minute.
USUAL: Final = 1000
CLUSTERS: Final = int(os.environ.get("DIFFERENTIAL_CLUSTERS", USUAL))
#: The real code lists errors in the order of its maps; such answers are left out, and must stay rare.
UNSTABLE: Final = 0.01


def seed_of_commit() -> str:
    """What chance begins with: another one for each commit."""
    if given := os.environ.get("DIFFERENTIAL_SEED"):
        return given
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, encoding="utf-8", check=False)
    return done.stdout.strip() or "no-commit"


@pytest.fixture(scope="module")
def compared() -> Comparison:
    seed = seed_of_commit()
    with Oracle("admit") as admit, Oracle("schedule") as schedule:
        comparison = Comparison(admit, schedule)
        for number in range(CLUSTERS):
            comparison.add(f"{seed}-{number}")
            if len(comparison.differences) >= 5:
                break
        return comparison


def test_ours_says_what_the_real_scheduler_says(compared: Comparison) -> None:
    assert not compared.differences, "\n\n".join(compared.differences)
    assert compared.pods > 2 * CLUSTERS
    assert compared.unstable <= 1 + UNSTABLE * CLUSTERS


@pytest.mark.skipif(CLUSTERS < USUAL, reason="too few clusters for everything rare")
def test_every_feature_occurs(compared: Comparison) -> None:
    assert {*BRANCHES, *ANSWERS} - compared.seen.keys() == set()
    assert compared.seen.keys() - {*BRANCHES, *ANSWERS, *RARE} == set()
