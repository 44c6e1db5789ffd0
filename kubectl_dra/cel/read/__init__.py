"""What expressions look at, and what became of their parts."""
