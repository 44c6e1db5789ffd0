"""The command ``tui``."""
