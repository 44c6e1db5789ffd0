"""The command ``lint``."""
