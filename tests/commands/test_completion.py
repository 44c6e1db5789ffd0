"""What completion offers: from the commands' own declarations, from files, and from a kubectl that may misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_dra.commands.app import COMMANDS, app
from kubectl_dra.commands.completion import Completions, Directive, NextWord
from kubectl_dra.commands.completion.arguments import ARGUMENTS, selector_candidates
from kubectl_dra.commands.completion.cache import Cache
from kubectl_dra.commands.completion.complete import complete, lines, split_line
from kubectl_dra.commands.completion.line import long_name, read_line
from kubectl_dra.commands.completion.slices import device_rows, pool_rows
from kubectl_dra.commands.get import query
from kubectl_dra.output.devices import lists, node_columns, pool_columns
from kubectl_dra.output.devices import lists as lists_of_devices
from kubectl_dra.output.pending import pod_list
from tests.kit.clock import CLOCK

pytestmark = pytest.mark.one_in(5)

ROOT = Path(__file__).parents[2]
DEMO = ("--from", "demo")
COLUMNS = {
    query.POOLS: pool_columns.POOLS,
    query.DEVICES: lists_of_devices.DEVICES,
    query.CLAIMS: lists_of_devices.CLAIMS,
    query.CLASSES: lists_of_devices.CLASSES,
    query.TAINTS: lists_of_devices.TAINTS,
    query.POD_GROUPS: lists_of_devices.GROUPS,
    query.NODES: node_columns.NODES,
    query.SLICES: lists.SLICES,
    query.TEMPLATES: lists.TEMPLATES,
}
# Values that nobody can foresee.
FREE = {
    "--selector",
    "--as",
    "--as-group",
    "--server",
    "--token",
    "--request-timeout",
    "--v",
    "--remedy",
    "--timeout",
    "--copies",
    "--count",
    "--max-bytes",
}


def offered(*words: str) -> list[str]:
    return [candidate.value for candidate in complete(words).candidates]


def commands() -> dict[str, click.Command]:
    context = click.Context(app)
    return {name: command for name in COMMANDS if (command := app.get_command(context, name)) is not None}


# --- from the declarations ------------------------------------------------------------------------------------------


def test_commands_with_their_line_of_the_overview() -> None:
    found = complete([""]).candidates
    assert [(each.value, each.description) for each in found] == [(n, text) for n, (_, text) in COMMANDS.items()]
    assert offered("-n", "ml", "why") == ["why-pending"]
    assert complete(["nosuch", "--"]).directive is Directive.NO_FILES


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_of_every_command(name: str) -> None:
    command = commands()[name]
    options = (each for each in command.params if isinstance(each, click.Option) and not each.hidden)
    flags = {spelled for each in options for spelled in each.opts}
    assert set(offered(name, "-")) == {*flags, "-h", "--help"}
    assert set(offered(name, "--")) == {flag for flag in (*flags, "--help") if flag.startswith("--")}


def test_a_flag_is_offered_once_unless_it_may_be_repeated() -> None:
    words = offered("why-pending", "--context", "a", "-n=b", "--as-group=x", "--")
    assert {"--context", "--namespace"}.isdisjoint(words)
    assert "--as-group" in words


@pytest.mark.parametrize("name", COMMANDS)
def test_every_value_is_completed_or_free(name: str) -> None:
    silent = set()
    for option in commands()[name].params:
        if isinstance(option, click.Option) and not option.is_flag:
            # What a list can be sorted by depends on its type.
            found = complete([name, *(["pools"] if name == "get" else []), *DEMO, long_name(option), ""])
            if not found.candidates and found.directive & Directive.NO_FILES:
                silent.add(long_name(option))
    assert silent <= FREE | {"--context", "--cluster", "--user"}


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if name != "why-pending"])
def test_arguments_of_commands_come_from_the_cluster(name: str) -> None:
    source = ("--from", str(ROOT / "docs/examples/gang.yaml")) if name == "describe-podgroup" else DEMO
    assert offered("-n", "ml", *source, name, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["get", "pools", "-o", "n"], ["name"]),
        (["get", "pools", "-oj"], []),
        (["get", "pools", "--output=j"], ["json", "jsonpath="]),
        (["get", "pools", "-o=j"], ["json", "jsonpath="]),
        (["--color", "a"], ["auto", "always"]),
        (["convert", "--to", "v1beta"], ["v1beta2", "v1beta1"]),
        (["taint-device", "--dry-run="], ["none", "client", "server"]),
        (["taint-device", "g/a/b", "k=v:"], ["k=v:NoExecute", "k=v:NoSchedule"]),
        (["why-pending", "--", "--"], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["completion", "bash", ""], []),
        (["why-pending", *DEMO, "-n", "ml", "trai"], ["train-x", "trainer-0"]),
        (["-n", "ml", *DEMO, "why-pending", "pod", "trainer"], ["trainer-0"]),
        (["why-pending", *DEMO, "-nml", "pod/trainer"], ["pod/trainer-0"]),
        (["why-pending", *DEMO, "-n", "ml", "sts/s"], ["sts/serve", "sts/sweep"]),
        (["why-pending", *DEMO, "-A", "trai"], []),
        (["why-pending", *DEMO, "slice/"], []),
        (["why-pending", *DEMO, "-n", "ml", "trainer-0", "trai"], ["train-x"]),
        (
            ["describe-pool", *DEMO, "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq"],
            ["gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq"],
        ),
        (["describe-pool", *DEMO, "rack"], ["rack-1", "rack-7"]),
        (["get", *DEMO, "classes", "any"], ["any-device"]),
        (["get", *DEMO, "class/any"], ["class/any-device"]),
        (["get", *DEMO, "nosuch", ""], []),
        (["test-selector", *DEMO, "--driver", "nic"], ["nic.example.com"]),
        (["taint-device", *DEMO, "gpu.example.com/a/b", ""], ["ecc:NoSchedule", "ecc-"]),
        (["taint-device", *DEMO, "gpu.example.com/a/b", "ecc:"], ["ecc:NoExecute", "ecc:NoSchedule"]),
        (["get", "nodes", "--sort-by", "f"], ["free"]),
        (["get", "nosuch", "--sort-by", ""], []),
        (["why-pending", "--sort-by=c"], ["code", "closest"]),
        (["explain", "DRA-22"], ["DRA-220"]),
        (["explain", "dra-22"], ["DRA-220"]),
        (["explain", "DRA-220", ""], []),
    ],
)
def test_words(words: Sequence[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_the_columns_to_sort_by_are_those_of_the_lists() -> None:
    """Titles of several words are no candidates."""
    for type_ in query.TYPES:
        titles = [column.title.lower() for column in COLUMNS[type_]]
        assert offered("get", type_, "--sort-by", "") == [title for title in titles if " " not in title], type_
    assert tuple(offered("why-pending", "--sort-by", "")) == pod_list.COLUMNS


def test_devices_come_step_by_step() -> None:
    pools = complete(["taint-device", *DEMO, "gpu.example.com/gke-"])
    assert pools.candidates[0].value == "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/"
    assert Directive.NO_SPACE in pools.directive
    devices = complete(["taint-device", *DEMO, "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/"])
    assert [each.value for each in devices.candidates] == [
        f"gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-{n}" for n in range(8)
    ]
    assert devices.directive is Directive.NO_FILES
    assert devices.candidates[0].description.startswith("H100")


def test_files() -> None:
    assert complete(["convert", "-f", "x"]) == Completions([], Directive.DEFAULT)
    assert complete(["why-pending", "--from", ""]).directive is Directive.DEFAULT
    assert offered("why-pending", "--from", "") == ["demo"]
    assert complete(["snapshot", "-o", ""]).directive is Directive.DEFAULT


# --- inside a selector ----------------------------------------------------------------------------------------------

ROWS = [
    ["d.example.com", "p", "a", "", "", ""],
    ["d.example.com", "p", "a", "attributes", "d.example.com/model", "H100"],
    ["d.example.com", "p", "a", "attributes", "pci.example.com/root", "1"],
    ["d.example.com", "p", "a", "capacity", "d.example.com/memory", "80Gi"],
    ["d.example.com", "p", "b", "attributes", "d.example.com/model", "L40"],
]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", ["device."]),
        ("dev", ["device."]),
        ("device.a", ["device.attributes", "device.allowMultipleAllocations"]),
        ("device.attributes[", ['device.attributes["d.example.com"].', 'device.attributes["pci.example.com"].']),
        ('device.attributes["p', ['device.attributes["pci.example.com"].']),
        ("device.capacity['", ["device.capacity['d.example.com']."]),
        ('!(device.attributes["d.example.com"].?m', ['!(device.attributes["d.example.com"].?model']),
        ('a || device.capacity["d.example.com"].', ['a || device.capacity["d.example.com"].memory']),
        ('device.attributes["other"].', []),
        ('device.attributes["d.example.com"].model == "H', []),
        ("device.driver == ", ["device.driver == device."]),
    ],
)
def test_the_end_of_an_expression(text: str, ends: list[str]) -> None:
    assert [each.value for each in selector_candidates(text, lambda: ROWS)] == ends


def test_an_attribute_shows_values_that_were_seen() -> None:
    (found,) = selector_candidates('device.attributes["d.example.com"].', lambda: ROWS)
    assert found.description == "seen: H100, L40"


# --- the protocol ---------------------------------------------------------------------------------------------------


def test_lines_hold_nothing_that_a_terminal_obeys() -> None:
    hostile = Completions(
        [NextWord("a\x1b[2J"), NextWord("b\nc"), NextWord("ok", "tab\there\u202e \x1b]0;x\x07"), NextWord("")]
    )
    assert lines(hostile) == ["ok\ttab here? ?]0;x?", ":4"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kubectl-dra", []),
        ("kubectl-dra ", [""]),
        ("kubectl-dra get 'a b", ["get", "a b"]),
        ("kubectl-dra get 'a ", ["get", "a "]),
        ('kubectl-dra get "x[\\"y', ["get", 'x["y']),
        ("kubectl-dra -n ml  get", ["-n", "ml", "get"]),
        ("kubectl-dra a\\", ["a\\"]),
    ],
)
def test_a_line_is_split_as_shells_do(line: str, words: list[str]) -> None:
    assert split_line(line) == words


@given(st.lists(st.text(max_size=12), max_size=5))
def test_any_words_can_be_read(words: list[str]) -> None:
    line = read_line(words)
    assert line.current in ("", *words) or words[-1].endswith(line.current)


@given(st.text(max_size=40))
def test_any_line_can_be_split(text: str) -> None:
    assert all(isinstance(word, str) for word in split_line(text))


# --- a child kubectl ------------------------------------------------------------------------------------------------

PODS = "trainer-0   0/1   Pending   0   3d\ntrainer-1   0/1   Pending   2 (3h ago)   3d\n"


class Fake:
    """A ``kubectl`` on PATH that runs a shell script, and the executable that asks it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls = folder / "calls"
        (folder / "bin").mkdir()
        self.answers(PODS)

    def runs(self, script: str) -> None:
        path = self.folder / "bin" / "kubectl"
        path.write_text(f'#!/bin/sh\necho "$@" >> {self.calls}\n{script}\n', encoding="utf-8")
        path.chmod(0o755)

    def answers(self, text: str) -> None:
        (self.folder / "answer").write_text(text, encoding="utf-8")
        self.runs(f"cat {self.folder}/answer")

    def asked(self) -> list[str]:
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []

    def complete(self, *words: str, patience: float = 30, **variables: str) -> list[str]:
        """On a busy machine a shell may take longer than a person waits."""
        environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.folder / "kubeconfig"),
            **variables,
        }
        limits = f"cache.SECONDS = 600; kubectl.SECONDS = {patience}"
        code = f"from kubectl_dra.commands.completion import cache, kubectl; {limits}; complete.main()"
        command = [sys.executable, "-c", f"from kubectl_dra.commands.completion import complete; {code}", *words]
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=60,
            stdin=subprocess.PIPE,
        )
        assert done.stderr == ""
        return done.stdout.splitlines()


