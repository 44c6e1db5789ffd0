"""How many pods of a shape fit, as people read it."""
