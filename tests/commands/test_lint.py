"""lint: the mistakes that real repositories contain, at their line, in four formats, with exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_dra.commands.app import run
from kubectl_dra.reports.lint.records import RULES
from tests.kit import build

CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: c}
spec: {selectors: [{cel: {expression: "true"}}]}
"""
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu
  namespace: ml
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: c
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: user
  namespace: ml
spec:
  containers:
  - name: main
    image: x
    resources:
      claims:
      - name: gpu
  resourceClaims:
  - name: gpu
    resourceClaimName: gpu
"""


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


def lint(capfd: pytest.CaptureFixture[str], *arguments: str, **files: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and findings as JSON; files are given by their stem."""
    for stem, text in files.items():
        Path(f"{stem}.yaml").write_text(text, encoding="utf-8")
    words = [word for stem in sorted(files) for word in ("-f", f"{stem}.yaml")]
    code = run(["lint", *words, *arguments, "-o", "json"])
    out, _ = capfd.readouterr()
    return code, json.loads(out)["findings"]


def slices(*devices: dict[str, Any]) -> str:
    body = build.slice_("node-1", *devices)
    items = [{"apiVersion": "resource.k8s.io/v1", **body}, {"apiVersion": "v1", **build.node()}]
    Path("cluster.json").write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    return "cluster.json"


def with_selector(expression: str) -> str:
    return f"{CLAIM}        selectors:\n        - cel:\n            expression: {json.dumps(expression)}\n"


# --- what real repositories contain -----------------------------------------------------------------------------------

