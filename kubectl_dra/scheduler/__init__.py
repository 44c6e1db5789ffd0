"""What kube-scheduler does with a pod: queue gates, the plugins of the default profile, preemption, scores, messages.

One attempt on a :class:`~kubectl_dra.scheduler.snapshot.Snapshot`; the plugins are in ``plugins``, one file each and
named as upstream.
"""
