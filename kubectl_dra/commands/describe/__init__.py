"""The commands ``describe-…``."""
