"""The words of ``simulate``."""
