"""TYPE and NAME arguments are read as kubectl reads them."""

from __future__ import annotations

import pytest

from kubectl_dra.api.kinds import POD
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.types import is_any_owner, parse_targets


def parsed(*words: str, options: Options = Options()) -> tuple[str, list[str]]:  # noqa: B008 - immutable
    targets = parse_targets(words, POD, options)
    return targets.kind.name, [f"{target.kind.singular}/{target.name}" for target in targets.named]


@pytest.mark.parametrize(
    ("words", "kind", "named"),
    [
        ((), "Pod", []),
        (("pod",), "Pod", []),
        (("pods",), "Pod", []),
        (("po", "a", "b"), "Pod", ["pod/a", "pod/b"]),
        (("a", "b"), "Pod", ["pod/a", "pod/b"]),
        (("a", "pod"), "Pod", ["pod/a", "pod/pod"]),
        (("pod", "pod"), "Pod", ["pod/pod"]),
        (("pod/pod",), "Pod", ["pod/pod"]),
        (("claim",), "ResourceClaim", []),
        (("resourceclaims.resource.k8s.io", "x"), "ResourceClaim", ["resourceclaim/x"]),
        (("claim/x", "deploy/y", "pod/z"), "Pod", ["resourceclaim/x", "deployment/y", "pod/z"]),
        (("STS/web",), "Pod", ["statefulset/web"]),
        (("deployments.apps/web",), "Pod", ["deployment/web"]),
    ],
)
def test_words(words: tuple[str, ...], kind: str, named: list[str]) -> None:
    assert parsed(*words) == (kind, named)


def test_one_name_is_a_single_answer() -> None:
    assert parse_targets(["pod/a"], POD, Options()).single is not None
    assert parse_targets(["pod"], POD, Options()).single is None
    assert parse_targets(["a", "b"], POD, Options()).single is None


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("pod/a", "b"), Options(), '"b" has no type'),
        (("pod", "pod/a"), Options(), '"pod" has no type'),
        (("pdo/a",), Options(), 'unknown type "pdo", did you mean "pod"?'),
        (("zzz/a",), Options(), 'unknown type "zzz"'),
        (("pod/",), Options(), "a name is empty"),
        (("pod", ""), Options(), "a name is empty"),
        (("pod/a/b",), Options(), "more than one slash"),
        (("a",), Options(all_namespaces=True), "can't be looked up in all namespaces"),
        (("pod/a",), Options(all_namespaces=True), "can't be looked up in all namespaces"),
        (("a",), Options(selector="app=x"), "cannot be combined"),
    ],
)
def test_refused(words: tuple[str, ...], options: Options, message: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        parsed(*words, options=options)
    assert message in caught.value.message


def test_a_type_may_go_with_all_namespaces_and_a_selector() -> None:
    assert parsed("pods", options=Options(all_namespaces=True, selector="a=b")) == ("Pod", [])


def test_a_kind_that_is_nearly_a_known_one_is_an_owner() -> None:
    targets = parse_targets(["workflow/eval"], POD, Options(), owners=True)
    assert [(is_any_owner(each.kind), each.name) for each in targets.named] == [(True, "eval")]
    with pytest.raises(UsageProblem, match="did you mean"):
        parse_targets(["workloda/eval"], POD, Options(), owners=True)
