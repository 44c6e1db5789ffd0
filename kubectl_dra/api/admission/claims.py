"""Claims and templates: requests, constraints, configuration."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from kubectl_dra.api.admission import common, formats
from kubectl_dra.api.admission.errors import Field, itself
from kubectl_dra.model import names, resource
from kubectl_dra.selectors.compiling import COST_LIMIT, Environment

MAX_REQUESTS: Final = 32
MAX_ALTERNATIVES: Final = 8
MAX_CONSTRAINTS: Final = 32
MAX_CONFIGS: Final = 32
MAX_DERIVED: Final = 32
MODES: Final = ("All", "ExactCount")
_ALL_REQUESTS: Final = ""
_UNKNOWN_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def claim(record: resource.ResourceClaim, root: Field, environment: Environment, lacking: str) -> None:
    """A claim; its status can't be set on creation and is not looked at."""
    devices = record.spec.devices
    _admin_access(devices, root.at("spec", "devices"), lacking)
    common.metadata(record.metadata, True, root.at("metadata"))
    _Claim(devices, environment).check(root.at("spec", "devices"))


def template(record: resource.ResourceClaimTemplate, root: Field, environment: Environment, lacking: str) -> None:
    """A template. The server reports admin access with the path of a claim."""
    devices = record.spec.spec.devices
    _admin_access(devices, root.at("spec", "devices"), lacking)
    common.metadata(record.metadata, True, root.at("metadata"))
    common.annotation_keys(record.spec.metadata.annotations, root.at("spec", "metadata", "annotations"))
    common.labels(record.spec.metadata.labels, root.at("spec", "metadata", "labels"))
    _Claim(devices, environment).check(root.at("spec", "spec", "devices"))


def _admin_access(devices: resource.DeviceClaim, field: Field, lacking: str) -> None:
    """``lacking``: the label that the namespace needs and lacks; empty if there is none."""
    if not lacking:
        return
    for index, request in enumerate(devices.requests):
        if request.exactly is not None and request.exactly.admin_access:
            label = f"`{lacking}: true`"
            field.at("requests").index(index).at("adminAccess").forbidden(
                f"admin access to devices requires the {label} label on the containing namespace"
            )


