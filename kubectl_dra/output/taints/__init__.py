"""What taint-device says: plans, hits, lists, and what became of writes."""
