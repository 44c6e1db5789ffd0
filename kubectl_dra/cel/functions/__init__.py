"""The function library of the DRA CEL environment: one module per library, each a table from overload id to implementation."""
