"""``explain``: the page of a reason, the index, and the reasons behind a message."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from kubectl_dra.commands.app import run
from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.output.explain.index import PARTS, matching
from kubectl_dra.output.explain.pages import FIX, SEE, reason_page

ROOT = Path(__file__).parents[2]
SECTIONS = (SEE, "What it means", "How to confirm it", FIX, "Upstream")


def call(capfd, *arguments):
    code = run(["explain", *arguments])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize("code", list(Code))
def test_every_page_has_its_sections_a_message_and_advice(code):
    page = reason_page(code)
    assert tuple(page.sections) == SECTIONS
    assert page.message
    assert len(page.advice) > 10
    assert "```" not in page.advice


@pytest.mark.parametrize("code", list(Code))
def test_the_advice_stands_by_itself_in_whole_sentences(code):
    """It is printed at the end of other pages, where nothing stands above it."""
    advice = reason_page(code).advice
    assert advice[0].isupper()
    assert advice.endswith(".")
    assert len(advice.split()) >= 10
    assert not re.search(r"\b(?:command above|shown above|see the reason|see below)\b", advice.lower())


@pytest.mark.parametrize("name", ["DRA-220", "dra-220", "220"])
def test_one_page(capfd, name):
    code, out, err = call(capfd, name)
    assert (code, err) == (0, "")
    assert out.startswith("DRA-220  no set of devices satisfies a constraint\n")
    for heading in SECTIONS:
        assert f"\n{heading}\n" in out
    assert max(map(len, (line for line in out.splitlines() if not line.startswith("    ")))) <= 80


def test_code_on_a_page_is_as_it_is_written(capfd):
    out = call(capfd, "DRA-200")[1]
    example = reason_page(Code("DRA-200")).sections[FIX].partition("```yaml\n")[2].partition("```")[0]
    assert "".join(f"    {line}\n" for line in example.splitlines()) in out


def test_the_index_has_every_code_with_its_message(capfd):
    code, out, _ = call(capfd)
    assert code == 0
    assert re.findall(r"^  (DRA-\d+)", out, re.MULTILINE) == list(Code)
    assert all(part in out for part in PARTS.values())
    assert " ".join(reason_page(Code("DRA-240")).message.split()) in " ".join(out.split())


def test_names_and_markdown(capfd):
    assert call(capfd, "-o", "name")[1].split() == list(Code)
    assert call(capfd, "DRA-310", "-o", "markdown")[1].strip() == reason_page(Code("DRA-310")).text.strip()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("0/4 nodes are available: 4 resourceclaim not available on the node.", "DRA-240"),
        ("0/1 nodes are available: request gpu: device class a.example.com does not exist.", "DRA-200"),
        ("Scheduling is blocked due to non-empty scheduling gates", "DRA-100"),
        ("invalid resource pools", "DRA-251"),
        ("DRA driver gpu.example.com is not registered", "DRA-610"),
        ("Failed to prepare dynamic resources: prepare dynamic resources: DRA driver a is not registered", "DRA-610"),
        ("plugin name gpu.example.com not found in the list of registered DRA plugins", "DRA-610"),
        ("NodePrepareResources failed for ResourceClaim train-0-gpu-x2: no such device", "DRA-611"),
        ("pod train-0 is not allowed to use ResourceClaim gpu", "DRA-612"),
        ("DRA plugin gpu.example.com not found", "DRA-610"),
    ],
)
def test_a_message_leads_to_its_reason(capfd, message, code):
    assert code in matching(message)
    assert code in call(capfd, message)[1]


@pytest.mark.parametrize(
    ("message", "whose", "helps", "code"),
    [
        (
            "0/2 nodes are available: 2 cannot align container.",
            "NodeResourceTopologyMatch, a plugin that is not in the default profile of kube-scheduler",
            "Request less of these",
            "DRA-422",
        ),
        ("cannot align pod", "NodeResourceTopologyMatch", "(TopologyAffinityError)", "DRA-422"),
        ("invalid node topology data", "NodeResourceTopologyMatch (data)", "waits for newer data", "DRA-422"),
        (
            "node(s) didn't match scheduler-enforced node affinity",
            "NodeAffinity (enforced): the rule stands in the configuration of the scheduler",
            "pluginConfig NodeAffinity",
            "DRA-422",
        ),
        (
            "pod ml/a cannot be scheduled: DRA claim c is a shared GPU claim but does not have a queue label (k)",
            "KAI, another scheduler",
            "Give claim c the label kai.scheduler/queue",
            "DRA-150",
        ),
    ],
)
def test_words_of_other_programs_are_told_as_theirs(capfd, message, whose, helps, code):
    status, out, err = call(capfd, message)
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert text.startswith(f"Words of {whose}")
    assert helps in text
    assert text.endswith(f"More: kubectl dra explain {code}")
    assert call(capfd, message, "-o", "name")[1].split() == [code]


def test_words_of_two_programs_are_told_both(capfd):
    message = "0/3 nodes are available: 1 node unregistered, 2 cannot allocate all claims."
    out = " ".join(call(capfd, message)[1].split())
    assert out.startswith("Words of HAMi")
    assert all(code in out for code in matching(message))
    assert "DRA-211" in matching(message)


def test_a_message_of_many_reasons_leads_to_the_pod(capfd):
    message = "0/6 nodes are available: 1 node(s) had untolerated taint(s), 5 cannot allocate all claims."
    out = call(capfd, message)[1]
    first, command = out.splitlines()[:2]
    assert first.startswith(f"{len(matching(message))} reasons lead to a message like this one.")
    assert command.strip() == "kubectl dra why-pending POD -n NAMESPACE"
    heads = [line for line in out.splitlines() if line in PARTS.values()]
    assert len(heads) == len(set(heads)) > 1


def test_a_message_of_many_reasons_stands_once_above_what_each_means(capfd):
    out = call(capfd, "cannot allocate all claims")[1]
    lines = out.splitlines()
    assert lines.count("  0/N nodes are available: N cannot allocate all claims.") == 1
    first, then = lines.index("  Check these first:"), lines.index("  Then these:")
    assert lines[first + 1] == "  DRA-211: the devices that match are in use"
    assert lines.index("  DRA-204: the DeviceClass selects none of the published devices") > then > first + 3
    found = re.findall(r"^  (DRA-\d+)", out, re.MULTILINE)
    assert sorted(found) == sorted(matching("cannot allocate all claims"))


PREPARING = "Failed to prepare dynamic resources: prepare dynamic resources: "


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (f"{PREPARING}NodePrepareResources failed: rpc error: code = Unavailable desc = connection error", "DRA-611"),
        (f"{PREPARING}DRA driver gpu.example.com is not registered", "DRA-610"),
        (
            f"Warning FailedPrepareDynamicResources (kubelet): {PREPARING}pod p is not allowed to use ResourceClaim c",
            "DRA-612",
        ),
        (f"{PREPARING}something new", "DRA-615"),
        (
            "failed to create containerd container: CDI device injection failed: unresolvable CDI devices a.b/c=d",
            "DRA-631",
        ),
        (
            "OCI runtime create failed: failed to inject CDI devices: unresolvable CDI devices D.c0/gpu=0: unknown",
            "DRA-631",
        ),
    ],
)
def test_a_message_that_tells_the_reason_alone_leads_to_its_page(capfd, message, code):
    """By the same patterns that why-pending reads in events, with the names that it has on a cluster."""
    assert matching(message) == (code,)
    assert call(capfd, message)[1].startswith(f"{code}  ")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["DRA-999"], 'reason "DRA-999" not found'),
        (["dra-211x"], 'did you mean "DRA-211"'),
        (["xyzzy"], 'no reason has a message like "xyzzy"'),
    ],
)
def test_what_there_is_not(capfd, words, what):
    code, out, err = call(capfd, *words)
    assert (code, out) == (1, "")
    assert what in err
    assert "try:   kubectl dra explain" in err


def test_every_page_of_why_pending_names_the_explanation(capfd):
    assert run(["why-pending", "-A", "-o", "json", "--from", "demo"]) == 0
    items = json.loads(capfd.readouterr().out)["items"]
    assert len(items) > 10
    for item in items:
        run(["why-pending", f"pod/{item['pod']['name']}", "-n", item["pod"]["namespace"], "--from", "demo"])
        assert f"kubectl dra explain {item['causes'][0]['code']}" in capfd.readouterr().out


def test_the_index_in_the_docs_is_fresh():
    spec = importlib.util.spec_from_file_location("reason_index", ROOT / "tools" / "reason_index.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.INDEX.read_text(encoding="utf-8") == module.index(), "run python tools/reason_index.py"
