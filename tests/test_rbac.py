"""deploy/rbac: the roles grant exactly what the commands read and write."""

from __future__ import annotations

from pathlib import Path

import yaml

from kubectl_dra.api.controllers import MAKERS, RUNTIMES
from kubectl_dra.api.kinds import BY_NAME, KINDS
from kubectl_dra.api.queues import READ as QUEUES
from kubectl_dra.commands.why_pending.node_groups import READ
from kubectl_dra.diagnosis.pod import needs

FOLDER = Path(__file__).parents[1] / "deploy" / "rbac"
READING = {"get", "list", "watch"}


def role(name: str) -> dict[tuple[str, str], set[str]]:
    """(group, resource) -> verbs of one role."""
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    assert (content["apiVersion"], content["kind"]) == ("rbac.authorization.k8s.io/v1", "ClusterRole")
    granted: dict[tuple[str, str], set[str]] = {}
    for rule in content["rules"]:
        assert rule.keys() == {"apiGroups", "resources", "verbs"}
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                assert (group, resource) not in granted, "granted twice"
                granted[group, resource] = set(rule["verbs"])
    return granted


def test_viewers_may_read_every_kind_that_we_read_and_nothing_else():
    assert role("view") == {(kind.group, kind.plural): READING for kind in KINDS}


def test_every_right_that_a_report_misses_is_in_the_viewers_role():
    granted = role("view")
    for need in needs.BY_KIND.values():
        kind = BY_NAME[need.kind]
        assert (need.api_group, need.resource) == (kind.group, kind.plural)
        assert set(need.rule().verbs) <= granted[need.api_group, need.resource]


def test_the_page_of_missing_data_asks_for_the_rights_of_the_viewers_role():
    page = (FOLDER.parents[1] / "docs" / "reasons" / "DRA-800.md").read_text(encoding="utf-8")
    content = yaml.safe_load(page.partition("```yaml")[2].partition("```")[0])
    told = {
        (group, name): set(r["verbs"]) for r in content["rules"] for group in r["apiGroups"] for name in r["resources"]
    }
    for group, resource in role("view"):
        assert told.get((group, "*"), told.get((group, resource))) == READING, (group, resource)


def test_node_groups_need_the_kinds_that_are_read_of_autoscalers():
    assert role("node-groups") == {(group, plural): READING for group, kinds in READ.items() for plural in kinds}


def test_queues_need_the_kinds_that_are_read_of_kueue_and_gang_schedulers():
    kinds = [(group, plural) for group, plurals in QUEUES.items() for plural in plurals]
    assert role("queues") == dict.fromkeys(kinds, READING)


def test_workloads_of_other_projects_are_got_by_their_names():
    runtimes = {(group, f"{name.lower()}s") for group, name in RUNTIMES}
    assert role("workloads") == {key: {"get"} for key in {(kind.group, kind.plural) for kind in MAKERS} | runtimes}


def test_taints_need_nothing_but_rules():
    assert role("taint") == {("resource.k8s.io", "devicetaintrules"): READING | {"create", "patch", "delete"}}
