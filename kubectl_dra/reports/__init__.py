"""Reports: one frozen record per view, made by pure functions of Inventory, Evidence and options.

The only place where evidence becomes ``=``, ``>=``, ``<=`` or ``?``. No terminals, no HTTP, no sentences.
"""
