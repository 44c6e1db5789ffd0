"""Would a fresh node of an autoscaler's group take a pod, and what the autoscaler can't see of it."""
