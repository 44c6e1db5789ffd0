"""Every reason has a code, a meaning and a page, and nothing else has."""

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from kubectl_dra.diagnosis.codes import Code, Family
from kubectl_dra.diagnosis.records.causes import Detail

PAGES = Path(__file__).parent.parent.parent / "docs" / "reasons"
SECTIONS = ["What you see", "What it means", "How to confirm it", "How to fix it", "Upstream"]
PACKAGE = Path(__file__).parent.parent.parent / "kubectl_dra" / "diagnosis"


def test_every_code_has_a_meaning() -> None:
    meanings = [code.meaning for code in Code]
    assert all(meanings)
    assert len(set(meanings)) == len(meanings)
    assert all(re.fullmatch(r"DRA-[1-9]\d\d", code) for code in Code)


def test_rows_name_kinds_of_evidence_and_every_kind_has_a_row() -> None:
    assert {name for code in Code for name in code.evidence} == {kind.__name__ for kind in get_args(Detail)}


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.stem for path in PAGES.glob("DRA-*.md")} == set(Code)


@pytest.mark.parametrize("code", list(Code))
def test_pages_say_what_where_and_what_to_do(code: Code) -> None:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {code.meaning}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    command = re.search(r"```\n(kubectl .*)\n```", text)
    assert command is not None
    assert all(len(section.strip()) > 10 for section in text.split("## ")[1:])


def test_every_code_is_given_by_some_module() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "codes.py")
    assert [code for code in Code if f"Code.{code.name}" not in source] == []


@pytest.mark.parametrize("code", list(Code))
def test_each_page_has_an_example_in_yaml(code: Code) -> None:
    text = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    fix = text.split("## How to fix it\n")[1].split("\n## ")[0]
    examples = re.findall(r"```yaml\n(.*?)```", fix, re.DOTALL)
    assert examples
    for document in (each for example in examples for each in yaml.safe_load_all(example)):
        # Some pages show the part that matters, all others whole objects.
        assert isinstance(document, dict)
        assert document


def test_every_code_has_its_family_and_nothing_reads_it_from_the_text():
    assert {code.family for code in Code} == {*Family}
    assert all(code.value == f"DRA-{code.family}{code.value[5:]}" for code in Code)
    sources = [path for path in PACKAGE.parent.rglob("*.py") if path.name != "codes.py"]
    prefixes = [path.name for path in sources if re.search("[\"']DRA-[0-9][\"']", path.read_text(encoding="utf-8"))]
    assert prefixes == []
