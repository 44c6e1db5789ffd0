"""The terminal UI: the same reports as the commands, on screens. It shows records and computes nothing itself.

``start.run`` is the way in; ``commands.tui`` imports it only when it is called.
"""
