"""The allow list of redaction: words that stay, because they are Kubernetes' own and say nothing about a cluster.

Words outside these sets are replaced, unless they are numbers, quantities, times or booleans. docs/redaction.md
shows the same list to users.
"""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.kinds import KINDS, RESOURCE_GROUP
from kubectl_dra.diagnosis.gangs.elsewhere import COSCHEDULING, PUBLIC_NAMES
from kubectl_dra.model.gang_objects import QUALIFIED
from kubectl_dra.model.makers import MULTIKUEUE, USUAL_MANAGERS
from kubectl_dra.model.queues import GROUP, QUEUE_LABEL, qualified
from kubectl_dra.model.queues import KINDS as KINDS_OF_KUEUE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: The same of gangs of other schedulers.
OF_GANGS: Final = _words(
    """
    Open Closed Closing Inqueue Scheduling Completed scheduling.x-k8s.io/v1alpha1 scheduling.volcano.sh/v1beta1 Queue
    """
) | frozenset(QUALIFIED)
#: What Kueue's API says of its own: versions and kinds, conditions and their reasons, what stops a queue.
OF_KUEUE: Final = (
    _words(
        """
    QuotaReserved Admitted Evicted Finished Hold HoldAndDrain Retry Rejected Ready Inadmissible
    NoMatchingFlavor WaitingForQuota ExceedsMaxQuota TopologyPlacementFailed WaitingForPreemptedWorkloads
    WaitingForPodsReady LowerPriority LowerOrNewerEqualPriority Any Job JobSet RayJob RayCluster
    """
    )
    | OF_GANGS
    | {*(f"{GROUP}/{version}" for version in ("v1beta1", "v1beta2")), *KINDS_OF_KUEUE, *map(qualified, KINDS_OF_KUEUE)}
)

#: Values of fields that the API or its components define: enums, reasons and types of conditions, components, groups.
API: Final = _words(
    """
    Pending Running Succeeded Failed Unknown Bound Lost Available Released Active Terminating True False Healthy
    Unhealthy Normal Warning Equal Exists In NotIn DoesNotExist Gt Lt NoSchedule PreferNoSchedule NoExecute None
    ExactCount All FromClass FromClaim Immediate WaitForFirstConsumer Never Always OnFailure PreemptLowerPriority
    DoNotSchedule ScheduleAnyway Honor Ignore RestartAllContainers Filesystem Block ReadWriteOnce ReadOnlyMany
    ReadWriteMany ReadWriteOncePod TCP UDP SCTP Shared Dedicated Managed PodScheduled Initialized Ready
    ContainersReady PodReadyToStartContainers DisruptionTarget PodResizePending PodResizeInProgress MemoryPressure
    DiskPressure PIDPressure NetworkUnavailable EvictionInProgress Unschedulable SchedulerError SchedulingGated
    DeletionByTaintManager DeletionByDeviceTaintManager DeletionByPodGC EvictionByEvictionAPI
    PreemptionByScheduler TerminationByKubelet PodCompleted PodFailed ContainersNotReady ContainersNotInitialized
    ContainerCreating PodInitializing Complete NoEffect NotStarted Completed ErrImagePull ImagePullBackOff
    CrashLoopBackOff CreateContainerConfigError CreateContainerError RunContainerError InvalidImageName Evicted
    NodeLost Preempting KubeletReady FailedScheduling Scheduled Preempted FailedResourceClaimCreation
    FailedPrepareDynamicResources FailedMount FailedCreate FailedBinding SuccessfulCreate Killing Pulling Pulled
    Created Started BackOff FailedCreatePodSandBox FailedAttachVolume FailedDaemonPod
    FailedToRetrieveImagePullSecret default-scheduler kubelet resource-claim-controller resource_claim
    device-taint-eviction kube-scheduler v1 apps/v1 batch/v1 events.k8s.io/v1 scheduling.k8s.io
    scheduling.k8s.io/podgroup-protection PodGroupInitiallyScheduled
    scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1alpha2 pods podgroups PodGroup Workload
    DRAOptionalNodeOperations RestartAllContainersOnContainerExits UserNamespacesHostNetworkSupport
    InPlacePodLevelResourcesVerticalScaling GuaranteedQoSPodCPUResize DRANodeAllocatableResources
    RollingUpdate Recreate OnDelete NodePrepareResources NodeUnprepareResources resource.kubernetes.io/delete-protection
    kubernetes.io/pvc-protection kubernetes.io/pv-protection kubernetes foregroundDeletion orphan
    batch.kubernetes.io/job-tracking kubernetes.io/no-provisioner kubernetes.io/aws-ebs kubernetes.io/azure-disk
    kubernetes.io/azure-file kubernetes.io/gce-pd kubernetes.io/cinder kubernetes.io/vsphere-volume
    kubernetes.io/portworx-volume kubernetes.io/rbd kubernetes.io/iscsi
    """
) | {
    RESOURCE_GROUP,
    *PUBLIC_NAMES,
    *USUAL_MANAGERS,
    MULTIKUEUE,
    *OF_KUEUE,
    *(kind.name for kind in KINDS),
    *(kind.api_version_of(version) for kind in KINDS for version in kind.versions),
}

