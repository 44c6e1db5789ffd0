"""One clause per kind of trouble with a volume, with the names of claim, volume, class, driver and zone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kubectl_dra.diagnosis.records import Cause, VolumeTrouble
from kubectl_dra.model.invocation import Address
from kubectl_dra.output.pending.pods_there import most_of
from kubectl_dra.output.safe import Safe, command_line, fmt, safe
from kubectl_dra.output.words import counted, listed, shortened
from kubectl_dra.reports.invocations import kubectl, of, reading
from kubectl_dra.scheduler.storage import VolumeReason

_GIB: Final = 1 << 30
#: A volume that exists, and where it is decides.
_PLACED: Final = (VolumeReason.VOLUME_UNREACHABLE, VolumeReason.VOLUME_ZONE)


#: By what is wrong with a claim that keeps the pod from being tried; the page of DRA-423 has all of it.
_ADVICE: Final[Mapping[str, str]] = {
    VolumeReason.CLAIM_MISSING: "Create the claim, or correct its name in the pod.",
    VolumeReason.CLAIM_NOT_CREATED: (
        "The controller of ephemeral volumes creates the claim within seconds. If it does not, the events of the pod "
        "say why."
    ),
    VolumeReason.CLAIM_NOT_OWNED: "Delete the claim that has the name, or give the pod or its volume another one.",
    VolumeReason.CLAIM_DELETED: (
        "Create the claim again once it is gone. It stays until the pods that use it have ended, and its data may go "
        "with it."
    ),
    VolumeReason.CLAIM_LOST: (
        "To Kubernetes the data is gone with PersistentVolume {volume}: restore the volume, or create a new claim."
    ),
    VolumeReason.VOLUME_MISSING: (
        "To Kubernetes the data is gone with PersistentVolume {volume}: restore the volume, or create a new claim."
    ),
    VolumeReason.CLASS_MISSING: (
        "Create StorageClass {class_}, or the claim again with a class that exists: a claim cannot change its class."
    ),
}


_USERS: Final = 3
#: Of replicas that share one claim, which is what a Deployment's template says of all its pods.
_OF_ITS_OWN: Final = Safe(
    "Give each pod a volume of its own (volumeClaimTemplates of a StatefulSet), or claim one that pods on several "
    "nodes can use at once (accessModes: ReadWriteMany or ReadOnlyMany, of a class that has such volumes)."
)


def is_made_for_others(detail: object) -> bool:
    """Whether a cause is a volume that is made on another node, for pods which use it there."""
    reason = VolumeReason.OTHER_NODE_SELECTED
    return isinstance(detail, VolumeTrouble) and detail.reason == reason and bool(detail.users)


_NODE_GONE: Final = (
    "A node of that name that joins again with its disk reaches the volume, and nothing is lost. If it is gone for "
    "good, so is the data of {}: delete {}, and create it anew where a volume can be reached, or its class makes one."
)


def volume_sentence(trouble: VolumeTrouble) -> Safe:
    """What is wrong with one volume; empty for a reason that this version does not know."""
    say = _SENTENCES.get(trouble.reason)
    return say(trouble) if say is not None else Safe("")


def volume_advice(trouble: VolumeTrouble) -> Safe | None:
    """What to do about a claim that keeps the pod from being tried; None: what its page says."""
    if is_made_for_others(trouble):
        return _OF_ITS_OWN
    if trouble.gone and trouble.reason == VolumeReason.VOLUME_UNREACHABLE:
        return fmt(_NODE_GONE, trouble.volume, _claim(trouble))
    if trouble.reason != VolumeReason.CLAIM_UNBOUND:
        text = _ADVICE.get(trouble.reason)
        return fmt(text, class_=trouble.about, volume=trouble.volume) if text is not None else None
    if trouble.volume:
        return fmt("Look whether PersistentVolume {} exists and no other claim has it.", trouble.volume)
    if not trouble.about:
        return Safe("Create a PersistentVolume that matches the claim, or the claim again with a StorageClass.")
    text = (
        "Read the events of the claim: they say why no volume is provisioned. If there are none, the provisioner of "
        "StorageClass {} does not run."
    )
    return fmt(text, trouble.about)


def volume_step_lines(trouble: VolumeTrouble, address: Address) -> Iterator[Safe]:
    """What shows why a claim is not bound."""
    if trouble.reason != VolumeReason.CLAIM_UNBOUND or trouble.claim is None:
        return
    claim, about = of("persistentvolumeclaim", trouble.claim.name, trouble.claim.namespace), trouble.about
    steps = [("Its events: {}", claim)]
    if about:
        steps.append(("Its provisioner: {}", of("storageclass", about)))
    for text, words in steps:
        yield from command_line(text, reading(kubectl("describe", words), address))


def _claim(trouble: VolumeTrouble) -> Safe:
    return fmt("PersistentVolumeClaim {}", str(trouble.claim.key)) if trouble.claim is not None else Safe("its volume")


def _missing(trouble: VolumeTrouble) -> Safe:
    return fmt("{}, which its volume {} needs, does not exist", _claim(trouble), trouble.entry)


def _not_created(trouble: VolumeTrouble) -> Safe:
    return fmt("{} for its ephemeral volume {} has not been created yet", _claim(trouble), trouble.entry)


def _not_owned(trouble: VolumeTrouble) -> Safe:
    return fmt(
        "{} has the name that its ephemeral volume {} needs, but was not created for this pod",
        _claim(trouble),
        trouble.entry,
    )


def _lost(trouble: VolumeTrouble) -> Safe:
    return fmt("{} has lost its PersistentVolume {}", _claim(trouble), trouble.volume)


def _deleted(trouble: VolumeTrouble) -> Safe:
    return fmt("{} is being deleted", _claim(trouble))


def _unbound(trouble: VolumeTrouble) -> Safe:
    if trouble.volume:
        return fmt("{} is not bound to PersistentVolume {} yet", _claim(trouble), trouble.volume)
    if trouble.about:
        return fmt(
            "{} is not bound yet, and StorageClass {} binds claims before pods are scheduled",
            _claim(trouble),
            trouble.about,
        )
    return fmt("{} is not bound yet and names no StorageClass", _claim(trouble))


def _class_missing(trouble: VolumeTrouble) -> Safe:
    return fmt("{} is not bound, and its StorageClass {} does not exist", _claim(trouble), trouble.about)


def _volume_missing(trouble: VolumeTrouble) -> Safe:
    return fmt("{} is bound to PersistentVolume {}, which does not exist", _claim(trouble), trouble.volume)


def _unreachable(trouble: VolumeTrouble) -> Safe:
    where = fmt(": it is limited to nodes with {}", _or(trouble.wanted)) if trouble.wanted else Safe("")
    if trouble.gone:
        text = "PersistentVolume {} of {} can only be reached from nodes with {}, and no node has that any more"
        return fmt(text, trouble.volume, _claim(trouble), _or(trouble.wanted))
    return fmt("PersistentVolume {} of {} cannot be reached from there{}", trouble.volume, _claim(trouble), where)


def _zone(trouble: VolumeTrouble) -> Safe:
    return fmt("PersistentVolume {} of {} is in {}", trouble.volume, _claim(trouble), _or(trouble.wanted))


def _other_node(trouble: VolumeTrouble) -> Safe:
    if trouble.gone:
        return fmt("{} is to be provisioned for node {}, which does not exist", _claim(trouble), trouble.about)
    if trouble.users:
        return fmt("{} is provisioned for node {}, where {} it", _claim(trouble), trouble.about, _use(trouble.users))
    return fmt("node {} was already selected to provision {}", trouble.about, _claim(trouble))


def _use(users: Sequence[str]) -> Safe:
    return fmt("{} {}", shortened(users, _USERS), Safe("uses" if len(users) == 1 else "use"))


def _topology(trouble: VolumeTrouble) -> Safe:
    return fmt(
        "StorageClass {} of {} provisions volumes only for nodes with {}",
        trouble.about,
        _claim(trouble),
        _or(trouble.wanted),
    )


def _nothing(trouble: VolumeTrouble) -> Safe:
    return fmt(
        "no free PersistentVolume there matches {}, and StorageClass {} does not provision any",
        _claim(trouble),
        trouble.about,
    )


def _no_space(trouble: VolumeTrouble) -> Safe:
    return fmt(
        "{} requests {}, but StorageClass {} has {} left there",
        _claim(trouble),
        _size(trouble.asked),
        trouble.about,
        _size(trouble.limit),
    )


def _claim_in_use(trouble: VolumeTrouble) -> Safe:
    users = listed(trouble.users) if trouble.users else Safe("another pod")
    return fmt("{} is ReadWriteOncePod and in use by {}", _claim(trouble), users)


def _disk_in_use(trouble: VolumeTrouble) -> Safe:
    return fmt("disk {} of its volume {} is in use there by {}", trouble.about, trouble.entry, listed(trouble.users))


def _too_many(trouble: VolumeTrouble) -> Safe:
    held = most_of(trouble.by, lambda number: Safe(str(number)))
    return fmt(
        "driver {} can attach {} there: {} in use{}, {} more needed",
        trouble.about,
        counted(trouble.limit, "volume"),
        trouble.used,
        fmt(" ({})", held) if held else held,
        trouble.asked,
    )


def _not_installed(trouble: VolumeTrouble) -> Safe:
    return fmt("CSI driver {} is not installed there", trouble.about)


def out_of_reach(troubles: Sequence[object], names: Safe, has_devices: Safe, there: Safe) -> Safe | None:
    """Where the pod's volume can be attached and what is there; None unless one volume keeps it from all ``names``."""
    volumes = {
        (each.claim, each.wanted) for each in troubles if isinstance(each, VolumeTrouble) and each.reason in _PLACED
    }
    first = troubles[0]
    if (
        len(volumes) != 1
        or not isinstance(first, VolumeTrouble)
        or first.gone
        or not all(isinstance(e, VolumeTrouble) for e in troubles)
    ):
        return None
    text = "its volume ({}) can only be attached on nodes with {}: there {}; {} {} but cannot attach it"
    return fmt(text, _claim(first), _or(first.wanted), there, names, has_devices)


