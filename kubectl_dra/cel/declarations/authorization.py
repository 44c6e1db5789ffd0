"""Declarations of the authorization library, which every Kubernetes environment has; no selector has an authorizer."""

from __future__ import annotations

from kubectl_dra.cel.check.types import BOOL, STRING, Type
from kubectl_dra.cel.declarations.overload import Overload, Table, member

AUTHORIZER = Type("object", name="kubernetes.authorization.Authorizer")
PATH_CHECK = Type("object", name="kubernetes.authorization.PathCheck")
GROUP_CHECK = Type("object", name="kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = Type("object", name="kubernetes.authorization.ResourceCheck")
DECISION = Type("object", name="kubernetes.authorization.Decision")


def _refine(overload_id: str) -> tuple[Overload, ...]:
    return (member(overload_id, (RESOURCE_CHECK, STRING), RESOURCE_CHECK),)


AUTHORIZATION: Table = {
    "path": (member("authorizer_path", (AUTHORIZER, STRING), PATH_CHECK),),
    "group": (member("authorizer_group", (AUTHORIZER, STRING), GROUP_CHECK),),
    "serviceAccount": (member("authorizer_serviceaccount", (AUTHORIZER, STRING, STRING), AUTHORIZER),),
    "resource": (member("groupcheck_resource", (GROUP_CHECK, STRING), RESOURCE_CHECK),),
    "subresource": _refine("resourcecheck_subresource"),
    "namespace": _refine("resourcecheck_namespace"),
    "name": _refine("resourcecheck_name"),
    "check": (
        member("pathcheck_check", (PATH_CHECK, STRING), DECISION),
        member("resourcecheck_check", (RESOURCE_CHECK, STRING), DECISION),
    ),
    "errored": (member("decision_errored", (DECISION,), BOOL),),
    "error": (member("decision_error", (DECISION,), STRING),),
    "allowed": (member("decision_allowed", (DECISION,), BOOL),),
    "reason": (member("decision_reason", (DECISION,), STRING),),
    "fieldSelector": _refine("authorizer_fieldselector"),
    "labelSelector": _refine("authorizer_labelselector"),
}
