"""The function library of the DRA CEL environment: one module per library, each a table by overload id."""
