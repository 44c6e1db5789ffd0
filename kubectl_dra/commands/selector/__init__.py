"""The command ``test-selector``."""
