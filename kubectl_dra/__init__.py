"""kubectl-dra: explains Kubernetes Dynamic Resource Allocation."""
