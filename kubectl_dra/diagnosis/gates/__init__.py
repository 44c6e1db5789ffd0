"""What keeps a pod from the scheduler: gates, quotas, queues, controllers that make no pods."""
