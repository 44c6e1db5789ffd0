"""Device classes and taint rules."""

from __future__ import annotations

from typing import Final

from kubectl_dra.api.admission import common, formats
from kubectl_dra.api.admission.errors import Field
from kubectl_dra.model import names
from kubectl_dra.model.gotext import quote
from kubectl_dra.model.resource import DeviceClass, DeviceTaintRule
from kubectl_dra.selectors.compiling import Environment

MAX_CONFIGS: Final = 32
NATIVE_DOMAIN: Final = "kubernetes.io/"
QUOTA_PREFIX: Final = "requests."


def device_class(record: DeviceClass, root: Field, environment: Environment) -> None:
    common.metadata(record.metadata, False, root.at("metadata"), names.BYTES)
    spec, field = record.spec, root.at("spec")
    field.at("selectors").items(
        spec.selectors, common.MAX_SELECTORS, lambda selector, at: common.selector(selector, at, environment)
    )
    field.at("config").items(spec.config, MAX_CONFIGS, lambda config, at: common.opaque(config.opaque, at.at("opaque")))
    if spec.extended_resource_name is not None:
        _extended_resource(spec.extended_resource_name, field.at("extendedResourceName"))


def _extended_resource(name: str, field: Field) -> None:
    """A name that pods can request: with a domain, not Kubernetes' own, and valid in a quota."""
    if "/" not in name:
        field.invalid(name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
    elif NATIVE_DOMAIN in name:
        field.invalid(name, f"must not have {quote(NATIVE_DOMAIN)} domain")
    if name.startswith(QUOTA_PREFIX):
        field.invalid(name, f"must not have {quote(QUOTA_PREFIX)} prefix")
    field.invalid_for_each(name, names.label_key(QUOTA_PREFIX + name))


def taint_rule(record: DeviceTaintRule, root: Field) -> None:
    """A rule; fields that are absent from its selector match everything and are not checked."""
    common.metadata(record.metadata, False, root.at("metadata"))
    field, selector = root.at("spec", "deviceSelector"), record.spec.device_selector
    if selector is not None:
        if selector.driver is not None:
            formats.driver_name(selector.driver, field.at("driver"))
        if selector.pool is not None:
            formats.pool_name(selector.pool, field.at("pool"))
        if selector.device is not None:
            field.at("device").invalid_for_each(selector.device, names.dns_label(selector.device))
    common.taint(record.spec.taint, root.at("spec", "taint"))
