"""How many pods of a shape the cluster has room for, in all and on each node."""
