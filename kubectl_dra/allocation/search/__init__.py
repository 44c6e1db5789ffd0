"""The search for an allocation on one node, and on many nodes that are alike."""
