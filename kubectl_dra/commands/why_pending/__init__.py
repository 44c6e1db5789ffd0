"""The command ``why-pending``."""
