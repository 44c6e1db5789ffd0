"""Facts: the API objects in their v1 shape, quantities, versions, the Inventory and how complete it is.

No I/O, no decisions, no wording for people. Everything above imports from here; this package imports nothing of ours.
"""
