"""Why a pod or a claim hangs: gates, claims, node filters, one simulated attempt, the scheduler's words, verdicts.

Typed records only; sentences for people are written in ``output``.
"""
