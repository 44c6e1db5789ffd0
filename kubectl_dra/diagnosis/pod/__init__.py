"""The diagnosis of a pod from its first gate to its node, and of pods that do not exist yet."""
