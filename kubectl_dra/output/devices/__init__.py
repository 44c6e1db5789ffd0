"""Pools, devices and claims as pages and tables: the words for the records of ``reports``."""
