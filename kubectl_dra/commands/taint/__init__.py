"""The command ``taint-device``."""
