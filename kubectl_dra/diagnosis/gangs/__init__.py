"""Why a PodGroup waits, and each of its pods: the scheduler's cycle of the group (``scheduler/gangs``) explained."""
