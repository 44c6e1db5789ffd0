"""PodGroups: the list, one of them, and why one waits."""
