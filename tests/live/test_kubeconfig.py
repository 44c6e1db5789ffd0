"""kubectl's rules of which cluster, user and namespace are meant."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from kubectl_dra.source.live import kubeconfig
from kubectl_dra.source.live.errors import KubeconfigError
from kubectl_dra.source.live.kubeconfig import Target, current_namespace, kubeconfig_files, target_of
from kubectl_dra.source.spec import Connection
from tests.kit import work


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
        ("[]", "is not a mapping"),
        ("a: [", "is not valid YAML"),
        ("\x00", "is not valid YAML"),
        ("clusters: 3", "needs a name"),
        ("clusters: [{}]", "needs a name"),
        ("clusters: [{name: c, cluster: 3}]", "is not a mapping"),
        ("current-context: x", 'context "x" does not exist'),
        ("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", 'cluster "c" does not exist'),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: str, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KubeconfigError, match=text):
        target_of(Connection(kubeconfig=str(path)))


MARK = "s3cr3t"


@pytest.mark.parametrize(
    "content",
    [
        f"users: [{{name: u, user: {{token: *{MARK}}}}}]",
        f"users: [{{name: u, user: {{token: !{MARK} x}}}}]",
        f"users: [{{name: u, user: {{token: '{MARK}}}}}]",
        f"users: [{{name: u, user: {{token: {MARK}: {MARK}}}}}]",
        f'users: [{{name: u, user: {{token: "{MARK}\\q"}}}}]',
        f"users: [{{name: u, user: {{token: {MARK}\x07}}}}]",
        f"users: [{{name: u, user: {{? [{MARK}] : x}}}}]",
        f"users: [{{name: u, user: {MARK}}}]",
        f"users: [{{name: u, {MARK}}}, {MARK}]",
        f"%YAML 3.0 {MARK}",
        "current-context: x\nclusters: [{name: c, cluster: {server: s}}]\nusers: [{name: u, user: {token: [MARK]}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]",
    ],
)
def test_a_broken_file_is_no_reason_to_show_what_is_in_it(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content.replace("MARK", MARK), encoding="utf-8")
    with pytest.raises(KubeconfigError) as caught:
        target_of(Connection(kubeconfig=str(path)))
    assert str(path) in caught.value.what
    assert MARK not in caught.value.what + caught.value.hint


@pytest.mark.parametrize("content", ["[" * 100_000, "{a: " * 100_000, '{"a":' * 100_000, "- " * 100_000])
def test_deep_nesting_ends_in_words(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KubeconfigError, match="line 1: nested deeper than 100 levels"):
        target_of(Connection(kubeconfig=str(path)))


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []
    read = kubeconfig._bytes
    monkeypatch.setattr(kubeconfig, "_bytes", lambda file: reads.append(file) or read(file))
    for number, server in enumerate(("https://a", "https://bc"), 1):
        clusters, contexts = {"c": {"server": server}}, {"x": {"cluster": "c"}}
        path = _write(tmp_path / "config", "x", clusters=clusters, contexts=contexts)
        for _ in range(3):
            assert target_of(Connection(kubeconfig=str(path))).server == server
        assert len(reads) == number


def test_a_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KubeconfigError, match=f"kubeconfig {tmp_path}: Is a directory"):
        target_of(Connection(kubeconfig=str(tmp_path)))
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/nosuch:{tmp_path}")
    with pytest.raises(KubeconfigError, match=f"kubeconfig {tmp_path}: Is a directory"):
        target_of(Connection())


def test_a_pipe_is_read_once_and_known_from_then_on(config: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(config.read_bytes(),), daemon=True).start()
    for _ in range(2):
        assert target_of(Connection(kubeconfig=str(pipe))).context == "dev"


def test_keys_that_occur_twice_are_what_kubectl_takes_them_for(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "current-context: x\ncurrent-context: z\nclusters: [{name: c, cluster: {server: https://a, server: https://b}}]\n"
        "contexts: [{name: z, context: {cluster: c}}]\n",
        encoding="utf-8",
    )
    assert target_of(Connection(kubeconfig=str(path))).server == "https://b"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("clusters", {"server": ["https://c"]}, 'cluster "c": server is not text'),
        ("clusters", {"server": "https://c", "insecure-skip-tls-verify": "no"}, "tls-verify is not true or false"),
        ("clusters", {"server": "https://c", "proxy-url": 8080}, "proxy-url is not text"),
        ("users", {"token": 7}, "token is not text"),
        ("users", {"exec": "login"}, "exec is not a mapping"),
        ("users", {"as-groups": "dev"}, "as-groups is not a list"),
        ("contexts", {"cluster": "c", "user": "u", "namespace": 7}, "namespace is not text"),
    ],
)
def test_fields_of_other_types_are_named(tmp_path: Path, kind: str, value: dict[str, Any], text: str) -> None:
    sections: dict[str, Any] = {
        "clusters": {"c": {"server": "https://c"}},
        "users": {"u": {}},
        "contexts": {"x": {"cluster": "c", "user": "u"}},
    }
    sections[kind] = dict.fromkeys(sections[kind], value)
    with pytest.raises(KubeconfigError, match=text):
        target_of(Connection(kubeconfig=str(_write(tmp_path / "config", "x", **sections))))


@pytest.mark.parametrize(
    "server",
    [
        *(
            "https://a b",
            "https://a:x",
            "https://a:6443\nb",
            "https://[::1",
            "gopher://a",
            "https://",
            "https://\u2100",
        ),
        *("a:x", "https://u:p/q@a", "https://u:/p@a", "https://u:p?q@a", "/a", "https://:6443"),
    ],
)
def test_a_server_that_is_no_url_is_the_clusters_fault(tmp_path: Path, server: str) -> None:
    """Not the network's: nothing is connected to, and a login in it is not repeated."""
    path = _write(tmp_path / "config", "x", clusters={"c": {"server": server}}, contexts={"x": {"cluster": "c"}})
    with pytest.raises(KubeconfigError) as caught:
        target_of(Connection(kubeconfig=str(path)))
    assert str(caught.value) == 'cluster "c": server is not a valid URL'
    assert caught.value.hint == "set server to https://HOST:PORT in the kubeconfig"


