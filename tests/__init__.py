"""Tests and what they run against; a package, so that folders can share helpers by `from tests.…`."""
