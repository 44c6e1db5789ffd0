"""The command ``capacity``."""
