"""Settings of all tests."""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

# How long one example takes says nothing on a busy machine; benchmarks measure.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


def pytest_collection_finish() -> None:
    """Recorded rows and the tests themselves stay to the end: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()
