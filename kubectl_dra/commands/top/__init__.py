"""The command ``top``."""
