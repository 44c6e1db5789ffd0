"""What a search works on: slices gathered to pools, what is allocated already, nodes, taints."""