@pytest.mark.parametrize(
    ("server", "settings", "url"),
    [
        ("a", {}, "http://a"),
        ("a:80", {}, "http://a:80"),
        ("a:6443", {"insecure-skip-tls-verify": True}, "https://a:6443"),
        ("a:6443", {"certificate-authority": "/ca"}, "https://a:6443"),
        ("https://a:6443/clusters/x?y#z", {}, "https://a:6443/clusters/x"),
        ("https://[::1]:6443", {}, "https://[::1]:6443"),
    ],
)
def test_servers_as_client_go_reads_them(tmp_path: Path, server: str, settings: dict[str, Any], url: str) -> None:
    clusters = {"c": {"server": server, **settings}}
    path = _write(tmp_path / "config", "x", clusters=clusters, contexts={"x": {"cluster": "c"}})
    assert target_of(Connection(kubeconfig=str(path))).server == url


def _many(path: Path, count: int) -> Path:
    numbers = range(count)
    return _write(
        path,
        "x7",
        clusters={f"c{n}": {"server": f"https://c{n}.example.com:6443"} for n in numbers},
        users={f"u{n}": {"token": f"t{n}"} for n in numbers},
        contexts={f"x{n}": {"cluster": f"c{n}", "user": f"u{n}", "namespace": f"n{n}"} for n in numbers},
    )


def test_thousands_of_contexts(tmp_path: Path) -> None:
    path = _many(tmp_path / "config", 2000)
    assert _names(target_of(Connection(kubeconfig=str(path)))) == ("x7", "c7", "u7", "n7")
    with pytest.raises(KubeconfigError) as caught:
        target_of(Connection(kubeconfig=str(path), context="nosuch"))
    assert caught.value.hint.endswith(", and 1990 more")


def test_twice_as_many_contexts_take_twice_as_much(tmp_path: Path) -> None:
    """Reading a file takes 350 calls of functions for each context with its cluster and its user."""
    paths = {count: str(_many(tmp_path / str(count), count)) for count in (500, 1000)}
    assert (
        300_000 < work.grows_with_its_size(lambda count: target_of(Connection(kubeconfig=paths[count])), 1000) < 500_000
    )


def test_a_namespace_that_cannot_be_one_is_the_contexts_fault(tmp_path: Path) -> None:
    clusters = {"c": {"server": "https://c"}}
    for namespace in ("../kube-system", "a/b", "A", "x?", "x" * 64, "-a", "a.b", " "):
        contexts = {"x": {"cluster": "c", "namespace": namespace}}
        path = _write(tmp_path / "config", "x", clusters=clusters, contexts=contexts)
        with pytest.raises(KubeconfigError, match=r'context "x": ".*" is not a valid namespace name') as caught:
            current_namespace(Connection(kubeconfig=str(path)))
        assert "-n" in caught.value.hint


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


@pytest.mark.parametrize("connection", [Connection(), Connection(context="a"), Connection(user="u")])
@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("/missing", "KUBECONFIG names /missing, which does not exist"),
        ("/missing:/gone", "KUBECONFIG names /missing and /gone, which do not exist"),
        ("", "no kubeconfig found: ~/.kube/config does not exist"),
    ],
)
def test_files_that_are_not_there_are_named(
    connection: Connection, listed: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", listed)
    with pytest.raises(KubeconfigError) as caught:
        target_of(connection)
    assert caught.value.what == said


def test_a_server_a_token_and_no_checks_come_in_place_of_what_the_kubeconfig_says(config: Path) -> None:
    content = json.loads(config.read_text(encoding="utf-8"))
    content["clusters"][0]["cluster"]["certificate-authority-data"] = "eA=="
    content["users"][0]["user"] = {"token": "a", "as": "other", "exec": {"command": "x"}}
    config.write_text(json.dumps(content), encoding="utf-8")
    flags = Connection(kubeconfig=str(config), server="https://mine:1", token="t", insecure=True)
    target = target_of(flags)
    assert target.server == "https://mine:1"
    assert target.cluster is not None
    assert target.user is not None
    assert target.cluster.value == {"server": "https://mine:1", "insecure-skip-tls-verify": True}
    assert target.user.value == {"as": "other", "token": "t"}
    assert "'t'" not in repr(flags)


def test_a_server_needs_no_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    target = target_of(Connection(server="https://mine:1", token="t"))
    assert (target.server, target.namespace) == ("https://mine:1", "default")
    assert target_of(Connection(server="https://mine:1")).user is None
