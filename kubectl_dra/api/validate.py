"""Admission's checks: what the API server would refuse about an object that is about to be created, in its own words.

Objects are v1 records with defaults filled in. Of fields behind alpha gates only the handwritten rules are checked,
unless the caller says that the server knows them: a server without the gate drops the field.
"""

from __future__ import annotations

from kubectl_dra.api.admission import claims, classes, groups, slices
from kubectl_dra.api.admission.errors import Field, FieldError
from kubectl_dra.model import resource
from kubectl_dra.model.base import Record
from kubectl_dra.model.scheduling import PodGroup
from kubectl_dra.selectors.compiling import ADMISSION, Environment

__all__ = ["ADMISSION", "FieldError", "validate"]


def validate(
    record: Record,
    environment: Environment = ADMISSION,
    *,
    lacking: str = "",
    alpha: bool = False,
) -> tuple[FieldError, ...]:
    """The errors that creating ``record`` would end with; none if the server accepts it or we don't know the kind.

    ``environment`` says which gates the server's CEL has, ``lacking`` which label for admin access the namespace of a
    claim or template needs and lacks, ``alpha`` that the server has the gates of alpha fields.
    """
    found: list[FieldError] = []
    root = Field("", found, alpha)
    match record:
        case resource.ResourceClaim():
            claims.claim(record, root, environment, lacking)
        case resource.ResourceClaimTemplate():
            claims.template(record, root, environment, lacking)
        case resource.DeviceClass():
            classes.device_class(record, root, environment)
        case resource.ResourceSlice():
            slices.resource_slice(record, root)
        case resource.DeviceTaintRule():
            classes.taint_rule(record, root)
        case PodGroup():
            groups.pod_group(record, root)
    return tuple(dict.fromkeys(found))
