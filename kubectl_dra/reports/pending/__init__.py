"""Why pods, claims and workloads wait, and the ways out with their commands."""
