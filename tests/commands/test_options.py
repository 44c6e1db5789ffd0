"""Options are written as in kubectl, before or after the command, and read into one record."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import click
import pytest

from kubectl_dra.commands import app as app_module
from kubectl_dra.commands.app import app, run
from kubectl_dra.commands.shared import cluster
from kubectl_dra.commands.shared.cluster import read_cluster, source_spec
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.kubectl_style import KubectlStyle, rewritten
from kubectl_dra.commands.shared.options import Options, shared_options
from kubectl_dra.model.likeness import did_you_mean, similar
from kubectl_dra.source.needs import Needs

SEEN: list[tuple[Options, tuple[str, ...]]] = []


@click.command("probe", cls=KubectlStyle)
@shared_options(selector=True, watch=True, filename=True, exit_code=True, output=("wide", "json"))
@click.argument("words", nargs=-1)
def probe(options: Options, words: tuple[str, ...]) -> None:
    """Remember the options."""
    SEEN.append((options, words))


@pytest.fixture(autouse=True)
def probed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app_module.COMMANDS, "probe", ("unused", "line"))
    found = app_module.LazyGroup.get_command
    monkeypatch.setattr(
        app_module.LazyGroup,
        "get_command",
        lambda self, ctx, name: probe if name == "probe" else found(self, ctx, name),
    )


def call(*arguments: str) -> tuple[Options, tuple[str, ...]]:
    app.main(list(arguments), standalone_mode=False)
    return SEEN.pop()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), {}),
        (("-n", "ml"), {"namespace": "ml"}),
        (("-n=ml",), {"namespace": "ml"}),
        (("-nml",), {"namespace": "ml"}),
        (("--namespace=ml",), {"namespace": "ml"}),
        (("-A",), {"all_namespaces": True}),
        (("--all-namespaces=true",), {"all_namespaces": True}),
        (("-A=true",), {"all_namespaces": True}),
        (("--all-namespaces=false",), {"all_namespaces": False}),
        (("-l", "a=b"), {"selector": "a=b"}),
        (("-l=a=b",), {"selector": "a=b"}),
        (("-o", "json", "-w"), {"output": "json", "watch": True}),
        (("-ojson",), {"output": "json"}),
        (("-o=wide",), {"output": "wide"}),
        (("-f", "-"), {"filenames": ("-",)}),
        (("-f", "a", "-R", "-f", "b"), {"filenames": ("a", "b"), "recursive": True}),
        (("-k", "dir"), {"kustomize": "dir"}),
        (("--from", "demo"), {"from_": "demo"}),
        (("--from", "a", "--from=b", "--from", "a"), {"from_": "a", "from_others": ("b",)}),
        (("-v=6",), {"verbosity": 6}),
        (("-v6",), {"verbosity": 6}),
        (("--v=6",), {"verbosity": 6}),
        (("--as", "u", "--as-group", "g", "--as-group=h"), {"as_user": "u", "as_groups": ("g", "h")}),
        (("--request-timeout", "30"), {"request_timeout": 30.0}),
        (("--request-timeout=1m30s",), {"request_timeout": 90.0}),
        (("--request-timeout=500ms",), {"request_timeout": 0.5}),
        (("--request-timeout=0",), {"request_timeout": None}),
        (("--max-bytes=512Mi",), {"max_bytes": 512 << 20}),
        (("--max-bytes", "16GiB"), {"max_bytes": 16 << 30}),
        (("--max-bytes=1000",), {"max_bytes": 1000}),
        (("--exit-code", "--color=never"), {"exit_code": True, "color": "never"}),
        (
            ("--feature-gates", "A=true,B=false", "--feature-gates=C=true"),
            {"feature_gates": ("A=true,B=false", "C=true")},
        ),
        (
            ("--context=c", "--cluster=k", "--user=u", "--kubeconfig=f"),
            {"context": "c", "cluster": "k", "user": "u", "kubeconfig": "f"},
        ),
    ],
)
def test_options_after_the_command(arguments: Sequence[str], expected: dict[str, Any]) -> None:
    assert call("probe", *arguments) == (Options(**expected), ())


def test_options_before_the_command_count_unless_given_again() -> None:
    options, _ = call("-n", "a", "--context=c", "-v=2", "probe", "-n", "b")
    assert options == Options(namespace="b", context="c", verbosity=2)


def test_options_between_words() -> None:
    assert call("probe", "pod", "-n", "ml", "a") == (Options(namespace="ml"), ("pod", "a"))
    assert call("probe", "--", "-n=x", "--watch=true") == (Options(), ("-n=x", "--watch=true"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "jsonpath={.x}"),
        ("-o", "yaml"),
        ("--request-timeout", "soon"),
        ("--request-timeout", "1x30s"),
        ("--request-timeout", "-5s"),
        ("--max-bytes", "0"),
        ("--max-bytes", "many"),
        ("--max-bytes", "-1Gi"),
        ("-v", "high"),
        ("--color", "blue"),
        ("--nope",),
        ("-n",),
        ("--watch=maybe",),
    ],
)
def test_refused(arguments: Sequence[str]) -> None:
    with pytest.raises(click.UsageError):
        call("probe", *arguments)


def test_an_unknown_output_names_ours_and_jq() -> None:
    with pytest.raises(UsageProblem) as caught:
        call("probe", "-o", "custom-columns=NAME:.x")
    assert "wide, json" in caught.value.message
    assert "jq" in caught.value.hint


def test_rewriting_touches_only_known_options() -> None:
    assert rewritten(["-x=1", "--flag=true", "a=b"], []) == ["-x=1", "--flag=true", "a=b"]


def test_the_source_that_options_name() -> None:
    spec = source_spec(Options(namespace="ml", context="c", as_groups=("g",), request_timeout=3.0), ["Pod"])
    assert (spec.file, spec.namespace, spec.needs) == (None, "ml", Needs(frozenset({"Pod"})))
    assert (spec.connection.context, spec.connection.as_groups, spec.connection.request_timeout) == ("c", ("g",), 3.0)


def test_opening_the_demo() -> None:
    cluster = read_cluster(Options(from_="demo"))
    assert cluster.namespace == "default"
    assert cluster.state.features.minor == 37
    assert cluster.state.inventory.pods
    assert read_cluster(Options(from_="demo", all_namespaces=True, namespace="x")).namespace == ""
    gated = read_cluster(Options(from_="demo", feature_gates=("DRADeviceTaintRules=false",)))
    assert gated.state.features.device_taints
    assert not gated.state.features.device_taint_rules


@pytest.mark.parametrize(
    "gates", ["Nope=true", "DRADeviceTaints", "DRADeviceTaints=maybe", "DynamicResourceAllocation=false"]
)
def test_gates_that_do_not_exist_or_can_not_be_set(gates: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        read_cluster(Options(from_="demo", feature_gates=(gates,)))
    assert caught.value.hint


def test_near_misses() -> None:
    assert similar("trianer-0", ["trainer-0", "serve-0", "x"]) == ("trainer-0",)
    assert similar("big-gpu", ["gpu-big", "nic-big", "gpu-big-2"]) == ("gpu-big",)
    assert similar("a-gpu", ["gpu-a"]) == similar("gpu-0-1", ["0-gpu-1"]) == ()
    assert did_you_mean("zzz", ["a"]) == ""
    assert did_you_mean("Pods", ["pod", "pods"]) == ', did you mean "pods" or "pod"?'


@pytest.mark.parametrize("flags", [("--context", "prod"), ("--kubeconfig", "x"), ("--as", "me")])
def test_a_file_and_a_live_cluster_exclude_each_other(capfd, flags) -> None:
    assert run(["why-pending", "--from", "demo", *flags]) == 2
    assert f"--from and {flags[0]} cannot be combined" in capfd.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("-f", "a", "-k", "b"),
        ("-R",),
        ("-R", "-k", "b"),
        ("-f", "-", "--from", "-"),
        ("-f", "-", "-f", "a", "--from", "b", "--from", "-"),
        ("--from", "demo", "--from", "a"),
    ],
)
def test_inputs_that_can_not_be_combined(arguments: Sequence[str]) -> None:
    with pytest.raises(UsageProblem):
        call("probe", *arguments)


def test_a_command_that_goes_on_collects_what_it_leaves_behind(monkeypatch):
    monkeypatch.setattr(cluster, "_MANY_OBJECTS", -1)
    try:
        with cluster.unwatched():
            pass
        assert not gc.isenabled()
        cluster.goes_on()
        assert gc.isenabled()
    finally:
        gc.enable()
