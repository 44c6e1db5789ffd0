"""Situations recorded from real control planes of older releases (see tests/matrix)."""
