"""What the scheduler, kubelets and others have written about a pod, and what still holds of it."""
