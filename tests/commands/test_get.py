"""get on the demo cluster: tables per type and format, filters, sorting, names, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kubectl_dra.api.kinds import BY_NAME
from kubectl_dra.commands.app import run
from kubectl_dra.commands.get.listing import parse_path
from kubectl_dra.commands.get.query import GetQuery, TypeArgs, parse_query
from kubectl_dra.commands.shared.errors import UsageProblem
from kubectl_dra.commands.shared.options import Options
from tests.golden_files import check_golden
from tests.kit import build
from tests.reports.clusters import DEMO, SMALL, document, withheld

pytestmark = pytest.mark.one_in(3)


TYPES = ("pools", "devices", "claims", "classes", "taints")


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")


def call(capfd, *arguments, source="demo"):
    code = run(["get", *arguments, "--from", str(source)])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("type_", TYPES)
def test_tables(capfd, type_):
    code, out, err = call(capfd, type_, "-A")
    lacks = (
        "note: pool nic.example.com/rack-7 lacks 1 of its 2 slices; which: kubectl dra describe-pool "
        "nic.example.com/rack-7 --from demo"
    )
    assert (code, " ".join(err.split())) == (0, lacks if type_ == "pools" else "")
    assert "\x1b" not in out
    check_golden(f"get/{type_}.txt", out)
    check_golden(f"get/{type_}-wide.txt", call(capfd, type_, "-A", "-o", "wide")[1])


@pytest.mark.parametrize("type_", TYPES)
def test_names(capfd, type_):
    names = call(capfd, type_, "-A", "-o", "name")[1].splitlines()
    rows = json.loads(call(capfd, type_, "-A", "-o", "json")[1])["items"]
    assert len(names) == len(set(names)) == len(rows)


@pytest.mark.parametrize("type_", TYPES)
def test_documents(capfd, type_):
    listed = json.loads(call(capfd, type_, "-A", "-o", "json")[1])
    assert yaml.safe_load(call(capfd, type_, "-A", "-o", "yaml")[1]) == listed
    ours = type_ in ("pools", "devices")
    assert listed["apiVersion"] == ("kubectl-dra/v1alpha1" if ours else "v1")
    kinds = {item["kind"] for item in listed["items"]}
    expected = {
        "pools": "PoolSummary",
        "devices": "Device",
        "claims": "ResourceClaim",
        "classes": "DeviceClass",
        "taints": "DeviceTaintRule",
    }
    assert kinds == {expected[type_]}


def test_an_api_object_is_the_one_of_the_cluster(capfd):
    claim = json.loads(call(capfd, "claim", "nb-gpu", "-n", "dev", "-o", "json")[1])
    assert (claim["kind"], claim["apiVersion"]) == ("ResourceClaim", "resource.k8s.io/v1")
    assert claim["status"]["allocation"]["devices"]["results"][0]["device"] == "gpu-4"


def test_a_class_by_name_is_one_line_and_wide_says_what_fits_together(capfd):
    narrow, wide = (call(capfd, "class", "gpu.example.com", *more)[1] for more in ((), ("-o", "wide")))
    check_golden("get/class-gpu.txt", narrow)
    assert [len(text.splitlines()) for text in (narrow, wide)] == [2, 2]
    assert "4 on gke-prod-h100-5f3a2b1c-k4tq (2 with one nvlinkDomain); 3 on gke-prod-h100-5f3a2b1c-x9zk" in wide


def test_filters_of_devices(capfd):
    listed = call(
        capfd,
        "devices",
        "--free",
        "--class",
        "gpu.example.com",
        "--node",
        "gke-prod-h100-5f3a2b1c-k4tq",
        "-o",
        "name",
    )[1]
    assert listed.splitlines() == [f"gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-{n}" for n in (2, 3, 5, 6)]
    matching = call(capfd, "devices", "--match", 'device.driver == "mig.example.com"', "--used", "-o", "name")[1]
    assert matching.splitlines() == [f"mig.example.com/cpu-2/card-0-{name}" for name in ("half-0", "quarter-2")]


def test_unused_claims(capfd):
    names = call(capfd, "claims", "-A", "--unused", "-o", "name")[1].splitlines()
    assert "resourceclaim.resource.k8s.io/leftover" in names


def test_labels(capfd):
    everything = call(capfd, "claims", "-A", "-o", "name")[1].splitlines()
    none = call(capfd, "claims", "-A", "-l", "nosuch=label", "-o", "name")
    assert none[1] == ""
    assert none[2] == ""
    assert len(everything) > 20


def test_nothing_found_is_said_on_stderr(capfd):
    code, out, err = call(capfd, "claims", "-n", "default")
    assert (code, out, err) == (0, "", "No claims found in namespace default.\n")


def test_no_headers_and_sorting(capfd):
    rows = call(capfd, "pools", "--no-headers", "--sort-by", ".totals.free.value")[1].splitlines()
    numbers = [int(row.split()[4]) for row in rows]
    assert numbers == sorted(numbers)
    assert len(rows) == 7


def test_sorting_by_a_column(capfd):
    rows = [row.split() for row in call(capfd, "pools", "--no-headers", "--sort-by", "DEVICES")[1].splitlines()]
    assert [int(row[3]) for row in rows] == sorted(int(row[3]) for row in rows)
    assert [row[1] for row in rows] != sorted(row[1] for row in rows)


def test_what_is_no_column_is_told_the_columns(capfd):
    code, _, err = call(capfd, "pools", "--sort-by", "size")
    assert code == 2
    assert (
        '"size" is not a column, and no item has such a field\ntry:   --sort-by driver, pool, nodes, devices, free'
        in err
    )


def test_sorting_by_a_quantity(capfd):
    path = "{.device.capacity[0].total}"
    rows = json.loads(call(capfd, "devices", "--sort-by", path, "-o", "json")[1])["items"]
    totals = [row["device"]["capacity"][0]["total"] if row["device"]["capacity"] else "" for row in rows]
    assert list(dict.fromkeys(totals)) == ["6Gi", "12Gi", "24Gi", "48Gi", "80Gi", "100G"]


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        (".metadata.name", ["metadata", "name"]),
        ("metadata.name", ["metadata", "name"]),
        ("{.items[0].x}", ["items", 0, "x"]),
        (".metadata.labels['a.b/c']", ["metadata", "labels", "a.b/c"]),
    ],
)
def test_paths(path, steps):
    assert parse_path(path) == steps


@pytest.mark.parametrize("path", [".a[", "..a", ".a[x]", "{.a}{.b}", ".a[*].b"])
def test_paths_that_are_none(path):
    with pytest.raises(UsageProblem):
        parse_path(path)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("pools",), [TypeArgs("pools")]),
        (("resourceclaims.resource.k8s.io", "a", "b"), [TypeArgs("claims", ("a", "b"))]),
        (("claim/a", "ResourceClaim/b", "class/c"), [TypeArgs("claims", ("a", "b")), TypeArgs("classes", ("c",))]),
        (
            ("device/gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",),
            [TypeArgs("devices", ("gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",))],
        ),
        (
            ("devices", "gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0"),
            [TypeArgs("devices", ("gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0",))],
        ),
    ],
)
def test_words(words, wanted):
    assert list(parse_query(GetQuery(words), Options())) == wanted


@pytest.mark.parametrize(
    ("query", "options"),
    [
        (GetQuery(("nosuch",)), Options()),
        (GetQuery(("claim/",)), Options()),
        (GetQuery(("claim/a", "b")), Options()),
        (GetQuery(("claims", "a")), Options(all_namespaces=True)),
        (GetQuery(("claims", "a")), Options(selector="x=y")),
        (GetQuery(("pools",)), Options(selector="x=y")),
        (GetQuery(("pools",), free=True), Options()),
        (GetQuery(("claims",), node="gke-prod-h100-5f3a2b1c-k4tq"), Options()),
        (GetQuery(("devices",), unused=True), Options()),
    ],
)
def test_contradictions(query, options):
    with pytest.raises(UsageProblem):
        parse_query(query, options)


def test_types_in_one_table_after_another(capfd):
    out = call(capfd, "class/gpu.example.com", "taint/ecc-errors")[1]
    assert [block.split()[0] for block in out.split("\n\n")][-1] == "TAINT"
    listed = json.loads(call(capfd, "class/gpu.example.com", "taint/ecc-errors", "-o", "json")[1])
    assert [item["kind"] for item in listed["items"]] == ["DeviceClass", "DeviceTaintRule"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pools", "node-x"], 'pool "node-x" not found'),
        (["devices", "gpu-99"], 'device "gpu-99" not found'),
        (["devices", "--node", "node-x"], 'nodes "node-x" not found; the cluster has '),
        (["devices", "--class", "gpu"], 'deviceclasses.resource.k8s.io "gpu" not found'),
        (["taints", "ecc-error"], 'did you mean "ecc-errors"'),
        (["claims", "nosuch", "-n", "ml"], 'not found in namespace "ml"'),
    ],
)
def test_errors(capfd, words, message):
    code, out, err = call(capfd, *words)
    assert (code, out) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 2


def test_a_match_that_does_not_compile_is_a_mistake_of_the_command_line(capfd):
    code, out, err = call(capfd, "devices", "--match", "device.nosuch")
    assert (code, out) == (2, "")
    assert err.splitlines()[:3] == [
        "error: --match does not compile: undefined field 'nosuch'",
        "  device.nosuch",
        "         ^^^^^^",
    ]


def test_selectors_that_fail_leave_devices_out_and_say_so(capfd):
    expression = 'device.attributes["gpu.example.com"].nvlinkGeneration >= 4'
    code, out, err = call(capfd, "devices", "--class", "gpu.example.com", "--match", expression, "-o", "name")
    assert code == 0
    assert len(out.splitlines()) == 16
    assert err.startswith("note: left out 16 devices, on which the selector fails: ")


def test_missing_rights_are_named(capfd, tmp_path):
    path = tmp_path / "blind.json"
    path.write_text(json.dumps(withheld(document(SMALL), ("ResourceClaim", "Pod"))), encoding="utf-8")
    _, out, err = call(capfd, "pools", source=path)
    assert "≤" in out
    assert "--verb=get,list,watch --resource=resourceclaims.resource.k8s.io" in err
    _, out, err = call(capfd, "claims", "-A", "--unused", source=path)
    assert out == ""
    assert "--resource=resourceclaims.resource.k8s.io,pods" in err


@pytest.mark.parametrize(("created", "noted"), [("2026-11-21T12:04:30Z", False), ("2026-11-21T15:04:35Z", True)])
def test_a_clock_that_was_behind_is_named_where_ages_are_printed(capfd, tmp_path, created, noted):
    content = json.loads(DEMO.read_text(encoding="utf-8"))
    claim = next(item for item in content["items"] if item["kind"] == "ResourceClaim")
    claim["metadata"]["creationTimestamp"] = created
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert run(["get", "claims", "-A", "--from", str(path)]) == 0
    out, err = capfd.readouterr()
    assert ("in the future" in out) is noted
    assert ("created 3h after the file was read" in err) is noted
    assert "<invalid>" not in out
    name = claim["metadata"]["name"]
    assert run(["describe-claim", name, "-n", claim["metadata"]["namespace"], "--from", str(path)]) == 0
    assert ("created in the future" in capfd.readouterr().out) is noted


def test_lists_for_spreadsheets_tickets_and_templates(capfd):
    assert run(["get", "pools", "-o", "csv", "--from", "demo"]) == 0
    head, *lines = capfd.readouterr().out.splitlines()
    assert head.startswith("DRIVER,POOL,NODES,DEVICES,FREE,PARTLY")
    assert all(line.count(",") == head.count(",") for line in lines)
    assert run(["get", "pools", "-o", "markdown", "--from", "demo"]) == 0
    table = capfd.readouterr().out.splitlines()
    assert table[0].startswith("| DRIVER | POOL | NODES | DEVICES | FREE | PARTLY | USED |")
    assert len(table) == len(lines) + 2
    assert run(["get", "pools", "-o", "custom-columns=POOL:.pool", "--from", "demo"]) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [line.split(",")[1] for line in lines]


def test_sorted_by_a_title_in_any_case(capfd):
    assert run(["get", "pools", "--sort-by", "free", "--from", "demo"]) == 0
    lower = capfd.readouterr().out
    assert run(["get", "pools", "--sort-by", "FREE", "--from", "demo"]) == 0
    assert lower == capfd.readouterr().out


def _three_devices(folder):
    """Devices whose amounts are not in the order of their digits, and whose attributes a spreadsheet would compute."""
    amounts = {"d0": ("16Gi", "=1+2"), "d1": ("8Gi", "@SUM(A1)"), "d2": ("24Gi", "plain")}
    devices = [
        build.device(name, capacity={"memory": {"value": size}}, attributes={"model": model})
        for name, (size, model) in amounts.items()
    ]
    objects = [build.node(), build.slice_("node-1", *devices)]
    for each in objects:
        each["apiVersion"] = BY_NAME[each["kind"]].api_version
    path = folder / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": objects}), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("words", [["--sort-by", "memory"], ["--sort-by", "MEMORY", "-o", "wide"]])
def test_devices_are_sorted_by_what_they_have_by_amount(capfd, tmp_path, words):
    assert run(["get", "devices", *words, "--from", _three_devices(tmp_path)]) == 0
    lines = capfd.readouterr().out.splitlines()[1:]
    assert [line.split()[2] for line in lines] == ["d1", "d0", "d2"]


def test_a_spreadsheet_has_the_attributes_and_computes_none_of_them(capfd, tmp_path):
    assert run(["get", "devices", "-o", "csv", "--from", _three_devices(tmp_path)]) == 0
    head, *lines = capfd.readouterr().out.splitlines()
    assert head.endswith(",MEMORY,MODEL")
    assert [line.rpartition(",")[2] for line in lines] == ["'=1+2", "'@SUM(A1)", "plain"]


def test_pools_that_cannot_be_allocated_from_are_a_problem(capfd, tmp_path):
    """As for describe-pool; without the flag a list that was printed is a success."""
    words = ["get", "pools", "--exit-code"]
    assert run([*words, "--from", "demo"]) == 3
    assert run([*words[:-1], "--from", "demo"]) == 0
    assert run([*words, "gpu.example.com/gke-prod-h100-5f3a2b1c-x9zk", "--from", "demo"]) == 0


def test_a_rule_on_no_device_says_what_may_be_meant(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "drain"}}
    for driver, told in ((build.DRIVER.removesuffix(".com"), True), (build.DRIVER, False)):
        taint = {"key": "xid", "value": "79", "effect": "NoExecute"}
        rule = {**made, "spec": {"deviceSelector": {"driver": driver}, "taint": taint}}
        slice_ = build.slice_("node-1", build.device("gpu-0")) | {"apiVersion": "resource.k8s.io/v1"}
        node = {"apiVersion": "v1", **build.node()}
        path = tmp_path / "cluster.json"
        path.write_text(json.dumps({"kind": "List", "items": [node, slice_, rule]}), encoding="utf-8")
        assert run(["get", "taints", "--from", str(path), "--color", "never"]) == 0
        err = capfd.readouterr().err
        words = (
            f"note: rule drain is on no device: no driver publishes devices of {driver}; did you mean {build.DRIVER}?"
        )
        assert (words in err) == told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpu-99", "the cluster has card-0-half-0"),
        ("gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-99", 'did you mean "gpu.example.com/gke-prod-h100-5f3a2b1c-'),
    ],
)
def test_a_device_that_is_not_there_is_beside_those_that_are(
    capfd: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    code, _, err = call(capfd, "device", name)
    assert code == 1
    assert f'device "{name}" not found' in err
    assert told in err


@pytest.mark.parametrize("effect", ["None", "NoSchedule"])
def test_taints_with_effect_none_are_said_to_keep_nobody_away(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, effect: str
) -> None:
    device = build.device("gpu-0", taints=[{"key": "xid", "effect": effect}])
    items = [build.node(), build.slice_("node-1", device)]
    for item in items:
        item["apiVersion"] = "v1" if item["kind"] == "Node" else "resource.k8s.io/v1"
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), encoding="utf-8")
    told = "it keeps no claims from the devices and evicts no pods"
    _, _, err = call(capfd, "taints", source=file)
    assert (f"note: 1 taint with effect None: {told}" in " ".join(err.split())) is (effect == "None")
    assert run(["taint-device", "--list", "--from", str(file)]) == 0
    assert (f"With effect None {told}." in " ".join(capfd.readouterr().out.split())) is (effect == "None")
