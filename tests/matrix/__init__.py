"""The core cases on real control planes of older releases, each in its own generation's words (``make e2e-matrix``).

Cases are data in ``cases/<minor>.yaml``; ``python -m tests.matrix.record`` writes what they bring about into
``tests/generations/recorded``, for tests that need no server.
"""
