"""``why-pending`` with one line per pod."""

from __future__ import annotations

import csv
import io

import pytest

from kubectl_dra.commands.app import run

COLUMNS = ["namespace", "pod", "age", "code", "needs", "closest", "reason"]


def call(capfd, *arguments):
    code = run(["why-pending", *arguments, "--from", "demo"])
    out, err = capfd.readouterr()
    return code, out, err


def rows(capfd, *arguments):
    code, out, err = call(capfd, "-A", "-o", "csv", *arguments)
    assert (code, err) == (0, "")
    head, *found = csv.reader(io.StringIO(out))
    # Titles as in every table, and as in the CSV of get.
    assert head == [column.upper() for column in COLUMNS]
    return [dict(zip(COLUMNS, each, strict=True)) for each in found]


def test_one_line_per_pod_with_whole_names(capfd):
    code, out, err = call(capfd, "-A", "-o", "wide")
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == [column.upper() for column in COLUMNS]
    found = rows(capfd)
    assert [line.split()[:2] for line in lines] == [[row["namespace"], row["pod"]] for row in found]
    trainer = next(line for line in lines if " trainer-0 " in line)
    assert trainer.split(maxsplit=8)[3] == "DRA-220"
    assert " gke-prod-h100-5f3a2b1c-x9zk 3/4 " in trainer
    assert "no node has 4 free H100 devices with the same nvlinkDomain" in trainer


def test_every_format_has_the_same_pods(capfd):
    names = [row["pod"] for row in rows(capfd)]
    assert call(capfd, "-A", "-o", "name")[1].split() == [f"pod/{name}" for name in names]
    table = call(capfd, "-A", "-o", "markdown")[1].splitlines()
    assert table[0] == "| " + " | ".join(column.upper() for column in COLUMNS) + " |"
    assert table[1] == "| " + " | ".join(["---"] * len(COLUMNS)) + " |"
    assert [line.split(" | ")[1] for line in table[2:]] == names


def test_names_of_the_named_pods_that_wait(capfd):
    assert call(capfd, "trainer-0", "-n", "ml", "-o", "name") == (0, "pod/trainer-0\n", "")
    assert call(capfd, "pod/trainer-0", "pod/serve-0", "-n", "ml", "-o", "name") == (0, "pod/trainer-0\n", "")
    waiting = call(capfd, "statefulset/sweep", "-n", "ml", "-o", "name")[1].split()
    assert waiting == [f"pod/sweep-{number}" for number in range(4)]
    assert call(capfd, "trainer-00", "-n", "ml", "-o", "name")[:2] == (1, "")


@pytest.mark.parametrize("column", ["namespace", "pod", "CODE", "needs", "closest", "reason"])
def test_sorted_by_a_column(capfd, column):
    values = [row[column.lower()] for row in rows(capfd, "--sort-by", column)]
    assert values == sorted(values)
    assert len(set(values)) > 1


def test_sorted_by_age_the_oldest_comes_first(capfd):
    names = [row["pod"] for row in rows(capfd, "--sort-by", "age")]
    assert names.index("finetune") < names.index("fpga-0") < names.index("nb-2")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["-A", "--sort-by", "size"], '"size" is not a column'),
        (["trainer-0", "-n", "ml", "-o", "csv"], "-o csv is for a list of pods"),
        (["claim", "-n", "ml", "-o", "markdown"], "-o markdown is for a list of pods"),
        (["trainer-0", "-n", "ml", "--sort-by", "age"], "--sort-by is for a list of pods"),
    ],
)
def test_what_is_no_list(capfd, arguments, what):
    code, out, err = call(capfd, *arguments)
    assert (code, out) == (2, "")
    assert what in err


def test_nothing_pending_is_nothing_in_a_pipe(capfd):
    for output in ("wide", "name", "markdown", "csv"):
        assert call(capfd, "-n", "kube-system", "-o", output)[1] == ""


def test_the_overview_counts_the_schedulers_messages(capfd):
    out = " ".join(call(capfd, "-A")[1].split())
    assert (
        "The scheduler's messages: 10 pods, the oldest created 52m ago, last said 4m ago: 0/6 nodes are available:"
        in out
    )
    assert "1 pod, created 15m ago, last said 15m ago: 0/6" in out
    # The same message about claims of their own is one.
    same = 'running "DynamicResources" filter plugin: claim …: selector #0'
    assert f"3 pods, the oldest created 2m ago, last said 2m ago: {same}" in out


def test_parts_of_the_document_by_templates(capfd):
    names = [row["pod"] for row in rows(capfd)]
    code, out, err = call(capfd, "-A", "-o", "jsonpath={.items[*].pod.name}")
    assert (code, err) == (0, "")
    assert out.split() == names
    _, table, _ = call(capfd, "-A", "-o", "custom-columns=POD:.pod.name,WHY:.causes[0].code")
    head, *lines = table.splitlines()
    assert head.split() == ["POD", "WHY"]
    assert [line.split() for line in lines] == [[row["pod"], row["code"]] for row in rows(capfd)]


def test_a_template_that_cannot_be_read_is_refused_before_anything_is_read(capfd):
    code = run(["why-pending", "-A", "-o", "jsonpath={.items[*", "--from", "/no/such/file"])
    assert code == 2
    assert "is missing at position" in capfd.readouterr().err


def test_the_reason_says_where_a_pod_would_fit(capfd):
    (row,) = [row for row in rows(capfd) if row["code"] == "DRA-900"]
    assert row["reason"].startswith("would fit now on ")


def test_the_main_reason_is_a_column_of_its_own(capfd):
    table = call(capfd, "-A", "-o", "custom-columns=POD:.pod.name,CODE:.code")[1].splitlines()
    codes = {row["pod"]: row["code"] for row in rows(capfd)}
    assert dict(line.split() for line in table[1:]) == codes


def test_causes_stand_under_few_reasons_once_for_pods_that_are_alike(capfd):
    """One sweep's cause is told for all four of them; more reasons than fit a page name the command that has them."""
    code, out, err = call(capfd, "-n", "ml")
    assert (code, err) == (0, "")
    reasons = out.split("The scheduler's messages:")[0]
    words = " ".join(reasons.split())
    assert words.count("no node has 6 free gpu.example.com devices") == 1
    assert words.count("reads the attribute nvlinkGeneration") == 1
    assert 'it waits for ResourceClaim "gpu-pool", which does not exist in its namespace' in words
    assert "the cause of each" not in out
    every = call(capfd, "-A")[1]
    assert "no node has 6 free" not in every.split("The scheduler's messages:")[0]
    assert "\nthe cause of each: kubectl dra why-pending -A -o wide --from demo\n" in every
