"""The command ``get``."""