#: Domains that only Kubernetes uses, and the drivers that its in-tree volumes are translated to: they stay everywhere.
EVERYWHERE: Final = frozenset(
    {
        *("ebs.csi.aws.com", "disk.csi.azure.com", "file.csi.azure.com", "pd.csi.storage.gke.io"),
        *("cinder.csi.openstack.org", "csi.vsphere.vmware.com", "pxd.portworx.com", "rbd.csi.ceph.com"),
        *("resource.kubernetes.io", "deviceclass.resource.kubernetes.io", "kubernetes.io", "node.kubernetes.io"),
        *("topology.kubernetes.io", "beta.kubernetes.io", "failure-domain.beta.kubernetes.io"),
    }
)

#: Keys of labels, annotations and taints that mean something to Kubernetes itself.
LABEL_KEYS: Final = frozenset(
    {
        *("topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.cinder.csi.openstack.org/zone"),
        *(
            QUEUE_LABEL,
            *COSCHEDULING.labels,
            "metadata.name",
            "metadata.namespace",
            "kubernetes.io/hostname",
            "kubernetes.io/arch",
            "kubernetes.io/os",
        ),
        *("kubernetes.io/metadata.name", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"),
        *("topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"),
        *("beta.kubernetes.io/instance-type", "failure-domain.beta.kubernetes.io/zone"),
        *("failure-domain.beta.kubernetes.io/region", "node-role.kubernetes.io/control-plane"),
        *("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable"),
        *("node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure"),
        *("node.kubernetes.io/network-unavailable", "node.cloudprovider.kubernetes.io/uninitialized"),
        *("node.kubernetes.io/exclude-from-external-load-balancers", "node.kubernetes.io/out-of-service"),
        *("resource.kubernetes.io/admin-access", "resource.kubernetes.io/pod-claim-name"),
        *("resource.kubernetes.io/extended-resource-claim", "pv.kubernetes.io/bind-completed"),
        *("volume.kubernetes.io/selected-node", "volume.beta.kubernetes.io/storage-class"),
        *("storage.alpha.kubernetes.io/migrated-plugins", "pod-template-hash", "controller-revision-hash"),
        "deployment.kubernetes.io/revision",
    }
)
#: Those of zones and regions; the last are of drivers that in-tree volumes are translated to.
ZONES: Final = frozenset(
    {
        *("topology.kubernetes.io/zone", "topology.kubernetes.io/region"),
        *("failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"),
        *("topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.cinder.csi.openstack.org/zone"),
    }
)
#: Values of labels that are compared with a meaning.
LABEL_VALUES: Final = frozenset({"", "true", "false"})

#: Resources that every cluster has; classes and drivers give the others their names.
RESOURCES: Final = frozenset(
    {
        *("cpu", "memory", "pods", "storage", "ephemeral-storage", "devices", "services", "configmaps", "secrets"),
        *("persistentvolumeclaims", "resourcequotas", "replicationcontrollers", "services.nodeports"),
        *("services.loadbalancers", "count/pods", "count/resourceclaims.resource.k8s.io"),
        *("count/resourceclaimtemplates.resource.k8s.io", "requests", "limits"),
    }
)

#: Ids of attributes and capacities that drivers have in common. One that is also a name in the cluster is replaced.
ATTRIBUTE_IDS: Final = _words(
    """
    model memory uuid type index minor productName brand architecture cudaComputeCapability cudaDriverVersion
    driverVersion parentUUID parentIndex parentMinor profile pciBusID pcieRoot pciAddress pciDevice numaNode
    multiprocessors copyEngines jpegEngines encoders decoders ofaEngines cores slices shares compute bandwidth
    vram frequency generation family vendor vendorID deviceID firmwareVersion serial serialNumber ifName interface
    mac mtu state encapsulation rdma rdmaDevice sriov sriovVfs virtual ipv4 ipv6 partitionType partition
    partitionable health healthy nvlinkDomain cliqueID numCPUs cpuset socket
    """
)

#: Words of the sentences that Kubernetes' components write. In quotes, or beside a slash, they count as names.
SENTENCES: Final = _words(
    """
    a able about accept accepted access added adding adminAccess admin admission affinity after again against all
    allocatable allocate allocated allocating allocation already also although always an and another any are as
    ask asked asks assigned assume assumed at attempt attribute attributes available aborted allowed back bad be
    because been before being below between bind binding blocked both bound but by call called can cannot capacity
    cause CEL chaining change changed check checked checking claim claims class classes cleared client clients
    closed code condition conditions conflict conflicting connect connection consider constraint constraints
    consumed container containers containing content context continue controller correct could count counter
    counters cpu create created creating creation critical current currently deadline deallocated deallocation
    delete deleted deletion denied describe desc DeviceClass device devices DeviceTaintRule did didn different
    disk disappeared do does doesn domain don DRA driver drivers due during DynamicResources e each effect empty
    encountered end entry EOF ephemeral ERROR error errors evaluate evaluating evaluation event evict eviction
    Eviction exact exceeded exceeds exclusive exec exist existing exists exit expect expected expecting
    experienced expired expression extended extraneous fail failed failing fails failure features fetch field
    fields file filter first follow followed for forbidden Forbidden found free from full function g gate gated
    gates generate generation get getting given grpc guarding had handle has have health healthy held helpful hold
    host hostname how however id identical if ignored image images immutable implied in incoming incomplete index
    inform informer initialize input instance instead insufficient Insufficient internal into invalid Invalid io
    is isn it item items its key kind kubelet label labels lacking last later left length less limit limits list
    literal lookup made manager map marked match matched matches matching maximum may memory message metadata
    minimum mismatched missing modified more most mount multiple must name named names namespace namespaces new no
    node NodeAffinity NodeName NodePorts NodePrepareResources NodeResourcesFit nodes NodeUnprepareResources
    NodeUnschedulable non none non-empty nor not nothing now null number object observed occurred of off often old
    on one only opened operation optional or orValue order other out over overload overlapping own owned owner
    parse parsing partial partially partition partitions passed pending per permission persistent PersistentVolume
    PersistentVolumeClaim plan plugin plugins pod PodGroup pods Pod Pods policy pool pools port ports possible
    PreBind PreEnqueue PreFilter preemption Preemption PostFilter prefer preferred prepare prepared preparing
    pressure previous priority process processing profile program published put query queue quota rather re reach
    reached read reading ready reason recently recognition recreated reference refers refused register registered
    rejected release released remaining removed replaced report reported request requested requests require
    required requires reservation reserve Reserve reserved reservedFor resource ResourceClaim resourceclaim
    resourceclaims ResourceClaims ResourceClaimTemplate ResourceSlice resourceslice ResourceSlices resources
    response result results retry returned rpc rule rules run running runtime s same satisfied satisfy schedule
    scheduled scheduler schedulable scheduling Scheduling see select selected selector selectors separated server
    service set several share shared should shutting single size skip skipped skipping slice slices so socket some
    source space spec specified spread start started status step still stop stopped storage string subrequest
    subrequests success Successfully such supported suitable syntax Syntax system t taint tainted taints
    TaintToleration template terminated terminating than that the their them then there these they this through
    time timed timeout timestamp to token tolerate toleration tolerations Too too took topology transport true
    false try trying type unable unallocated unavailable undeclared unexpected unhealthy UID uid unknown unless
    unprepare unprepared unready unresolvable unschedulable Unschedulable unset unsupported until untolerated
    unused up updated updating updates upon usage use used user using valid validation value values version
    versions victim victims viable violates volume VolumeBinding volumes wait waiting was watch we were what when
    where whether which while will with within without would write writing wrong yet you zero zone Allocation
    Failed Node Operation PodScheduled Resource Request Requested Skipping Status The Timeout No Not Required
    Unsupported Update Waiting admin-access anti-affinity Aborted AlreadyExists Canceled DataLoss DeadlineExceeded
    FailedPrecondition Internal InvalidArgument NotFound OutOfRange PermissionDenied ResourceExhausted
    Unauthenticated Unavailable Unimplemented Unknown nil affinity/selector API CSI DNS DRAConsumableCapacity
    DRAControlPlaneController DRAPrioritizedList Duplicate Kubernetes MaxInt NodeSelector PVC
    PersistentVolumeClaims PodResourceClaim RFC Volume VolumeBindingMode aborts accounted admit admits
    alphanumeric arithmetic bytes character characters cluster compile completed computed consist consumers
    contradicts controllers cordoned csi deallocate dynamic duplicate element enforced every exactly exceed
    excluded feature fewer fit fits form generated gone immediate immediately information inline installed integer
    itself k8s large leaves level limited long longer lower lowercase many max milli my need needs negative
    neither never non-existent operator operators outdated parameters part passes pattern persistentvolume
    persistentvolumeclaim prefix prepares provide pv pvc range reallocated regex region regions retrieve
    scheduler-enforced selection selects storageClass StorageClass structured subdomain taken term terms text
    group groups minCount placement placements podgroup preempting preemptor got absent feasible determine eligible
    preemptionPolicy ongoing unreserved PodGroupPostFilter appear domain domains
    together unbound under unsuitable uses waits well yes zones happens couldn wasn weren hasn haven won wouldn
    assign ClusterQueue cohort configuration enough flavor flavors inactive LocalQueue mapped nominal sets workload
    workloads
    """
)
