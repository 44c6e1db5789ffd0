"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long one example takes says nothing on a busy machine; benchmarks measure.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")