TEMPLATE_HEAD = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t, namespace: a}\n"
REAL: dict[str, tuple[str, str, int, str]] = {
    "a stray bracket in a selector": (
        with_selector('device.attributes["a.b"].c == "x")'),
        "selector",
        14,
        "spec.devices.requests[0].exactly.selectors[0].cel.expression",
    ),
    "an expression without cel": (
        CLAIM + "        selectors:\n        - expression: device.driver == 'x'\n",
        "unknown-field",
        13,
        "spec.devices.requests[0].exactly.selectors[0].expression",
    ),
    "config beside devices": (
        CLAIM + "  config:\n  - opaque: {driver: x, parameters: {}}\n",
        "unknown-field",
        12,
        "spec.config",
    ),
    "a template in another namespace": (
        TEMPLATE_HEAD
        + "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}\n---\n"
        + POD.replace("resourceClaimName: gpu", "resourceClaimTemplateName: t"),
        "other-namespace",
        18,
        "spec.resourceClaims",
    ),
    "a missing apiVersion": (CLAIM.partition("\n")[2], "no-api-version", 1, "apiVersion"),
    "keys in lower case": (
        CLAIM.replace("deviceClassName", "deviceclassname"),
        "unknown-field",
        11,
        "spec.devices.requests[0].exactly.deviceclassname",
    ),
    "a spec in the spec of a claim": (
        CLAIM.partition("spec:")[0] + "spec:\n  spec: {devices: {requests: []}}\n",
        "unknown-field",
        7,
        "spec.spec",
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_mistakes_of_real_repositories(capfd: pytest.CaptureFixture[str], name: str) -> None:
    text, rule, line, path = REAL[name]
    code, found = lint(capfd, file=text)
    assert code == 1
    first = next(each for each in found if each["code"] == rule)
    assert (first["line"], first["path"], first["severity"]) == (line, path, "error")
    assert first["file"] == "file.yaml"


def test_an_attribute_that_the_driver_no_longer_publishes(capfd: pytest.CaptureFixture[str]) -> None:
    text = with_selector(f'device.attributes["{build.DRIVER}"].modle == "H100"').replace(": c\n", f": {build.DRIVER}\n")
    recorded = slices(build.device("gpu-0", attributes={"model": "H100"}))
    code, found = lint(
        capfd, "--devices", recorded, claim=text, klass=CLASS.replace("{name: c}", f"{{name: {build.DRIVER}}}")
    )
    assert code == 1
    rules = {each["code"]: each for each in found}
    assert "did you mean model" in rules["attribute-not-published"]["message"]
    assert rules["selector-error-on-device"]["line"] == 12


# --- the rest of the rules --------------------------------------------------------------------------------------------


def test_good_files_have_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert lint(capfd, a=CLASS, b=CLAIM, c=POD) == (0, [])


@pytest.mark.parametrize(
    ("files", "rule", "severity"),
    [
        ({"a": "kind: [\n"}, "unreadable", "error"),
        ({"a": "a: 1\n"}, "not-kubernetes", "note"),
        ({"a": "apiVersion: v1\nmetadata: {name: x}\n"}, "unreadable", "error"),
        ({"a": CLAIM.replace("/v1", "/v1beta1").replace("exactly:", "x:")}, "old-version", "warning"),
        ({"a": CLAIM.replace("/v1", "/v1beta7")}, "no-such-version", "error"),
        (
            {"a": "apiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\nspec: {}\n"},
            "no-such-version",
            "error",
        ),
        ({"a": CLAIM.replace("name: gpu\n      ", "name: GPU!\n      ")}, "refused", "error"),
        (
            {"a": POD.replace("    resources:\n      claims:\n      - name: gpu\n", "")},
            "claim-without-container",
            "warning",
        ),
        (
            {"a": CLAIM, "b": POD.replace("      - name: gpu\n", "      - {name: gpu, request: gpus}\n", 1)},
            "request-not-in-claim",
            "warning",
        ),
        (
            {
                "a": CLAIM + "---\n" + CLASS.replace("spec: {", "spec: {extendedResourceName: example.com/gpu, "),
                "b": POD.replace("    resources:\n", "    resources:\n      limits: {example.com/gpu: 1}\n"),
            },
            "requested-twice",
            "warning",
        ),
        ({"a": CLAIM, "b": CLAIM}, "duplicate", "warning"),
        ({"a": POD.replace("Name: gpu", "TemplateName: gpu") + "  nodeName: node-1\n"}, "node-name", "error"),
        ({"a": CLAIM, "b": POD.replace("Name: gpu", "Name: gpus")}, "name-not-found", "warning"),
        (
            {"a": CLAIM.replace("Name: c", "Name: clas"), "b": CLASS.replace("name: c", "name: class")},
            "name-not-found",
            "warning",
        ),
        ({"a": POD.replace("    image: x\n", "")}, "refused", "error"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rules(capfd: pytest.CaptureFixture[str], files: dict[str, str], rule: str, severity: str) -> None:
    code, found = lint(capfd, **files)
    assert (rule, severity) in [(each["code"], each["severity"]) for each in found]
    assert code == (1 if any(each["severity"] == "error" for each in found) else 0)


@pytest.mark.parametrize(
    ("version", "kind", "since"), [("v1beta1", "DeviceClass", 34), ("v1alpha3", "DeviceTaintRule", 37)]
)
def test_v1_has_kinds_since_different_releases(
    capfd: pytest.CaptureFixture[str], version: str, kind: str, since: int
) -> None:
    spec = "taint: {key: k, effect: NoSchedule}" if kind == "DeviceTaintRule" else "selectors: []"
    text = f"apiVersion: resource.k8s.io/{version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}}}\n"
    _, found = lint(capfd, a=text)
    told = [each["message"] for each in found if each["code"] == "old-version"]
    expected = f"resource.k8s.io/{version} is off by default; resource.k8s.io/v1 is served since 1.{since}"
    assert told == [expected]


def test_a_pod_as_it_was_read_has_its_node_from_the_scheduler(capfd: pytest.CaptureFixture[str]) -> None:
    placed = POD.replace("Name: gpu", "TemplateName: gpu") + "  nodeName: node-1\n"
    _, found = lint(capfd, a=placed.replace("  name: user", "  name: user\n  uid: u-1"))
    assert "node-name" not in [each["code"] for each in found]


def test_a_selector_that_matches_no_recorded_device(capfd: pytest.CaptureFixture[str]) -> None:
    text = with_selector("device.driver == 'nobody'").replace(": c\n", f": {build.DRIVER}\n")
    klass = CLASS.replace("{name: c}", f"{{name: {build.DRIVER}}}")
    code, found = lint(capfd, "--devices", slices(build.device("gpu-0")), claim=text, klass=klass)
    assert code == 0
    assert [each["code"] for each in found] == ["selector-matches-no-device"]


def test_a_constraint_on_an_attribute_that_one_request_has_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    """Upstream: a device without the attribute is never taken (matchAttributeConstraint.add)."""
    text = CLAIM.replace(": c\n", f": {build.DRIVER}\n")
    klass = CLASS.replace("{name: c}", f"{{name: {build.DRIVER}}}")
    there = slices(build.device("gpu-0", attributes={"root": "a", "x.example.com/numa": "0"}))
    tied = "    constraints:\n    - {requests: [gpu], matchAttribute: NAME}\n"
    for name in (f"{build.DRIVER}/root", "x.example.com/numa"):
        assert lint(capfd, "--devices", there, claim=text + tied.replace("NAME", name), klass=klass) == (0, [])
    wrong = tied.replace("NAME", f"{build.DRIVER}/numa")
    _, (found,) = lint(capfd, "--devices", there, claim=text + wrong, klass=klass)
    assert (found["code"], found["path"]) == ("attribute-not-published", "spec.devices.constraints[0].matchAttribute")
    told = f"no device of {build.DRIVER} publishes {build.DRIVER}/numa, so nothing meets the constraint; they have x."
    assert told in found["message"]


def test_names_are_found_across_files_in_any_order(capfd: pytest.CaptureFixture[str]) -> None:
    assert lint(capfd, a=POD, b=CLAIM) == (0, [])
    assert lint(capfd, a=POD) == (0, [])


def test_a_list_has_the_lines_of_its_items(capfd: pytest.CaptureFixture[str]) -> None:
    item = "\n".join(f"  {line}" for line in CLAIM.replace("deviceClassName", "className").splitlines())
    text = f"apiVersion: v1\nkind: List\nitems:\n- {item.lstrip()}\n"
    code, found = lint(capfd, file=text)
    assert code == 1
    assert [each["line"] for each in found if each["code"] == "unknown-field"] == [14]


def test_json_has_lines_as_well(capfd: pytest.CaptureFixture[str]) -> None:
    body = json.dumps(yaml.safe_load(CLAIM.replace("deviceClassName", "className")), indent=2)
    _, found = lint(capfd, file=body)
    (line,) = {each["line"] for each in found if each["code"] == "unknown-field"}
    assert '"className"' in body.splitlines()[line - 1]


# --- formats ----------------------------------------------------------------------------------------------------------

BROKEN = CLAIM.replace("deviceClassName", "deviceclassname")


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    run(["lint", *arguments])
    return capfd.readouterr().out


def test_text_names_place_rule_and_number(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(BROKEN, encoding="utf-8")
    lines = printed(capfd, "a.yaml").splitlines()
    assert lines[0].startswith(
        "a.yaml:11:9: error: ResourceClaim ml/gpu: spec.devices.requests[0].exactly.deviceclassname"
    )
    assert lines[0].endswith("the field is deviceClassName; the server drops it in another case [unknown-field]")
    assert lines[-1].startswith("1 error in 1 object of 1 file")


def test_sarif_is_what_code_scanning_reads(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a b.yaml").write_text(BROKEN, encoding="utf-8")
    log = json.loads(printed(capfd, "-f", "a b.yaml", "-o", "sarif"))
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run_,) = log["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.value for rule in RULES]
    result = run_["results"][0]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a%20b.yaml"}, "region": {"startLine": 11, "startColumn": 9}}


def test_github_makes_annotations_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a,b.yaml").write_text(BROKEN, encoding="utf-8")
    first = printed(capfd, "-f", "a,b.yaml", "-o", "github").splitlines()[0]
    assert first.startswith(
        "::error file=a%2Cb.yaml,line=11,col=9,title=No server has the field::ResourceClaim ml/gpu: "
    )


def test_hostile_names_can_not_write_commands(capfd: pytest.CaptureFixture[str]) -> None:
    text = BROKEN.replace("name: gpu\n  namespace", 'name: "x\\n::error::y\\e[2J"\n  namespace')
    Path("a.yaml").write_text(text, encoding="utf-8")
    for form in ("github", "sarif", ""):
        out = printed(capfd, "a.yaml", *(["-o", form] if form else []))
        assert "\x1b" not in out
        assert not any(line.startswith("::error::y") for line in out.splitlines())


# --- exit codes and bounds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fail_on", "expected"),
    [
        (BROKEN, "error", 1),
        (BROKEN, "never", 0),
        (CLAIM.replace("/v1", "/v1beta2"), "error", 0),
        (CLAIM.replace("/v1", "/v1beta2"), "warning", 1),
        (CLAIM, "warning", 0),
    ],
)
def test_exit_codes(capfd: pytest.CaptureFixture[str], text: str, fail_on: str, expected: int) -> None:
    assert lint(capfd, "--fail-on", fail_on, file=text)[0] == expected


@pytest.mark.parametrize("arguments", [[], ["-k", "x", "y.yaml"], ["-f", "x", "-o", "wide"], ["x", "--fail-on", "all"]])
def test_usage(arguments: list[str]) -> None:
    assert run(["lint", *arguments]) == 2


def test_what_is_not_there_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", "-f", "none.yaml"]) == 1
    assert "No such file" in capfd.readouterr().err


@pytest.mark.parametrize("text", ["", "---\n", "# only a comment\n"])
def test_nothing_to_check_is_not_a_success(capfd: pytest.CaptureFixture[str], text: str) -> None:
    Path("file.yaml").write_text(text, encoding="utf-8")
    code = run(["lint", "file.yaml"])
    out, err = capfd.readouterr()
    assert (code, out) == (1, "")
    assert "holds no objects" in err


def test_ten_thousand_objects_are_checked_in_time(capfd: pytest.CaptureFixture[str]) -> None:
    objects = (CLAIM.replace("name: gpu\n  namespace", f"name: g{number}\n  namespace") for number in range(2_000))
    Path("many.yaml").write_text("---\n".join(objects).replace("deviceClassName", "className", 1), encoding="utf-8")
    before = os.times().user
    run(["lint", "many.yaml", "-o", "json"])
    assert os.times().user - before < 30
    assert json.loads(capfd.readouterr().out)["objects"] == 2_000


PATCH = (
    "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: driver}\nspec: {template: {spec: {nodeSelector: {a: b}}}}\n"
)


@pytest.mark.parametrize(
    ("field", "item"),
    [
        ("patches", "{path: ../patch.yaml}"),
        ("patchesStrategicMerge", "../patch.yaml"),
        ("patches", "{path: ./none.yaml}"),
    ],
)
def test_patches_of_a_kustomization_are_no_objects(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, field: str, item: str
) -> None:
    """As intel-resource-drivers, jobset, lws and kuberay have them, in the folder or in one above."""
    (tmp_path / "overlay").mkdir()
    (tmp_path / "overlay" / "kustomization.yaml").write_text(
        f"resources: [../base]\n{field}: [{item}]\n", encoding="utf-8"
    )
    (tmp_path / "patch.yaml").write_text(PATCH, encoding="utf-8")
    code = run(["lint", "-R", "-f", str(tmp_path), "-o", "json"])
    found = {each["code"] for each in json.loads(capfd.readouterr().out)["findings"]}
    assert ("kustomize-patch" in found, "refused" in found, code) == (
        (False, True, 1) if "none" in item else (True, False, 0)
    )


def test_a_patch_that_is_named_alone_is_known_by_the_kustomization_beside_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """pre-commit names the changed files only."""
    (tmp_path / "kustomization.yaml").write_text(
        "patches:\n- path: patch.yaml\n- patch: |-\n    a: b\n", encoding="utf-8"
    )
    path = tmp_path / "patch.yaml"
    path.write_text("- op: remove\n  path: /spec\n", encoding="utf-8")
    assert run(["lint", "-f", str(path)]) == 0
    out = capfd.readouterr().out
    assert f"patch.yaml:1:1: note: is a patch of {tmp_path}" in out
    assert "lint -k DIR checks what it becomes" in out


@pytest.mark.parametrize("text", ["patches: 3", "[", "- a", "patches: [{path: 3}, 4, null]", "\x00", "a: *b"])
def test_broken_kustomizations_hide_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> None:
    (tmp_path / "kustomization.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "patch.yaml").write_text(PATCH, encoding="utf-8")
    assert run(["lint", "-f", str(tmp_path / "patch.yaml")]) == 1
    assert "spec.selector: Required value" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("coverage", "why"), [("forbidden", "its ResourceSlices could not be read"), ("complete", "it has no devices")]
)
def test_selectors_that_were_tried_on_nothing_are_told(capfd, tmp_path, coverage, why) -> None:
    snapshot, claim = tmp_path / "snapshot.json", tmp_path / "claim.yaml"
    assert run(["snapshot", "--from", "demo", "-o", str(snapshot)]) == 0
    document = json.loads(snapshot.read_bytes())
    document["items"] = [item for item in document["items"] if item["kind"] != "ResourceSlice"]
    for read in document["reads"]:
        if read["kind"] == "ResourceSlice":
            read["coverage"] = coverage
    snapshot.write_text(json.dumps(document), encoding="utf-8")
    claim.write_text(CLAIM, encoding="utf-8")
    capfd.readouterr()
    run(["lint", "-f", str(claim), "--devices", str(snapshot)])
    told = " ".join(capfd.readouterr().err.split())
    assert f"warning: selectors were not tried on {snapshot}: {why}" in told
