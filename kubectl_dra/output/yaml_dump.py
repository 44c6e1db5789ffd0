"""YAML text of a JSON value, in 7 bits, that both YAML 1.1 and 1.2 readers take for the same value."""

from __future__ import annotations

from typing import Any, Final

import yaml

from kubectl_dra.source.yaml_scalars import resolved

_BASE: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]
    """Quotes texts that Kubernetes' reader would take for something else, and never writes aliases."""

    def ignore_aliases(self, data: object) -> bool:
        """Equal parts are written out."""
        return True


def _text(dumper: Any, text: str) -> Any:  # noqa: ANN401 - PyYAML's own types
    style = None if isinstance(resolved(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dump(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """``value`` as one document, keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=False, sort_keys=False, width=120)
    return text
