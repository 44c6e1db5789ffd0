"""Pools, devices, classes and nodes: what is published, what is free, who holds it."""
