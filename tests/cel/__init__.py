"""Tests of the CEL engine."""
