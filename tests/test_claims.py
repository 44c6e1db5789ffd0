"""What README and docs claim in their own words, beside the generated blocks, follows from the code or from records."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from kubectl_dra.commands.completion import cache, kubectl
from kubectl_dra.model.features import NEWEST_MINOR, OLDEST_MINOR
from kubectl_dra.output.exit_codes import ExitCode
from kubectl_dra.source.demo import CLUSTER
from tests.fuzz.targets import TARGETS
from tools.figures import RECORDED

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name: str) -> str:
    """A document with its lines joined, without generated blocks."""
    text = re.sub(r"<!-- example: .*?\n```\n.*?\n```\n", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


README = text_of("README.md")


def test_the_quoted_words_of_the_scheduler_are_those_of_the_pod() -> None:
    pods = [item for item in json.loads(CLUSTER.read_text(encoding="utf-8"))["items"] if item["kind"] == "Pod"]
    (trainer,) = (pod for pod in pods if pod["metadata"]["name"] == "trainer-0")
    (said,) = (each["message"] for each in trainer["status"]["conditions"] if each["type"] == "PodScheduled")
    (quoted,) = re.findall(r"does not start: `([^`]*)`", README)
    assert said.startswith(quoted)
    (short,) = re.findall(r"Kubernetes only reports `([^`]*)`", README)
    assert short in quoted


@pytest.mark.parametrize(
    "name", ["README.md", *(str(each.relative_to(ROOT)) for each in sorted(ROOT.glob("docs/*.md")))]
)
def test_every_shown_command_is_a_block_that_is_generated(name: str) -> None:
    """A prompt outside of a block is a broken page, and one whose command is not named is kept true by nothing."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("\n$ kubectl dra ") == len(re.findall(r"<!-- example: .*-->\n```\n\$ kubectl dra ", text))


def test_releases_of_kubernetes() -> None:
    assert re.findall(r"Kubernetes 1\.(\d+) to 1\.(\d+)\)", README) == [(str(OLDEST_MINOR), str(NEWEST_MINOR))]


@pytest.mark.parametrize("name", ["README.md", "docs/platforms.md"])
def test_versions_of_python(name: str) -> None:
    classified = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: Python :: 3." in line]
    first, last = classified[0], classified[-1]
    assert PROJECT["requires-python"] == f">={first},<3.{int(last[2:]) + 1}"
    assert re.search(rf"Python {re.escape(first)} to {re.escape(last)}\b", text_of(name))


def test_exit_codes() -> None:
    listed = re.findall(r"\| (\d+) \| (\w)", text_of("docs/json.md"))
    assert [int(code) for code, _ in listed] == [code.value for code in ExitCode]


def test_how_long_completion_keeps_and_waits() -> None:
    assert cache.SECONDS == 10
    assert all("for 10 seconds" in text for text in (README, text_of("SECURITY.md")))
    assert kubectl.SECONDS == 1
    assert "ends it after a second" in text_of("SECURITY.md")


def test_make_demo_shows_what_the_readme_shows() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = re.findall(r"@echo '\$\$ kubectl dra (.*)'", makefile)
    assert shown == [f"{words} --from demo" for words in re.findall(r"@\$\(DEMO\) (.*)", makefile)]
    assert len(shown) == 2
    assert all(f"<!-- example: {words} -->" in (ROOT / "README.md").read_text(encoding="utf-8") for words in shown)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_that_set_it_up_stand_in_the_readme_and_make_their_environment(target: str) -> None:
    _, _, install = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Install\n")
    assert re.search(rf"^    make {target} +# ", install.partition("\n## ")[0], re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\n{target}: $(VENV)/ready " in makefile
    left_out = re.search(r"^OFFLINE := (.*)$", makefile, re.MULTILINE)
    assert left_out is not None
    assert {"not go", "not controlplane", "not matrix"} <= set(left_out[1].split(" and "))


def test_what_the_page_of_performance_compares_with() -> None:
    page = (ROOT / "docs" / "development" / "performance.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| ")]
    assert any("10000 nodes" in row[2] and row[5] == "Go" for row in rows)
    assert any("10000 nodes" in row[2] and row[5].startswith("kubectl") for row in rows)


def test_every_recorded_answer_is_asked_for_by_a_test() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py") if path.name != Path(__file__).name
    )
    names = [name for files in RECORDED.values() for name in files]
    assert [name for name in names if Path(name).name.partition(".")[0] not in tests] == []


def test_fuzzing() -> None:
    page = (ROOT / "docs" / "development" / "fuzzing.md").read_text(encoding="utf-8")
    assert {*re.findall(r"^\| `([^`]*)`", page, re.MULTILINE)} == set(TARGETS)


def test_how_long_a_real_cluster_churns_in_the_tests() -> None:
    (seconds,) = re.findall(
        r"^SEED, RATE, SECONDS = .*, (\d+)$", (ROOT / "tests/e2e/test_faults.py").read_text(encoding="utf-8"), re.M
    )
    assert f"through the proxy for {seconds} seconds" in text_of("docs/development/proofs.md")


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "CONTRIBUTING.md",
        *sorted(
            p.relative_to(ROOT).as_posix()
            for p in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "development").glob("*.md")]
        ),
    ],
)
def test_targets_and_tools_that_are_named_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = {*re.findall(r"(?:^    |`)make ([a-z0-9-]+)", text, re.MULTILINE)}
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    assert targets <= set(phony[1].split())
    modules = re.findall(r"python -m (tests\.[a-z.]+|bench)\b", text)
    assert all((ROOT / module.replace(".", "/") / "__main__.py").exists() for module in modules)