class _Claim:
    """The checks of one claim: names of its requests, and what its constraints ask for."""

    def __init__(self, devices: resource.DeviceClaim, environment: Environment) -> None:
        self.devices = devices
        self.environment = environment
        self.alternatives = {r.name: {s.name for s in r.first_available} for r in devices.requests}
        self.constrained = _constrained(devices.constraints)
        self.derived_cost = 0

    def check(self, field: Field) -> None:
        devices = self.devices
        requests, constraints, config = field.at("requests"), field.at("constraints"), field.at("config")
        requests.items(devices.requests, MAX_REQUESTS, self._request)
        constraints.items(devices.constraints, MAX_CONSTRAINTS, self._constraint)
        config.items(devices.config, MAX_CONFIGS, self._config)
        if self.derived_cost > COST_LIMIT:
            field.forbidden(
                "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
            )
        requests.unique(devices.requests, MAX_REQUESTS, lambda request: request.name, itself)

    def _request(self, request: resource.DeviceRequest, field: Field) -> None:
        field.at("name").invalid_for_each(request.name, names.dns_label(request.name))
        if request.exactly is not None and request.first_available:
            field.invalid(None, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
        elif request.exactly is not None:
            self._exact(request.exactly, field.at("exactly"), request.name, names.CHARACTERS)
        elif request.first_available:
            alternatives = field.at("firstAvailable")
            alternatives.items(
                request.first_available, MAX_ALTERNATIVES, lambda sub, at: self._alternative(sub, at, request.name)
            )
            alternatives.unique(request.first_available, MAX_ALTERNATIVES, lambda sub: sub.name, itself)
        else:
            field.required("exactly one of `exactly` or `firstAvailable` is required")

    def _alternative(self, sub: resource.DeviceSubRequest, field: Field, request: str) -> None:
        field.at("name").invalid_for_each(sub.name, names.dns_label(sub.name))
        self._exact(sub, field, f"{request}/{sub.name}", names.BYTES)

    def _exact(
        self, request: resource.ExactDeviceRequest | resource.DeviceSubRequest, field: Field, name: str, unit: str
    ) -> None:
        class_name = field.at("deviceClassName")
        if request.device_class_name:
            class_name.invalid_for_each(request.device_class_name, names.dns_subdomain(request.device_class_name, unit))
        else:
            class_name.required()
        field.at("selectors").items(
            request.selectors,
            common.MAX_SELECTORS,
            lambda selector, at: common.selector(selector, at, self.environment),
        )
        self._derived_attributes(request.derived_attributes, field.at("derivedAttributes"), name)
        _mode(request.allocation_mode, request.count, field)
        field.at("tolerations").items(request.tolerations, None, common.toleration)

    def _derived_attributes(
        self, attributes: tuple[resource.DerivedAttribute, ...], field: Field, request: str
    ) -> None:
        for index, attribute in enumerate(attributes):
            self._derived(attribute, field.index(index), request)
        field.unique(attributes, None, lambda attribute: attribute.name, lambda attribute: attribute.name)
        if not field.alpha:
            return
        if len(attributes) > MAX_DERIVED:
            field.too_many(len(attributes), MAX_DERIVED)
            return
        for index, attribute in enumerate(attributes):
            _derived_form(attribute, field.index(index))

    def _derived(self, attribute: resource.DerivedAttribute, field: Field, request: str) -> None:
        if attribute.name and not self._is_constrained(attribute.name, request):
            field.at("name").invalid(
                attribute.name,
                "must be referenced by at least one matchAttribute or distinctAttribute constraint"
                " targeting this request",
            )
        if attribute.expression:
            self.derived_cost += common.expression(
                attribute.expression, field.at("expression"), self.environment, derived=True
            )

    def _is_constrained(self, attribute: str, request: str) -> bool:
        targets = (_ALL_REQUESTS, request, request.partition("/")[0])
        return any(attribute in self.constrained[target] for target in targets)

    def _constraint(self, constraint: resource.DeviceConstraint, field: Field) -> None:
        self._references(constraint.requests, field.at("requests"))
        attributes = (constraint.match_attribute, constraint.distinct_attribute)
        if attributes == (None, None) and not self.environment.consumable_capacity:
            field.at("matchAttribute").required()
        elif attributes == (None, None):
            field.required(
                'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
            )
        for name in ("match_attribute", "distinct_attribute"):
            attribute = getattr(constraint, name)
            if attribute is not None:
                formats.fully_qualified_name(attribute, field.at(name.replace("_a", "A")))

    def _config(self, config: resource.DeviceClaimConfiguration, field: Field) -> None:
        self._references(config.requests, field.at("requests"))
        common.opaque(config.opaque, field.at("opaque"))

    def _references(self, names: tuple[str, ...], field: Field) -> None:
        field.items(names, MAX_REQUESTS, self._reference)
        field.unique(names, MAX_REQUESTS, itself, itself)

    def _reference(self, name: str, field: Field) -> None:
        request, slash, alternative = name.partition("/")
        if "/" in alternative:
            field.invalid(name, _UNKNOWN_REQUEST)
            return
        for part in (request, alternative) if slash else (request,):
            field.invalid_for_each(part, names.dns_label(part))
        known = self.alternatives.get(request)
        if known is None or (slash and alternative not in known):
            field.invalid(name, _UNKNOWN_REQUEST)


def _derived_form(attribute: resource.DerivedAttribute, field: Field) -> None:
    if attribute.name:
        formats.fully_qualified_name(attribute.name, field.at("name"))
    else:
        field.at("name").required()
    if not attribute.expression:
        field.at("expression").required()


def _constrained(constraints: tuple[resource.DeviceConstraint, ...]) -> defaultdict[str, set[str]]:
    """Attributes that constraints ask for, by request; under the empty name those of every request."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for constraint in constraints:
        name = constraint.match_attribute if constraint.match_attribute is not None else constraint.distinct_attribute
        if name is not None:
            for target in constraint.requests or (_ALL_REQUESTS,):
                found[target].add(name)
    return found


def _mode(mode: str, count: int, field: Field) -> None:
    if mode not in MODES:
        field.at("allocationMode").not_supported(mode, MODES)
    elif mode == "All" and count != 0:
        field.at("count").invalid(count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        field.at("count").invalid(count, "must be greater than zero")
