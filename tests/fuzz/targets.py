"""What is fuzzed: for each target the real texts to begin with, and one try, which raises nothing but what is declared.

A try gives the name of its outcome, so that a run shows that both sides were reached.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import yaml

from kubectl_dra.api.decode import decode_any
from kubectl_dra.api.kinds import RESOURCE_CLAIM
from kubectl_dra.cel import COST_LIMIT, CompileError, Environment, compile_expression, device_value
from kubectl_dra.commands.get.query import GetQuery, parse_query
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.types import parse_targets
from kubectl_dra.commands.taint.words import parse_words
from kubectl_dra.model.evidence import BadObject
from kubectl_dra.model.quantity import Quantity, QuantityError
from kubectl_dra.model.semver import Semver, SemverError
from kubectl_dra.source.errors import ManifestError
from kubectl_dra.source.manifests import read_manifests
from tests.api.test_generations import ALL_OBJECTS
from tests.kit.evaluated import evaluated
from tests.oracle.admission.cases import bases
from tests.vectors.answer_cel import device_of
from tests.vectors.rows import rows

ACCEPTED, REFUSED, OTHER = "accepted", "refused", "not ours"
SCHEDULER, ADMISSION = Environment("scheduler", list_type_attributes=True), Environment("admission")


@dataclass(frozen=True)
class Target:
    """``corpus`` gives real texts; ``attempt`` gives the outcome of any text."""

    corpus: Callable[[], Iterable[str]]
    attempt: Callable[[str], str]


# --- objects ---------------------------------------------------------------------------------------------------------


def objects(version: str) -> list[dict[str, Any]]:
    """The real objects of a version, the short ones first."""
    every = [obj for obj in (*ALL_OBJECTS, *bases().values()) if obj["apiVersion"] == version]
    return sorted(every, key=lambda obj: len(json.dumps(obj)))


def decode(text: str) -> str:
    """An object of any generation, which says itself of which."""
    found = decode_any(text.encode(errors="surrogatepass"))
    if isinstance(found, BadObject):
        assert found.error
        return REFUSED
    return OTHER if found is None else ACCEPTED


def manifests(text: str) -> str:
    """A file of YAML or JSON documents."""
    try:
        read = read_manifests(text.encode(errors="surrogatepass"), "file")
    except ManifestError as error:
        assert error.what.startswith("file")
        return REFUSED
    return ACCEPTED if read.objects else REFUSED if read.bad_objects else OTHER


def documents() -> list[str]:
    """Small objects of every generation in YAML, one of them with aliases."""
    small = [objects(version)[0] for version in VERSIONS]
    aliased = "a: &a {kind: DeviceClass, apiVersion: resource.k8s.io/v1, metadata: {name: c}}\nb: *a\n"
    return [*(yaml.safe_dump(obj) for obj in small), *(json.dumps(obj) for obj in small), aliased]


# --- expressions -----------------------------------------------------------------------------------------------------


def expressions() -> list[str]:
    """Recorded selectors, those that cost much left out."""
    return sorted({row["expression"] for row in rows("cel") if len(row["expression"]) < 300})


def evaluator() -> Callable[[str], str]:
    """Compiles for both environments in turn and evaluates with the real limit of cost, on a recorded device."""
    row = max(rows("cel"), key=lambda row: len(row.get("attributes", {})))
    device = device_value(row["driver"], device_of(row))
    turn = 0

    def attempt(text: str) -> str:
        nonlocal turn
        turn += 1
        try:
            program = compile_expression(text, ADMISSION if turn % 2 else SCHEDULER)
        except CompileError as error:
            assert error.text
            return REFUSED
        outcome = evaluated(program, device, COST_LIMIT)
        return "undecided" if outcome.undecided else "failed" if outcome.error is not None else ACCEPTED

    return attempt


# --- values and words ------------------------------------------------------------------------------------------------


def values(kind: str) -> list[str]:
    """Recorded texts of one kind of value."""
    texts = {row[name] for row in rows("values") if row["kind"] == kind for name in ("a", "b")}
    return sorted(text for text in texts if len(text) < 100)


def quantity(text: str) -> str:
    """What is accepted has a canonical text that is accepted, too (beyond exa upstream forgets the suffix)."""
    try:
        parsed = Quantity.parse(text)
    except QuantityError:
        return REFUSED
    Quantity.parse(str(parsed))
    return ACCEPTED


def version(text: str) -> str:
    """What is accepted is itself again."""
    try:
        parsed = Semver.parse(text)
    except SemverError:
        return REFUSED
    assert Semver.parse(str(parsed)) == parsed
    return ACCEPTED


TAINTS = (
    "gpu.example.com/node-a/gpu-0 ecc=hot:NoExecute",
    "nic.example.com/rack-1/nic-3 link:NoSchedule",
    "gpu.example.com/a/b/gpu-7 gpu.example.com/node-b/gpu-0 example.com/ecc=double_bit.1:NoExecute",
    "gpu.example.com/node-a/gpu-7 ecc=hot:None-",
    "ecc-",
    "ecc=x:NoExecute",
)
WORDS = (
    *(
        "claims",
        "claims a b",
        "resourceclaim/a resourceclaim/b",
        "pods/x pool/y",
        "devices",
        "rct x",
        "po",
        "pools a/b",
    ),
    "deviceclass.v1.resource.k8s.io/c",
)


def words(read: Callable[[list[str]], object], text: str) -> str:
    """A command line, taken apart at blanks."""
    try:
        read(text.split(" "))
    except UsageProblem as problem:
        assert problem.message
        return REFUSED
    return ACCEPTED


def taint_words(line: list[str]) -> object:
    """With and without ``--match``."""
    return parse_words(line, match=len(line) == 1)


VERSIONS = (
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "resource.k8s.io/v1alpha2",
    "devmgmtproto.k8s.io/v1alpha1",
)
TARGETS: dict[str, Callable[[], Target]] = {
    "quantity": lambda: Target(partial(values, "quantity"), quantity),
    "semver": lambda: Target(partial(values, "semver"), version),
    "taint-words": lambda: Target(lambda: TAINTS, partial(words, taint_words)),
    "names": lambda: Target(lambda: WORDS, partial(words, lambda line: parse_targets(line, RESOURCE_CLAIM, Options()))),
    "get-words": lambda: Target(
        lambda: WORDS, partial(words, lambda line: parse_query(GetQuery(tuple(line)), Options()))
    ),
    **{
        name: lambda name=name: Target(lambda: [json.dumps(obj) for obj in objects(name)], decode)  # type: ignore[misc]
        for name in VERSIONS
    },
    "manifests": lambda: Target(documents, manifests),
    "cel": lambda: Target(expressions, evaluator()),
}
