"""The version of kubectl-dra, named in one place."""

__version__ = "0.1.0"
