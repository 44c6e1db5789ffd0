"""What each device has to pass: selectors and requests, capacity, counters, constraints, groups."""
