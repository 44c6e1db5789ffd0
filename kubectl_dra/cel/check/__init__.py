"""What can be said of an expression before it is evaluated: types, environments, refusals."""
