"""What fingers that know kubectl type."""

from __future__ import annotations

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.version import __version__


def said(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("help",), ("--help",)),
        (("help", "get"), ("get", "--help")),
        (
            ("describe", "pool", "gke-prod-h100-5f3a2b1c-k4tq", "--from", "demo"),
            ("describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "--from", "demo"),
        ),
        (
            ("describe", "pool/gke-prod-h100-5f3a2b1c-k4tq", "--from", "demo"),
            ("describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "--from", "demo"),
        ),
        (
            ("describe", "-n", "ml", "resourceclaims.resource.k8s.io/serve-0-net", "--from", "demo"),
            ("describe-claim", "serve-0-net", "-n", "ml", "--from", "demo"),
        ),
        (
            ("--from", "demo", "describe", "pool", "gke-prod-h100-5f3a2b1c-k4tq"),
            ("describe-pool", "gke-prod-h100-5f3a2b1c-k4tq", "--from", "demo"),
        ),
    ],
)
def test_it_is_the_command_that_is_meant(
    capfd: pytest.CaptureFixture[str], typed: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    first = said(capfd, *typed)
    assert first == said(capfd, *meant)
    assert first[0] == 0


def test_the_version_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capfd, "--version")
    assert (code, err) == (0, "")
    assert out.startswith(f"kubectl-dra {__version__} ")
    assert out == said(capfd, "version")[1]


def test_the_options_of_all_commands_by_themselves(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capfd, "options")
    assert (code, err) == (0, "")
    assert all(f"  {name}" in out for name in ("--from", "--context", "--token", "-s, --server"))
    assert "--namespace" not in out
    assert out.strip() in said(capfd, "get", "--help")[1]


@pytest.mark.parametrize("words", [("describe",), ("describe", "pod", "x"), ("describe", "-n", "ml")])
def test_a_type_that_nothing_describes_is_wrong_usage(
    capfd: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    code, out, err = said(capfd, *words)
    assert (code, out) == (2, "")
    assert "types: pool, claim, podgroup, node" in err


def test_a_token_is_in_no_printed_command(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capfd, "get", "pools", "-s", "https://127.0.0.1:1", "--token", "hush-hush", "nothing")
    assert code == 1
    assert "hush" not in err


def test_a_field_selector_is_refused_with_what_there_is_instead(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "claims", "--field-selector", "metadata.name=x", "--from", "demo"]) == 2
    error = capfd.readouterr().err
    assert "--field-selector is not supported" in error
    assert "-l LABELS" in error and "--node NAME" in error
