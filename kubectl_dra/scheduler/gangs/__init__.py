"""How kube-scheduler places a PodGroup: all of its pods in one cycle, each beside those placed before it.

Upstream: schedule_one_podgroup.go, plugins/gangscheduling, plugins/topologyaware, framework/preemption (podgroup).
"""