@pytest.fixture
def kubectl(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def test_live_names_with_their_state(kubectl: Fake) -> None:
    assert kubectl.complete("why-pending", "pod", "tr") == ["trainer-0\tPending", "trainer-1\tPending", ":4"]


def test_what_kubectl_is_told(kubectl: Fake) -> None:
    kubectl.complete("--context", "c", "why-pending", "-n", "ml", "--as=me", "--as-group", "g", "--kubeconfig=k", "")
    assert kubectl.asked() == [
        "get pods --no-headers --field-selector=status.phase=Pending --namespace=ml "
        "--kubeconfig=k --context=c --as=me --as-group=g --request-timeout=30s"
    ]


DRIVER = "d.example.com"


def slices(*specs: dict[str, object]) -> str:
    return json.dumps({"items": [{"spec": spec} for spec in specs]})


def slice_spec(pool: str, **more: object) -> dict[str, object]:
    return {"driver": DRIVER, "pool": {"name": pool}, "devices": [{"name": "x"}], **more}


def test_pools_of_one_node_and_of_none(kubectl: Fake) -> None:
    kubectl.answers(slices(slice_spec("a", nodeName="a"), slice_spec("shelf"), slice_spec("shelf")))
    assert kubectl.complete("describe-pool", "d") == [f"{DRIVER}/a\ta", f"{DRIVER}/shelf", ":4"]


def test_an_older_server_is_asked_in_the_version_that_it_has(kubectl: Fake) -> None:
    (kubectl.folder / "slices").write_text(slices(slice_spec("a")), encoding="utf-8")
    kubectl.runs(f'[ "$2" = --raw ] && exit 1; cat {kubectl.folder}/slices')
    assert kubectl.complete("describe-pool", "d") == [f"{DRIVER}/a", ":4"]
    assert kubectl.asked()[-1] == "get resourceslices --output=json --request-timeout=30s"


def test_taints_are_those_of_the_rules(kubectl: Fake) -> None:
    rows = "one    ecc   bad     NoSchedule\ntwo    ecc   <none>   NoExecute\n"
    (kubectl.folder / "rules").write_text(rows, encoding="utf-8")
    kubectl.runs(f'[ "$2" = devicetaintrules.resource.k8s.io ] && cat {kubectl.folder}/rules')
    assert kubectl.complete("taint-device", f"{DRIVER}/n/x", "e") == [
        "ecc=bad:NoSchedule\tone",
        "ecc:NoExecute\ttwo",
        "ecc-\tremove it",
        ":4",
    ]


def test_very_many_pools_come_driver_by_driver(kubectl: Fake) -> None:
    many = [slice_spec(f"n-{number}", nodeName=f"n-{number}") for number in range(500)]
    (kubectl.folder / "first").write_text(slices(*many), encoding="utf-8")
    (kubectl.folder / "all").write_text(slices(*many, slice_spec("n-500", nodeName="n-500")), encoding="utf-8")
    (kubectl.folder / "one").write_text(slices(slice_spec("n-7", nodeName="n-7")), encoding="utf-8")
    kubectl.runs(
        f"""case "$3" in
        *limit=500*) cat {kubectl.folder}/first ;;
        *spec.nodeName%3Dn-7*) cat {kubectl.folder}/one ;;
        *spec.nodeName*) echo '{{"items": []}}' ;;
        *spec.driver%3Dd.example.com*) cat {kubectl.folder}/all ;;
        *) exit 1 ;;
        esac"""
    )
    assert kubectl.complete("describe-pool", "") == [f"{DRIVER}/", ":6"]
    assert kubectl.complete("taint-device", "d") == [f"{DRIVER}/", ":6"]
    assert kubectl.complete("describe-pool", f"{DRIVER}/n-50") == [
        f"{DRIVER}/n-50\tn-50",
        f"{DRIVER}/n-500\tn-500",
        ":4",
    ]
    before = len(kubectl.asked())
    assert kubectl.complete("taint-device", f"{DRIVER}/n-7/") == [f"{DRIVER}/n-7/x", ":4"]
    assert len(kubectl.asked()) == before + 1, "one small question"


def test_devices_of_a_pool_that_is_not_called_like_its_node(kubectl: Fake) -> None:
    (kubectl.folder / "all").write_text(slices(slice_spec("shelf/upper"), slice_spec("other")), encoding="utf-8")
    kubectl.runs(f'case "$3" in *nodeName*) echo \'{{"items": []}}\' ;; *) cat {kubectl.folder}/all ;; esac')
    assert kubectl.complete("taint-device", f"{DRIVER}/shelf/upper/") == [f"{DRIVER}/shelf/upper/x", ":4"]
    assert kubectl.complete("taint-device", f"{DRIVER}/shelf/") == [f"{DRIVER}/shelf/upper/", ":6"]


def test_the_answer_is_kept_for_the_same_question_only(kubectl: Fake) -> None:
    question = ("why-pending", "-n", "ml", "trainer")
    first = kubectl.complete(*question)
    kubectl.answers("")
    assert kubectl.complete(*question) == first
    assert len(kubectl.asked()) == 1
    for other in (
        ["-n", "dev"],
        ["-n", "ml", "--context", "x"],
        ["-n", "ml", "--as", "x"],
        ["-n", "ml", "--user", "x"],
    ):
        assert kubectl.complete("why-pending", *other, "trainer") == [":4"]
    (kubectl.folder / "kubeconfig").write_text("current-context: other", encoding="utf-8")
    assert kubectl.complete(*question) == [":4"]


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "echo 'error: You must be logged in' >&2; exit 1",
        "printf 'Password: ' >&2; read answer; echo $answer",
        "exec 3<>/dev/tty && printf 'Password: ' >&3 && read answer <&3; echo $answer",
        "kill -9 $$",
        "printf '\\033[2J   x\\n'",
        "head -c 100000 /dev/zero",
    ],
)
def test_a_kubectl_that_misbehaves_is_not_seen(kubectl: Fake, script: str) -> None:
    kubectl.runs(script)
    assert kubectl.complete("describe-claim", "") == [":4"]
    assert kubectl.complete("get", "poo") == ["pools\tTYPE", ":4"]


