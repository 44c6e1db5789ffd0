"""Evaluation: a checked tree becomes closures over values, with exact run-time costs."""
