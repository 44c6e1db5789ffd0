"""The stable codes of reasons, one row each: code, a few words, a line, the types of evidence that come with it.

Every code has a page in ``docs/reasons``, whose first paragraph of "How to fix it" is the advice.

The first digit is that of the family. A code is never given another meaning.
"""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """What codes are about, by their first digit."""

    UNTRIED = "1"  # nothing is tried
    DEVICES = "2"  # there are no devices
    ABORTED = "3"  # an error ends the attempt
    NODES = "4"  # the nodes refuse the pod
    BINDING = "5"
    ON_THE_NODE = "6"
    CLAIMS = "7"
    EVIDENCE = "8"
    FITS = "9"  # it would fit, or does


class Code(StrEnum):
    """A reason; the value is what reports print. ``label`` is for lists, where ``meaning`` has no room.

    ``evidence`` names the records (``detail.type`` in JSON) that a cause of it may have as its ``detail``.
    """

    _value_: str
    label: str
    meaning: str
    evidence: tuple[str, ...]

    def __new__(cls, value: str, label: str, meaning: str, *evidence: str) -> Code:
        """One row of the table below."""
        code = str.__new__(cls, value)
        code._value_ = value
        code.label = label
        code.meaning = meaning
        code.evidence = evidence
        return code

    @property
    def family(self) -> Family:
        return Family(self.value[4])

    @property
    def page(self) -> str:
        """The page of the documentation."""
        return f"docs/reasons/{self.value}.md"

    # Code, label, meaning, types of evidence; a row is easier to read in two lines than in five.
    # fmt: off
    SCHEDULING_GATES = "DRA-100", "scheduling gates", "the pod has scheduling gates", "Gates"
    QUEUED = "DRA-101", "held by a queue", "a queue such as Kueue has not admitted the pod yet", "GangElsewhere"
    CLAIM_MISSING = "DRA-110", "claim missing", "a ResourceClaim that the pod names does not exist", "ClaimEntry"
    CLAIM_NOT_CREATED = ("DRA-111", "claim not created yet",
        "a ResourceClaim was not created from its template yet", "ClaimEntry")
    TEMPLATE_MISSING = ("DRA-112", "template missing",
        "a ResourceClaimTemplate that the pod names does not exist", "ClaimEntry")
    CLAIM_CREATION_FAILED = ("DRA-113", "claim cannot be created",
        "the controller cannot create a ResourceClaim from its template", "ClaimEntry")
    QUOTA_EXCEEDED = ("DRA-114", "quota exceeded",
        "a ResourceQuota forbids the ResourceClaim, or the pod", "ClaimEntry", "QuotaShortage")
    ADMIN_LABEL_MISSING = ("DRA-115", "admin access not allowed",
        "admin access is requested in a namespace without the admin access label", "ClaimEntry")
    API_NOT_SERVED = ("DRA-116", "API not served",
        "the cluster does not serve resource.k8s.io, the API of the pod's claims", "ClaimEntry")
    CLAIM_BEING_DELETED = "DRA-120", "claim being deleted", "a ResourceClaim of the pod is being deleted", "ClaimEntry"
    CLAIM_NOT_OWNED = ("DRA-130", "claim belongs to another",
        "the ResourceClaim recorded for the pod belongs to another owner", "ClaimEntry", "KubeletText")
    CLAIM_SOURCE_UNKNOWN = ("DRA-140", "claim entry malformed",
        "a claim entry of the pod names neither a claim nor a template", "ClaimEntry")
    OTHER_SCHEDULER = ("DRA-150", "another scheduler",
        "the pod names another scheduler", "SchedulerName", "GangElsewhere")
    POD_GROUP = ("DRA-160", "waits for its PodGroup",
        "another pod of the PodGroup keeps all of them from being tried", "GroupWaits")
    POD_GROUP_MISSING = ("DRA-161", "pod group missing",
        "the PodGroup, or group of a Workload, that the pod names does not exist", "PodGroupName", "WorkloadGang")
    POD_GROUP_INCOMPLETE = ("DRA-162", "pod group incomplete",
        "fewer pods of the group exist than its minCount", "GroupWaits", "GangElsewhere", "WorkloadGang")

    POD_BEING_DELETED = "DRA-170", "being deleted", "the pod is being deleted", "Departure"
    POD_EVICTED = "DRA-171", "evicted", "the pod is evicted: it is being deleted, or about to be", "Departure"

    CLASS_MISSING = "DRA-200", "class missing", "a DeviceClass that a request names does not exist", "ClassProblem"
    NO_DEVICE_IN_CLASS = ("DRA-201", "no devices published",
        "no devices are published for the DeviceClass", "Funnel", "Nearest", "ClassOffer")
    EXTENDED_RESOURCE_UNSERVED = ("DRA-202", "extended resource unknown",
        "no DeviceClass and no node offers the extended resource", "ExtendedResource")
    SELECTOR_MATCHES_NOTHING = ("DRA-203", "selector matches nothing",
        "no device of the class matches the selectors of the request", "Funnel", "Nearest")
    CLASS_SELECTS_NOTHING = ("DRA-204", "class selects nothing",
        "the DeviceClass selects none of the published devices", "ClassOffer")
    ATTRIBUTE_UNPUBLISHED = ("DRA-205", "attribute not published",
        "a selector needs an attribute that no device of the class publishes", "Unpublished")
    EXTENDED_RESOURCE_IGNORED = ("DRA-206", "extended resource ignored",
        "a DeviceClass serves the extended resource, but the scheduler counts only what nodes offer", "IgnoredResource")
    TOO_FEW_DEVICES = ("DRA-210", "too few devices",
        "no node has as many devices as the request needs", "Funnel", "Nearest")
    DEVICES_IN_USE = "DRA-211", "devices in use", "the devices that match are in use", "Funnel", "Nearest"
    DEVICES_TAINTED = ("DRA-212", "devices tainted",
        "the devices that match have taints that the request does not tolerate", "Funnel", "Nearest")
    CAPACITY_TOO_SMALL = ("DRA-213", "capacity used up",
        "no device that matches has the requested capacity left", "Funnel", "Nearest")
    COUNTERS_EXHAUSTED = ("DRA-214", "shared counters used up",
        "the shared counters of the pool do not allow another device", "Funnel", "Nearest")
    ALL_MODE_BLOCKED = ("DRA-215", "not all devices free",
        "the request needs all devices and one of them is not available", "Funnel", "Nearest")
    DEVICES_FOR_OTHER_NODES = ("DRA-216", "devices for other nodes",
        "the devices that match are for other nodes", "Funnel", "Nearest", "ClassOffer")
    DEVICES_UNUSABLE = ("DRA-217", "feature off",
        "the devices that match need a feature that is off", "Funnel", "Nearest", "PoolProblem")
    DEVICES_OF_GONE_NODES = ("DRA-218", "devices of nodes that are gone",
        "the devices of the class are published for nodes that do not exist", "ClassOffer")
    CAPACITY_UNOBTAINABLE = ("DRA-219", "more than devices have",
        "the request wants a capacity that no device which matches has or allows", "Funnel", "Nearest")
    CONSTRAINT = ("DRA-220", "no set satisfies a constraint",
        "no set of devices satisfies a constraint", "Funnel", "Nearest", "UnpublishedInConstraint")
    REQUESTS_COMPETE = ("DRA-230", "requests compete",
        "requests need the same devices and cannot be served together", "Funnel", "Nearest")
    NO_SINGLE_NODE = ("DRA-231", "no single node has all",
        "every request can be served on some node, but no single node serves all of them", "NoSingleNode")
    CLAIM_ELSEWHERE = ("DRA-240", "claim is elsewhere",
        "an allocated ResourceClaim cannot be used on the node", "ClaimElsewhere")
    BINDING_FAILED = ("DRA-241", "devices failed to bind",
        "devices of a ResourceClaim failed to bind or took too long", "BindingProblem")
    CLAIM_IDLE = ("DRA-242", "idle claim in the way",
        "an allocated ResourceClaim that nobody uses is in the way and will be deallocated")
    EXTENDED_CLAIM_LEFT_OVER = ("DRA-243", "left-over claim",
        "the extended resource claim of an earlier attempt is still there", "Consumers")
    POOL_INCOMPLETE = ("DRA-250", "pool incomplete",
        "a pool is incomplete: not all of its ResourceSlices are published", "PoolProblem")
    POOL_INVALID = ("DRA-251", "pool invalid",
        "a pool is invalid and none of its devices can be used", "PoolProblem", "FatalError")
    POOL_OUTDATED = ("DRA-252", "pool outdated",
        "devices that would match are only in an outdated generation of their pool", "PoolProblem")
    FEATURE_DISABLED = ("DRA-260", "feature off",
        "the request needs a feature that is off in the scheduler", "FatalError")
    DEALLOCATION_REQUESTED = ("DRA-270", "to be deallocated",
        "the driver is asked to deallocate a ResourceClaim, which admits nobody meanwhile", "Negotiation")
    CLAIM_NOT_SHAREABLE = ("DRA-271", "claim not shareable",
        "a ResourceClaim that cannot be shared is used by another pod", "Consumers")
    IMMEDIATE_NOT_ALLOCATED = ("DRA-272", "driver allocates",
        "the driver has not allocated a ResourceClaim with immediate allocation yet", "Negotiation")
    RESOURCE_CLASS_MISSING = ("DRA-273", "ResourceClass missing",
        "the ResourceClass of a ResourceClaim does not exist", "ClassProblem")
    PARAMETERS_MISSING = ("DRA-274", "parameters missing",
        "the parameters of a ResourceClaim or of its class do not exist", "ParametersProblem")
    CLASS_EXCLUDES_NODE = ("DRA-275", "class leaves node out",
        "the class of a ResourceClaim leaves the node out", "ClassProblem")
    NODE_UNSUITABLE = ("DRA-276", "driver refuses node",
        "the driver reports that it cannot allocate a ResourceClaim for the node", "Negotiation")
    NO_COMMON_NODE = ("DRA-277", "no common node",
        "every ResourceClaim can be allocated on some node, but not all on the same one")
    NAMED_SELECTOR_FAILS = ("DRA-278", "selector fails",
        "a selector raises an error on a named resource, which rules out the node", "FatalError")
    CONTROLLER_DISABLED = ("DRA-279", "controllers are off",
        "a ResourceClaim names a controller, and that feature is off in the scheduler", "Negotiation")
    SCHEDULER_WILL_ASK = ("DRA-280", "scheduler will ask",
        "the scheduler will ask the driver at its next attempt", "Negotiation")
    DRIVER_SILENT = ("DRA-281", "driver has not answered",
        "the driver has not reported yet on which nodes it can allocate a ResourceClaim", "Negotiation")
    DRIVER_ALLOCATES = ("DRA-282", "driver allocates",
        "the driver is asked to allocate a ResourceClaim and has not done so yet", "Negotiation")
    NEVER_SELECTED = ("DRA-283", "never selects a node",
        "this scheduler never selects a node for claims of controllers beside as many of its own", "Negotiation")
    NEGOTIATION_FOREIGN = ("DRA-284", "foreign scheduling context",
        "the PodSchedulingContext of the pod's name belongs to another pod", "FatalError")

    SELECTOR_DOES_NOT_COMPILE = "DRA-300", "selector does not compile", "a selector does not compile", "FatalError"
    SELECTOR_FAILS = "DRA-310", "selector fails on a device", "a selector raises an error on a device", "FatalError"
    CLASS_SELECTOR_FAILS = ("DRA-311", "class selector fails",
        "a selector of the DeviceClass raises an error on a device", "FatalError")
    ALL_MODE_POOL = ("DRA-320", "all devices, pool unusable",
        "a request for all devices sees an incomplete or invalid pool", "FatalError")
    ALL_MODE_CONSTRAINT = ("DRA-321", "all devices, constraint",
        "a request for all devices includes one that a constraint excludes", "FatalError")
    TOO_MANY_DEVICES = "DRA-330", "more than 32 devices", "a ResourceClaim requests more than 32 devices", "FatalError"
    FEATURE_DISABLED_FATAL = ("DRA-340", "feature off",
        "the claim needs a feature that is off in the scheduler, which ends every attempt", "FatalError")
    REQUEST_MALFORMED = ("DRA-350", "request malformed",
        "a request has a form that the scheduler does not know", "FatalError")
    NODE_SELECTOR_MALFORMED = ("DRA-360", "node selector malformed",
        "a node selector of a ResourceSlice or an allocation is invalid", "FatalError")
    CAPACITY_ARITHMETIC = "DRA-370", "capacity not computable", "a capacity request cannot be computed", "FatalError"
    SEARCH_TIMEOUT = ("DRA-380", "search takes too long",
        "the search for devices takes longer than the scheduler allows", "SearchSize")
    CONSUMERS_FULL = ("DRA-390", "claim has all its consumers",
        "the ResourceClaim is already reserved for as many consumers as it can have", "FatalError")
    ADMIN_LABEL_AT_BINDING = ("DRA-391", "admin access not allowed",
        "admin access is refused: the namespace lacks the admin access label", "FatalError")
    API_ERROR_AT_BINDING = ("DRA-392", "refused by the API server",
        "the API server refused what the scheduler wanted to write", "Refusal")
    CLAIM_NAMED_TWICE = ("DRA-393", "claim named twice",
        "the pod names a ResourceClaim twice, which the API server refuses", "FatalError")

    POD_GROUP_MIXED = ("DRA-394", "pods of a group differ",
        "the pods of a PodGroup contradict each other, or the group", "GroupError")
    POD_GROUP_ABORTED = ("DRA-395", "group aborted",
        "an error about one pod aborts the attempt for its whole PodGroup", "GroupError")
    SCORING_FAILED = ("DRA-396", "scoring fails",
        "nodes fit, and the scheduler ends its attempt with an error while it scores them", "Refusal")

    VOLUMES_AT_BINDING = ("DRA-397", "volumes not made or bound",
        "a node was chosen, and the pod's volumes were not made or bound for it", "Refusal")
    REFUSED_BY_ANOTHER = ("DRA-398", "another plugin refused",
        "an extender or a plugin that is not in the default profile failed, or turned the pod away", "Refusal")

    ALLOCATION_IN_FLIGHT = ("DRA-399", "claim still being allocated",
        "the scheduler goes on finding the ResourceClaim in the process of being allocated", "AllocationInFlight")

    NO_NODES = "DRA-400", "no nodes", "the cluster has no nodes"
    NODE_NAME = "DRA-410", "names another node", "the pod names another node"
    NODE_UNSCHEDULABLE = "DRA-411", "nodes cordoned", "nodes are cordoned"
    NODE_TAINTS = "DRA-412", "node taints", "nodes have taints that the pod does not tolerate", "NodeTaint"
    NODE_AFFINITY = ("DRA-413", "node selector or affinity",
        "nodes do not match the pod's node selector or affinity", "NodeSelection")
    NODE_PORTS = "DRA-414", "host ports taken", "host ports of the pod are taken", "TakenPorts"
    NODE_RESOURCES = ("DRA-415", "cpu, memory or pods",
        "nodes lack cpu, memory, pods or another resource", "NodeShortage")
    KEPT_AWAY = ("DRA-416", "kept away by other pods",
        "pods on the nodes exclude the pod by their required anti-affinity", "KeptAway")
    VOLUMES = "DRA-420", "volumes", "nodes were rejected because of volumes (according to the scheduler)", "PluginText"
    TOPOLOGY = (
        "DRA-421",
        "topology",
        "nodes were rejected because of other pods (according to the scheduler)",
        "PluginText",
    )
    OTHER_PLUGIN = (
        "DRA-422",
        "another plugin",
        "nodes were rejected for another reason (according to the scheduler)",
        "PluginText",
        "GangElsewhere",
    )
    VOLUME_CLAIM = ("DRA-423", "volume claim not usable",
        "a PersistentVolumeClaim of the pod does not exist, is not bound or is being deleted", "VolumeTrouble")
    VOLUME_ELSEWHERE = ("DRA-424", "volume is elsewhere",
        "a volume of the pod cannot be used on the node", "VolumeTrouble")
    NO_VOLUME = ("DRA-425", "no volume to bind",
        "no volume can be bound or provisioned for the pod on the node", "VolumeTrouble")
    VOLUME_IN_USE = "DRA-426", "volume in use", "another pod uses a volume that only one pod may use", "VolumeTrouble"
    VOLUME_LIMIT = ("DRA-427", "no volume slots left",
        "the node cannot attach another volume of a CSI driver", "VolumeTrouble")
    SPREAD = ("DRA-428", "spread too unevenly",
        "the pod would be spread more unevenly than its constraint allows", "Spread")
    NO_COMPANY = "DRA-429", "pod affinity", "no pod that the pod's affinity requires runs on the nodes", "Company"
    UNWANTED_COMPANY = ("DRA-430", "pod anti-affinity",
        "a pod that the pod's anti-affinity excludes runs on the nodes", "Company")
    NODE_FEATURES = "DRA-431", "node features", "nodes do not declare a feature that the pod needs", "MissingFeatures"

    VOLUME_DRIVER_MISSING = ("DRA-432", "CSI driver missing",
        "the CSI driver of a volume of the pod is not installed on the node", "VolumeTrouble")

    POD_GROUP_UNPLACED = ("DRA-440", "group does not fit",
        "too few pods of the group find a node at the same time", "GroupShortage", "WorkloadGang")

    BINDING_CONDITIONS = ("DRA-500", "devices not ready yet",
        "the scheduler waits until devices are ready to be bound", "BindingProblem")
    BINDING_IN_PROGRESS = "DRA-501", "binding under way", "the devices are reserved for the pod; binding is under way"

    PREPARING = ("DRA-600", "kubelet prepares devices",
        "the pod is scheduled; the kubelet and the driver prepare its devices", "KubeletText")
    DRIVER_NOT_REGISTERED = ("DRA-610", "driver not registered",
        "the driver is not registered at the kubelet of the node", "KubeletText")
    DRIVER_FAILED = "DRA-611", "driver failed", "the driver failed to prepare the devices", "KubeletText"
    CLAIM_NOT_RESERVED = ("DRA-612", "claim not reserved",
        "the pod has a node, but a ResourceClaim is not reserved for it", "KubeletText")
    CLAIM_NOT_ALLOCATED = ("DRA-613", "claim not allocated",
        "the pod has a node, but a ResourceClaim has no devices", "KubeletText", "BoundBy")
    CLAIM_REPLACED = ("DRA-614", "older claim in the way",
        "the kubelet still holds an older ResourceClaim of the same name", "KubeletText")
    KUBELET_FAILED = "DRA-615", "kubelet failed", "the kubelet failed to prepare the devices", "KubeletText"
    KUBELET_API = ("DRA-616", "kubelet and API differ",
        "the kubelet reads claims in a version of the API that the server does not serve", "KubeletText")
    KUBELET_WARNS = ("DRA-617", "failure on the node",
        "something other than preparing devices fails on the node", "KubeletText")
    KUBELET_REJECTED = ("DRA-618", "failed on the node",
        "the kubelet rejected the pod or ended it, and it has failed", "KubeletRejection")
    DEVICE_UNHEALTHY = "DRA-620", "device unhealthy", "a device of the pod is reported as not healthy", "Health"
    CONTAINER_WAITS = ("DRA-630", "container waits",
        "a container waits for something other than devices", "ContainerWaits")
    DEVICE_NOT_INJECTED = ("DRA-631", "device not injected",
        "the container runtime does not give a container its devices", "ContainerWaits")

    CLAIM_WAITS_FOR_POD = ("DRA-700", "waits for a pod",
        "no pod uses the ResourceClaim; devices are allocated when one does")
    CLAIM_UNUSED = "DRA-710", "claim unused", "the ResourceClaim holds devices that nobody uses"
    CLAIM_KEPT_BY_CONSUMERS = ("DRA-720", "deletion waits",
        "the deletion of the ResourceClaim waits for its consumers or finalizers", "Consumers")
    CONSUMER_GONE = ("DRA-721", "consumer gone",
        "the ResourceClaim is reserved for a pod that is gone or finished", "Consumers")

    DEVICE_VANISHED = ("DRA-722", "device vanished",
        "a device that the ResourceClaim holds is not published any more", "VanishedDevices")
    EVICTED_AT_ONCE = ("DRA-730", "evicted at once",
        "a pod that gets the device is evicted at once, by a taint that only the scheduler lets pass", "EvictingTaint")

    EVIDENCE_MISSING = "DRA-800", "data not read", "data needed for a verdict could not be read", "MissingEvidence"
    NOT_SIMULATED = ("DRA-810", "other plugins decide",
        "plugins of the scheduler that are not simulated also decide", "OpenPlugins")

    FITS_NOW = "DRA-900", "fits now", "the pod would fit now", "Retry"
    DEPENDS_ON_NODE_ORDER = ("DRA-910", "depends on node order",
        "some nodes fit and one ends the attempt: which comes first decides")
    SEARCH_UNDECIDED = "DRA-920", "search undecided", "the search was too large to decide", "SearchSize"
    # fmt: on