@pytest.mark.parametrize("answer", ["", "[]", "{}", '{"items": null}', '{"items": [{"spec": {"pool": 1}}]}', "{"])
def test_devices_that_are_no_devices(kubectl: Fake, answer: str) -> None:
    kubectl.answers(answer)
    assert kubectl.complete("test-selector", "device.attributes[") == [":6"]


def test_devices_of_the_old_form(kubectl: Fake) -> None:
    basic = {"attributes": {"model": {"string": "A"}}, "capacity": {"memory": {"value": "1Gi"}}}
    spec = {"driver": "d.example.com", "pool": {"name": "p"}, "devices": [{"name": "x", "basic": basic}]}
    kubectl.answers(json.dumps({"items": [{"spec": spec}]}))
    expected = ['device.capacity["d.example.com"].memory\tseen: 1Gi', ":6"]
    assert kubectl.complete("test-selector", 'device.capacity["d.example.com"].') == expected


def test_a_kubectl_that_hangs_is_ended_with_all_that_it_started(kubectl: Fake) -> None:
    kubectl.runs(f"sleep 300 & echo $! > {kubectl.folder}/child; wait")
    assert kubectl.complete("describe-claim", "", patience=3) == [":4"]
    child = int((kubectl.folder / "child").read_text(encoding="utf-8"))
    for _ in range(1200):
        if (
            not Path(f"/proc/{child}").exists()
            or Path(f"/proc/{child}/stat").read_text(encoding="utf-8").split()[2] == "Z"
        ):
            return
        time.sleep(0.05)
    pytest.fail("the child's child still runs")


