"""Device selectors on real devices: the one evaluator and the one rewriter.

Only this package imports the programs of ``cel``. ``compiling`` has the verdicts before any device, ``evaluate`` what
selectors say of a device, ``trial`` and ``rewrite`` corrections that were tried, ``completion`` what may come next.
"""