def where_attached(causes: Iterable[Cause]) -> Safe:
    """The labels of the nodes where the pod's volume can be attached; empty where none keeps it anywhere."""
    details = (cause.detail for cause in causes)
    found = (each for each in details if isinstance(each, VolumeTrouble) and each.reason in _PLACED and each.wanted)
    first = next(found, None)
    return _or(first.wanted) if first is not None else Safe("")


#: ``zone In [a]``, which is a label.
_IN_ONE: Final = re.compile(r"(\S+) In \[([^\s,\]]+)\]")


def _or(texts: tuple[str, ...]) -> Safe:
    return Safe(" or ").join(safe(_IN_ONE.sub(r"\1=\2", text)) for text in texts)


def _size(size: int) -> Safe:
    """Bytes in the largest binary unit that keeps the number whole."""
    for unit, power in (("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)):
        if size and size % (1 << power) == 0:
            return Safe(f"{size >> power}{unit}")
    return Safe(f"{size / _GIB:.1f}Gi" if size >= _GIB else str(size))


_SENTENCES: Final[Mapping[str, Callable[[VolumeTrouble], Safe]]] = {
    VolumeReason.CLAIM_MISSING: _missing,
    VolumeReason.CLAIM_NOT_CREATED: _not_created,
    VolumeReason.CLAIM_NOT_OWNED: _not_owned,
    VolumeReason.CLAIM_LOST: _lost,
    VolumeReason.CLAIM_DELETED: _deleted,
    VolumeReason.CLAIM_UNBOUND: _unbound,
    VolumeReason.CLASS_MISSING: _class_missing,
    VolumeReason.VOLUME_MISSING: _volume_missing,
    VolumeReason.VOLUME_UNREACHABLE: _unreachable,
    VolumeReason.VOLUME_ZONE: _zone,
    VolumeReason.OTHER_NODE_SELECTED: _other_node,
    VolumeReason.TOPOLOGY_NOT_ALLOWED: _topology,
    VolumeReason.NOTHING_TO_BIND: _nothing,
    VolumeReason.NO_SPACE: _no_space,
    VolumeReason.CLAIM_IN_USE: _claim_in_use,
    VolumeReason.DISK_IN_USE: _disk_in_use,
    VolumeReason.TOO_MANY: _too_many,
    VolumeReason.DRIVER_NOT_INSTALLED: _not_installed,
}
