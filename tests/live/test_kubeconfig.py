"""kubectl's rules of which cluster, user and namespace are meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.live.errors import KubeconfigError
from kubectl_dra.source.live.kubeconfig import Target, kubeconfig_files, target_of
from kubectl_dra.source.spec import Connection


def _write(path: Path, current: str = "", **sections: dict[str, Any]) -> Path:
    content: dict[str, Any] = {"current-context": current} if current else {}
    for plural, entries in sections.items():
        content[plural] = [{"name": name, plural.removesuffix("s"): value} for name, value in entries.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return _write(
        tmp_path / "config",
        "dev",
        clusters={"east": {"server": "https://east"}, "west": {"server": "https://west"}},
        users={"ann": {"token": "a"}, "bob": {"token": "b"}},
        contexts={
            "dev": {"cluster": "east", "user": "ann"},
            "prod": {"cluster": "west", "user": "bob", "namespace": "ml"},
        },
    )


def _names(target: Target) -> tuple[str, str, str, str]:
    cluster, user = target.cluster, target.user
    return target.context, cluster.name if cluster else "", user.name if user else "", target.namespace


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, ("dev", "east", "ann", "default")),
        ({"context": "prod"}, ("prod", "west", "bob", "ml")),
        ({"cluster": "west"}, ("dev", "west", "ann", "default")),
        ({"context": "prod", "user": "ann"}, ("prod", "west", "ann", "ml")),
    ],
)
def test_flags_override_the_context(config: Path, flags: dict[str, str], expected: tuple[str, ...]) -> None:
    assert _names(target_of(Connection(kubeconfig=str(config), **flags))) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flags", "text", "hint"),
    [
        ({"context": "nosuch"}, 'context "nosuch" does not exist', "dev, prod"),
        ({"cluster": "nosuch"}, 'cluster "nosuch" does not exist', "east, west"),
        ({"user": "nosuch"}, 'user "nosuch" does not exist', "ann, bob"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(
    config: Path, flags: dict[str, str], text: str, hint: str
) -> None:
    with pytest.raises(KubeconfigError, match=text) as caught:
        target_of(Connection(kubeconfig=str(config), **flags))  # type: ignore[arg-type]
    assert hint in caught.value.hint


def test_of_several_files_the_first_to_define_something_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = _write(tmp_path / "one", clusters={"c": {"server": "https://one"}}, contexts={"x": {"cluster": "c"}})
    two = _write(tmp_path / "two", "x", clusters={"c": {"server": "https://two"}, "d": {"server": "https://d"}})
    three = _write(tmp_path / "three", "y", contexts={"y": {"cluster": "d"}})
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/nosuch:{one}:{two}::{three}:{one}")
    assert kubeconfig_files() == (one, two, three)
    target = target_of(Connection())
    assert (target.context, target.server) == ("x", "https://one")
    assert target_of(Connection(context="y")).server == "https://d"


def test_relative_paths_count_from_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(
        tmp_path / "deep" / "config",
        "x",
        clusters={"c": {"server": "https://c", "certificate-authority": "ca.crt"}},
        users={"u": {"client-key": "keys/u", "tokenFile": "/abs/token", "exec": {"command": "./login"}}},
        contexts={"x": {"cluster": "c", "user": "u"}},
    )
    monkeypatch.chdir(tmp_path)
    target = target_of(Connection(kubeconfig="deep/config"))
    assert target.cluster is not None
    assert target.user is not None
    assert target.cluster.value["certificate-authority"] == str(path.parent / "ca.crt")
    assert target.user.value["client-key"] == str(path.parent / "keys/u")
    assert target.user.value["tokenFile"] == "/abs/token"
    assert Path(target.user.value["exec"]["command"]) == path.parent / "login"


def test_a_bare_login_command_is_left_to_path(tmp_path: Path) -> None:
    users = {"u": {"exec": {"command": "aws"}}}
    sections = {"clusters": {"c": {"server": "https://c"}}, "contexts": {"x": {"cluster": "c", "user": "u"}}}
    target = target_of(Connection(kubeconfig=str(_write(tmp_path / "config", "x", users=users, **sections))))
    assert target.user is not None
    assert target.user.value["exec"]["command"] == "aws"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "has no current context"),
        ("[]", "is no mapping"),
        ("a: [", "is no YAML"),
        ("\x00", "is no YAML"),
        ("clusters: 3", "needs a name"),
        ("clusters: [{}]", "needs a name"),
        ("clusters: [{name: c, cluster: 3}]", "is no mapping"),
        ("current-context: x", 'context "x" does not exist'),
        ("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", 'cluster "c" does not exist'),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KubeconfigError, match=text):
        target_of(Connection(kubeconfig=str(path)))


def test_no_kubeconfig_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(KubeconfigError, match="no kubeconfig found"):
        target_of(Connection())
    with pytest.raises(KubeconfigError, match="does not exist") as caught:
        target_of(Connection(context="x"))
    assert caught.value.hint == "set KUBECONFIG or --kubeconfig, or read a file with --from"
    with pytest.raises(KubeconfigError, match="does not exist"):
        target_of(Connection(kubeconfig=str(tmp_path / "nosuch")))


def test_a_pod_uses_its_service_account_unless_a_kubeconfig_says_otherwise(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("POD_NAMESPACE", "tools")
    target = target_of(Connection())
    assert target.in_cluster
    assert target.namespace == "tools"
    assert not target_of(Connection(kubeconfig=str(config))).in_cluster
