"""The stable codes of reasons, each with its one-line meaning; every code has a page in ``docs/reasons``.

1xx nothing is tried, 2xx no devices, 3xx the attempt is aborted, 4xx nodes, 5xx binding, 6xx on the node, 7xx claims,
8xx evidence, 9xx it would fit. A code is never given another meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Code(StrEnum):
    """A reason; the value is what reports print."""

    SCHEDULING_GATES = "DRA-100"
    CLAIM_MISSING = "DRA-110"
    CLAIM_NOT_CREATED = "DRA-111"
    TEMPLATE_MISSING = "DRA-112"
    CLAIM_CREATION_FAILED = "DRA-113"
    QUOTA_EXCEEDED = "DRA-114"
    ADMIN_LABEL_MISSING = "DRA-115"
    CLAIM_BEING_DELETED = "DRA-120"
    CLAIM_NOT_OWNED = "DRA-130"
    CLAIM_SOURCE_UNKNOWN = "DRA-140"
    OTHER_SCHEDULER = "DRA-150"
    POD_GROUP = "DRA-160"

    CLASS_MISSING = "DRA-200"
    NO_DEVICE_IN_CLASS = "DRA-201"
    EXTENDED_RESOURCE_UNSERVED = "DRA-202"
    SELECTOR_MATCHES_NOTHING = "DRA-203"
    TOO_FEW_DEVICES = "DRA-210"
    DEVICES_IN_USE = "DRA-211"
    DEVICES_TAINTED = "DRA-212"
    CAPACITY_TOO_SMALL = "DRA-213"
    COUNTERS_EXHAUSTED = "DRA-214"
    ALL_MODE_BLOCKED = "DRA-215"
    DEVICES_FOR_OTHER_NODES = "DRA-216"
    DEVICES_UNUSABLE = "DRA-217"
    CONSTRAINT = "DRA-220"
    REQUESTS_COMPETE = "DRA-230"
    CLAIM_ELSEWHERE = "DRA-240"
    BINDING_FAILED = "DRA-241"
    CLAIM_IDLE = "DRA-242"
    EXTENDED_CLAIM_LEFT_OVER = "DRA-243"
    POOL_INCOMPLETE = "DRA-250"
    POOL_INVALID = "DRA-251"
    POOL_OUTDATED = "DRA-252"
    FEATURE_DISABLED = "DRA-260"
    DEALLOCATION_REQUESTED = "DRA-270"
    CLAIM_NOT_SHAREABLE = "DRA-271"
    IMMEDIATE_NOT_ALLOCATED = "DRA-272"
    RESOURCE_CLASS_MISSING = "DRA-273"
    PARAMETERS_MISSING = "DRA-274"
    CLASS_EXCLUDES_NODE = "DRA-275"
    NODE_UNSUITABLE = "DRA-276"
    NO_COMMON_NODE = "DRA-277"
    NAMED_SELECTOR_FAILS = "DRA-278"
    CONTROLLER_DISABLED = "DRA-279"
    SCHEDULER_WILL_ASK = "DRA-280"
    DRIVER_SILENT = "DRA-281"
    DRIVER_ALLOCATES = "DRA-282"
    NEVER_SELECTED = "DRA-283"
    NEGOTIATION_FOREIGN = "DRA-284"

    SELECTOR_DOES_NOT_COMPILE = "DRA-300"
    SELECTOR_FAILS = "DRA-310"
    ALL_MODE_POOL = "DRA-320"
    ALL_MODE_CONSTRAINT = "DRA-321"
    TOO_MANY_DEVICES = "DRA-330"
    FEATURE_DISABLED_FATAL = "DRA-340"
    REQUEST_MALFORMED = "DRA-350"
    NODE_SELECTOR_MALFORMED = "DRA-360"
    CAPACITY_ARITHMETIC = "DRA-370"
    SEARCH_TIMEOUT = "DRA-380"
    CONSUMERS_FULL = "DRA-390"
    ADMIN_LABEL_AT_BINDING = "DRA-391"
    API_ERROR_AT_BINDING = "DRA-392"
    CLAIM_NAMED_TWICE = "DRA-393"

    NO_NODES = "DRA-400"
    NODE_NAME = "DRA-410"
    NODE_UNSCHEDULABLE = "DRA-411"
    NODE_TAINTS = "DRA-412"
    NODE_AFFINITY = "DRA-413"
    NODE_PORTS = "DRA-414"
    NODE_RESOURCES = "DRA-415"
    KEPT_AWAY = "DRA-416"
    VOLUMES = "DRA-420"
    TOPOLOGY = "DRA-421"
    OTHER_PLUGIN = "DRA-422"

    BINDING_CONDITIONS = "DRA-500"
    BINDING_IN_PROGRESS = "DRA-501"

    PREPARING = "DRA-600"
    DRIVER_NOT_REGISTERED = "DRA-610"
    DRIVER_FAILED = "DRA-611"
    CLAIM_NOT_RESERVED = "DRA-612"
    CLAIM_NOT_ALLOCATED = "DRA-613"
    CLAIM_REPLACED = "DRA-614"
    KUBELET_FAILED = "DRA-615"
    DEVICE_UNHEALTHY = "DRA-620"
    CONTAINER_WAITS = "DRA-630"

    CLAIM_WAITS_FOR_POD = "DRA-700"
    CLAIM_UNUSED = "DRA-710"
    CLAIM_KEPT_BY_CONSUMERS = "DRA-720"
    CONSUMER_GONE = "DRA-721"

    EVIDENCE_MISSING = "DRA-800"
    NOT_SIMULATED = "DRA-810"

    FITS_NOW = "DRA-900"
    DEPENDS_ON_NODE_ORDER = "DRA-910"
    SEARCH_UNDECIDED = "DRA-920"


MEANING: Final[Mapping[Code, str]] = MappingProxyType(
    {
        Code.SCHEDULING_GATES: "the pod has scheduling gates",
        Code.CLAIM_MISSING: "a ResourceClaim that the pod names does not exist",
        Code.CLAIM_NOT_CREATED: "a ResourceClaim was not created from its template yet",
        Code.TEMPLATE_MISSING: "a ResourceClaimTemplate that the pod names does not exist",
        Code.CLAIM_CREATION_FAILED: "the controller cannot create a ResourceClaim from its template",
        Code.QUOTA_EXCEEDED: "a ResourceQuota forbids the ResourceClaim",
        Code.ADMIN_LABEL_MISSING: "admin access is asked for in a namespace without the admin access label",
        Code.CLAIM_BEING_DELETED: "a ResourceClaim of the pod is being deleted",
        Code.CLAIM_NOT_OWNED: "the ResourceClaim recorded for the pod belongs to another owner",
        Code.CLAIM_SOURCE_UNKNOWN: "a claim entry of the pod names neither a claim nor a template",
        Code.OTHER_SCHEDULER: "the pod is left to another scheduler",
        Code.POD_GROUP: "the pod waits for its PodGroup",
        Code.CLASS_MISSING: "a DeviceClass that a request names does not exist",
        Code.NO_DEVICE_IN_CLASS: "no device belongs to the DeviceClass",
        Code.EXTENDED_RESOURCE_UNSERVED: "no DeviceClass and no node offers the extended resource",
        Code.SELECTOR_MATCHES_NOTHING: "no device of the class passes the selectors of the request",
        Code.TOO_FEW_DEVICES: "fewer devices are left than the request needs",
        Code.DEVICES_IN_USE: "the devices that match are in use",
        Code.DEVICES_TAINTED: "the devices that match have taints that the request does not tolerate",
        Code.CAPACITY_TOO_SMALL: "no device that matches has the requested capacity left",
        Code.COUNTERS_EXHAUSTED: "the shared counters of the pool do not allow another device",
        Code.ALL_MODE_BLOCKED: "the request asks for all devices and one of them can't be had",
        Code.DEVICES_FOR_OTHER_NODES: "the devices that match are for other nodes",
        Code.DEVICES_UNUSABLE: "the devices that match need a feature that is off",
        Code.CONSTRAINT: "no set of devices satisfies a constraint",
        Code.REQUESTS_COMPETE: "each request fits alone, but not all together",
        Code.CLAIM_ELSEWHERE: "an allocated ResourceClaim can't be used on the node",
        Code.BINDING_FAILED: "devices of a ResourceClaim failed to bind or took too long",
        Code.CLAIM_IDLE: "an allocated ResourceClaim that nobody uses is in the way and will be deallocated",
        Code.EXTENDED_CLAIM_LEFT_OVER: "the extended resource claim of an earlier attempt is still there",
        Code.POOL_INCOMPLETE: "a pool is being updated: not all of its ResourceSlices are there",
        Code.POOL_INVALID: "a pool contradicts itself and is not used",
        Code.POOL_OUTDATED: "devices that would match are only in an outdated generation of their pool",
        Code.FEATURE_DISABLED: "the request needs a feature that is off in the scheduler",
        Code.DEALLOCATION_REQUESTED: "the driver is asked to deallocate a ResourceClaim, which admits nobody meanwhile",
        Code.CLAIM_NOT_SHAREABLE: "a ResourceClaim that can't be shared is used by another pod",
        Code.IMMEDIATE_NOT_ALLOCATED: "the driver has not allocated a ResourceClaim with immediate allocation yet",
        Code.RESOURCE_CLASS_MISSING: "the ResourceClass of a ResourceClaim does not exist",
        Code.PARAMETERS_MISSING: "the parameters of a ResourceClaim or of its class do not exist",
        Code.CLASS_EXCLUDES_NODE: "the class of a ResourceClaim leaves the node out",
        Code.NODE_UNSUITABLE: "the driver says that it can't allocate a ResourceClaim for the node",
        Code.NO_COMMON_NODE: "every ResourceClaim can be allocated on some node, but not all on the same one",
        Code.NAMED_SELECTOR_FAILS: "a selector fails on a named resource, and with it the node",
        Code.CONTROLLER_DISABLED: "a ResourceClaim is left to a controller, and that feature is off in the scheduler",
        Code.SCHEDULER_WILL_ASK: "the scheduler will ask the driver at its next attempt",
        Code.DRIVER_SILENT: "the driver has not said yet on which nodes it can allocate a ResourceClaim",
        Code.DRIVER_ALLOCATES: "the driver is asked to allocate a ResourceClaim and has not done so yet",
        Code.NEVER_SELECTED: "this scheduler never selects a node for claims of controllers beside as many of its own",
        Code.NEGOTIATION_FOREIGN: "the PodSchedulingContext of the pod's name belongs to another pod",
        Code.SELECTOR_DOES_NOT_COMPILE: "a selector does not compile",
        Code.SELECTOR_FAILS: "a selector fails on a device instead of saying yes or no",
        Code.ALL_MODE_POOL: "a request for all devices meets an incomplete or invalid pool",
        Code.ALL_MODE_CONSTRAINT: "a request for all devices meets one that a constraint refuses",
        Code.TOO_MANY_DEVICES: "a ResourceClaim asks for more than 32 devices",
        Code.FEATURE_DISABLED_FATAL: "the claim needs a feature that is off in the scheduler: every attempt is aborted",
        Code.REQUEST_MALFORMED: "a request has a form that the scheduler does not know",
        Code.NODE_SELECTOR_MALFORMED: "a node selector of a ResourceSlice or an allocation can't be used",
        Code.CAPACITY_ARITHMETIC: "a capacity request can't be computed",
        Code.SEARCH_TIMEOUT: "the search for devices takes longer than the scheduler allows",
        Code.CONSUMERS_FULL: "the ResourceClaim is already reserved for as many consumers as it can have",
        Code.ADMIN_LABEL_AT_BINDING: "admin access can't be written: the namespace lacks the admin access label",
        Code.API_ERROR_AT_BINDING: "the API server refused what the scheduler wanted to write",
        Code.CLAIM_NAMED_TWICE: "the pod names a ResourceClaim twice, which can't be written",
        Code.NO_NODES: "the cluster has no nodes",
        Code.NODE_NAME: "the pod names another node",
        Code.NODE_UNSCHEDULABLE: "nodes are cordoned",
        Code.NODE_TAINTS: "nodes have taints that the pod does not tolerate",
        Code.NODE_AFFINITY: "nodes do not match the pod's node selector or affinity",
        Code.NODE_PORTS: "host ports of the pod are taken",
        Code.NODE_RESOURCES: "nodes lack cpu, memory, pods or another resource",
        Code.KEPT_AWAY: "pods on nodes keep the pod away by their required anti-affinity",
        Code.VOLUMES: "nodes were rejected because of volumes (according to the scheduler)",
        Code.TOPOLOGY: "nodes were rejected because of other pods (according to the scheduler)",
        Code.OTHER_PLUGIN: "nodes were rejected for another reason (according to the scheduler)",
        Code.BINDING_CONDITIONS: "the scheduler waits until devices are ready to be bound",
        Code.BINDING_IN_PROGRESS: "the devices are reserved for the pod; binding is under way",
        Code.PREPARING: "the pod has its node and its devices; the kubelet prepares them",
        Code.DRIVER_NOT_REGISTERED: "the driver is not registered at the kubelet of the node",
        Code.DRIVER_FAILED: "the driver failed to prepare the devices",
        Code.CLAIM_NOT_RESERVED: "the pod has a node, but a ResourceClaim is not reserved for it",
        Code.CLAIM_NOT_ALLOCATED: "the pod has a node, but a ResourceClaim has no devices",
        Code.CLAIM_REPLACED: "the kubelet still holds an older ResourceClaim of the same name",
        Code.KUBELET_FAILED: "the kubelet failed to prepare the devices",
        Code.DEVICE_UNHEALTHY: "a device of the pod is reported as not healthy",
        Code.CONTAINER_WAITS: "a container waits for something else than devices",
        Code.CLAIM_WAITS_FOR_POD: "no pod uses the ResourceClaim; devices are allocated when one does",
        Code.CLAIM_UNUSED: "the ResourceClaim holds devices that nobody uses",
        Code.CLAIM_KEPT_BY_CONSUMERS: "the deletion of the ResourceClaim waits for its consumers",
        Code.CONSUMER_GONE: "the ResourceClaim is reserved for a pod that is gone or finished",
        Code.EVIDENCE_MISSING: "something that decides could not be read",
        Code.NOT_SIMULATED: "plugins of the scheduler that are not simulated decide as well",
        Code.FITS_NOW: "the pod would fit now",
        Code.DEPENDS_ON_NODE_ORDER: "some nodes fit and one aborts the attempt: which comes first decides",
        Code.SEARCH_UNDECIDED: "the search was too large to decide",
    }
)
