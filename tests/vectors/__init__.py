"""Recorded answers of the real code, and how to read them."""