def test_without_kubectl_what_is_static_remains(kubectl: Fake) -> None:
    (kubectl.folder / "bin" / "kubectl").unlink()
    path = f"{kubectl.folder}/bin"
    assert kubectl.complete("describe-claim", "", PATH=path) == [":4"]
    assert kubectl.complete("get", "c", PATH=path) == ["claims\tTYPE", "classes\tTYPE", ":4"]


def test_a_bug_is_written_to_the_file_that_debugging_names(kubectl: Fake) -> None:
    log = kubectl.folder / "debug"
    code = "from kubectl_dra.commands.completion import complete as c; c.complete = lambda w: 1 // 0; c.main(['x'])"
    environment = {**os.environ, "BASH_COMP_DEBUG_FILE": str(log)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert done.returncode != 0
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")


# --- the cache ------------------------------------------------------------------------------------------------------


def test_the_cache_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "completion"
    cache = Cache(folder)
    cache.put(["k"], [["a", "b"]])
    assert cache.get(["k"]) == [["a", "b"]]
    assert cache.get(["other"]) is None
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_the_cache_forgets(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "completion", CLOCK)
    cache.put(["k"], [["a"]])
    (file,) = cache.folder.iterdir()
    assert cache.get(["k"]) == [["a"]]
    for age in (11, -60):
        os.utime(file, (CLOCK.now().timestamp() - age,) * 2)
        assert cache.get(["k"]) is None


def test_rows_that_nest_without_end_are_no_rows(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    cache = Cache(tmp_path / "completion")
    cache.put(["k"], [["a"]])
    (file,) = cache.folder.iterdir()
    file.write_bytes(deep)
    assert cache.get(["k"]) is None
    assert pool_rows(b'{"x":' + deep) == device_rows(b'{"x":' + deep) == []


def test_the_cache_stays_small(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "completion")
    for number in range(80):
        cache.put([str(number)], [])
    assert len(list(cache.folder.iterdir())) == 64
    assert cache.get(["79"]) == []


def test_a_folder_that_others_may_use_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "completion"
    folder.mkdir()
    folder.chmod(0o755)
    Cache(folder).put(["k"], [["a"]])
    assert list(folder.iterdir()) == []


def test_nothing_goes_through_a_symbolic_link(tmp_path: Path) -> None:
    private = tmp_path / "elsewhere"
    private.mkdir(mode=0o700)
    linked = tmp_path / "completion"
    linked.symlink_to(private)
    Cache(linked).put(["k"], [["a"]])
    assert list(private.iterdir()) == []
    real = Cache(private)
    real.put(["k"], [["a"]])
    (file,) = private.iterdir()
    target = tmp_path / "target.json"
    file.rename(target)
    file.symlink_to(target)
    assert real.get(["k"]) is None


@pytest.mark.parametrize("content", ["", "{", "{}", "\xff"])
def test_a_broken_file_is_no_answer(tmp_path: Path, content: str) -> None:
    cache = Cache(tmp_path / "completion")
    cache.put(["k"], [["a"]])
    (file,) = cache.folder.iterdir()
    file.write_bytes(content.encode("latin-1"))
    assert cache.get(["k"]) is None


# --- the command ----------------------------------------------------------------------------------------------------


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", **variables}
    program = Path(sys.executable).with_name("kubectl-dra")
    return subprocess.run(
        [program, "completion", *words], env=environment, capture_output=True, encoding="utf-8", check=False
    )


def test_scripts_are_those_of_the_folder_completions() -> None:
    from kubectl_dra.commands.completion.scripts import FILES, SCRIPTS

    folder = Path(__file__).parents[2] / "completions"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == {
        FILES[s]: SCRIPTS[s] for s in SCRIPTS
    }
    for shell, script in SCRIPTS.items():
        assert run(folder, shell).stdout == script


def test_install_writes_an_executable_that_answers(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:/nonexistent"
    done = run(tmp_path, "--install", PATH=path)
    assert (done.returncode, done.stderr) == (0, "")
    written = folder / "kubectl_complete-dra"
    assert done.stdout.startswith(f"Wrote {written}, which calls ")
    answer = subprocess.run([written, "why"], capture_output=True, encoding="utf-8", check=True)
    assert answer.stdout.startswith("why-pending\t")
    content = written.read_text(encoding="utf-8")
    again = run(tmp_path, "--install", PATH=path)
    assert again.stdout == f"kubectl_complete-dra is installed already: {written}\n"
    assert written.read_text(encoding="utf-8") == content


def test_install_says_where_it_can_not(tmp_path: Path) -> None:
    done = run(tmp_path, "--install", PATH="/nonexistent")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: no folder of PATH may be written to"


@pytest.mark.parametrize("words", [(), ("--install", "bash"), ("tcsh",)])
def test_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 2
