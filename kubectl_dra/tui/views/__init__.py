"""The views: one module per screen. Each shows records of ``topics`` and says what can be opened from there."""
