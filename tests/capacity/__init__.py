"""Capacity, moves and drains on random clusters: against brute force, and against the real scheduler."""
