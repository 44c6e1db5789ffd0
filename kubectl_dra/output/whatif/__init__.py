"""What is supposed of the cluster, and where pods that have to leave their nodes go."""
