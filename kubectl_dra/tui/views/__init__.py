"""The views: one module per screen. Each shows records of ``queries`` and says what can be opened from there."""
