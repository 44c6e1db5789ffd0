"""From one attempt of the scheduler to causes: node by node, and over all nodes."""
