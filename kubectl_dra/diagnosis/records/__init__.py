"""What a diagnosis consists of: verdicts, causes with their evidence, groups of nodes. Shapes only, no decisions.

Structs with camelCase names, so that reports can embed them as they are. Devices and pools are written
``DRIVER/POOL[/DEVICE]``. One module per subject; others import from here, as who words or explains causes needs the
records of many subjects at once.
"""

from __future__ import annotations

from kubectl_dra.diagnosis.records.causes import Cause, Differs, GroupError, GroupShortage, GroupWaits, WorkloadGang
from kubectl_dra.diagnosis.records.claims import (
    ClaimElsewhere,
    ClaimEntry,
    Consumers,
    EvictingTaint,
    MakerRefusal,
    Negotiation,
    ParametersProblem,
    PodUse,
    QuotaLimit,
    QuotaShortage,
    QuotaUse,
    Unspecified,
    VanishedDevices,
)
from kubectl_dra.diagnosis.records.findings import (
    Assumption,
    BeingBound,
    ClaimDiagnosis,
    Declined,
    LowerHolders,
    NodeGroup,
    Observed,
    PodDiagnosis,
    PodFinding,
    Preemption,
    RequestReport,
)
from kubectl_dra.diagnosis.records.nodes import (
    AddedRequest,
    Company,
    KeptAway,
    LabelOnNodes,
    LargestRequest,
    MissingFeatures,
    NodeSelection,
    NodeShortage,
    NodeTaint,
    OpenPlugin,
    OpenPlugins,
    PluginText,
    PodsThere,
    RepellingTerm,
    Spread,
    TakenPorts,
    VolumeTrouble,
)
from kubectl_dra.diagnosis.records.objects import Evidence, Missing, ObjectRef, RbacRule
from kubectl_dra.diagnosis.records.pods import (
    AllocatedOnNode,
    AllocationInFlight,
    BoundBy,
    ContainerWaits,
    Departure,
    DeviceUser,
    GangElsewhere,
    Gates,
    Health,
    HeardReason,
    HeldTaint,
    KubeletRejection,
    KubeletText,
    MissingEvidence,
    OwnHolder,
    PodGroupName,
    QueueLimit,
    Refusal,
    Retry,
    SchedulerName,
    TaskGroup,
    VolumeHeld,
)
from kubectl_dra.diagnosis.records.requests import (
    SUPPOSED,
    AttributeValue,
    ClassOffer,
    ClassProblem,
    ConsumerCount,
    ExtendedResource,
    FatalError,
    Funnel,
    HeldFor,
    IgnoredResource,
    LessCapacity,
    Nearest,
    NodeDevices,
    NoSingleNode,
    PoolProblem,
    Removal,
    RequestNodes,
    SearchSize,
    Short,
    Stage,
    StageName,
    Unpublished,
    UnpublishedInConstraint,
    ValueCount,
)
from kubectl_dra.diagnosis.records.verdicts import (
    Agreement,
    Amount,
    AssumptionKind,
    Bound,
    Certainty,
    ClaimVerdict,
    Count,
    NodeOutcome,
    Verdict,
)
from kubectl_dra.scheduler.binding import BindingProblem
