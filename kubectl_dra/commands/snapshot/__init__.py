"""The command ``snapshot``."""
