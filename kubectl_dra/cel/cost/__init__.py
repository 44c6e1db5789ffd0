"""What calls cost, as admission estimates it and as evaluations are charged, and the estimate of a whole tree."""
