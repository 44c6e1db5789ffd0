"""The command ``simulate``."""
