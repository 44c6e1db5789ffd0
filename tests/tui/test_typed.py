"""What people type after ``:`` from habit, and what there is to copy of a page."""

from __future__ import annotations

import json

import pytest

from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.app import DraApp
from kubectl_dra.tui.printed_commands import folded, printed_commands, without_cuts
from kubectl_dra.tui.typed_words import namespace_of, parsed
from kubectl_dra.tui.views.capacity import CapacityView
from kubectl_dra.tui.views.commands import CommandsView
from kubectl_dra.tui.views.reasons import ExplanationView, PendingReasonView
from tests.commands.test_waiting_work import ending
from tests.kit import build
from tests.tui.support import LARGE, SMALL, demo_app, file_app, play

pytestmark = pytest.mark.one_in(6)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("drain node-a", ("whatif", "drain node-a")),
        ("add-node like=a,count=2", ("whatif", "add-node like=a,count=2")),
        # A taint that is removed for good is no supposition.
        ("untaint x", ("untaint", "x")),
        ("why-pending ml/a", ("pod", "ml/a")),
        ("get claims -n ml", ("claims", "-n ml")),
    ],
)
def test_words_of_commands(line, meant):
    assert parsed(line) == meant


@pytest.mark.parametrize(
    ("text", "namespace"),
    [
        ("ml", "ml"),
        ("-A", ""),
        ("--all-namespaces", ""),
        ("all", ""),
        ("-n ml", "ml"),
        ("-n  other", "other"),
        ("--namespace=ml", "ml"),
        ("-n", None),
        ("nb-gpu", None),
        ("", None),
    ],
)
def test_namespaces_after_a_word(text, namespace):
    assert namespace_of(text, {"ml", "dev"}) == namespace


def test_a_namespace_may_be_called_all():
    assert namespace_of("all", {"all"}) == "all"


def test_flags_of_kubectl_choose_the_namespace():
    async def script(ui):
        await ui.command("get claims -n ml")
        assert (ui.app.namespace, ui.app.view.filter) == ("ml", "")
        await ui.command("claims -A")
        assert (ui.app.namespace, ui.app.view.filter) == ("", "")

    play(demo_app(), script, LARGE)


def test_a_node_is_supposed_to_be_drained_by_that_word():
    async def script(ui):
        await ui.command("drain gke-prod-h100-5f3a2b1c-x9zk")
        assert isinstance(ui.app.view, CapacityView)
        assert "1 supposed" in ui.crumbs
        await ui.command("shape nosuch")
        assert "no DeviceClass “nosuch”: any-device, gpu.example.com," in ui.crumbs
        assert "gpu.example.com" in str(ui.app.view.crumb)

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("top", "NAMESPACE"),
        ("top nodes", "NODE"),
        ("top pod", "NAMESPACE"),
        ("top class", "CLASS"),
    ],
)
def test_top(line, first):
    async def script(ui):
        await ui.command(line)
        assert ui.crumbs.startswith("overview › top")
        assert any(text.strip().startswith(first) for text in ui.lines)

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lint -f x.yaml", "“lint” is a command of the shell: kubectl dra lint -f FILE"),
        ("top of", "“of” is none of nodes, classes, namespaces, pods"),
        ("nosuch", "no command “nosuch”"),
        # Several pools contain it.
        ("pool gke-prod", "pool “gke-prod” not found"),
        ("pod tariner-0", 'pod “tariner-0” not found, did you mean "trainer-0"?'),
        ("pod ml/tariner-0", 'pod “ml/tariner-0” not found, did you mean "trainer-0"?'),
        ("claim lab/lefotver", 'claim “lab/lefotver” not found, did you mean "leftover"?'),
        ("pod dev/tariner-0", "pod “dev/tariner-0” not found"),
        ("pod dev/trainer-0", "pod “dev/trainer-0” not found; there is one in namespace ml"),
    ],
)
def test_what_is_said_of_other_words(line, said):
    async def script(ui):
        await ui.command(line)
        assert said in ui.crumbs

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize(
    ("line", "crumb"),
    [
        ("pool x9zk", "gpu.example.com/gke-prod-h100-5f3a2b1c-x9zk"),
        ("claim leftov", "lab/leftover"),
        ("claim lab/leftov", "lab/leftover"),
        ("pod trainer-0", "ml/trainer-0"),
    ],
)
def test_part_of_a_name_that_only_one_has(line, crumb):
    async def script(ui):
        await ui.command(line)
        assert ui.crumbs.split("   ")[0].endswith(crumb)

    play(demo_app(), script, LARGE)


def test_lists_that_are_open_already_are_gone_back_to():
    def crumbs(ui):
        return ui.crumbs.split("   ")[0]

    async def script(ui):
        await ui.command("capacity")
        await ui.press("1")
        await ui.command("nodes")
        assert crumbs(ui) == "pools › capacity for 1 × gpu.example.com › nodes"
        await ui.press("enter", "enter", "1")
        await ui.command("nodes")
        assert crumbs(ui) == "pools › capacity for 1 × gpu.example.com › nodes"
        # What was opened above it is closed.
        await ui.press("1")
        await ui.command("capacity")
        assert crumbs(ui) == "pools › capacity for 1 × gpu.example.com"

    play(demo_app(), script, LARGE)


def test_d_describes_the_row_under_the_cursor():
    async def script(ui):
        await ui.press("2", "f", "down", "d")
        assert "Pool nic.example.com/rack-7" in ui.screen
        await ui.command("devices")
        await ui.press("d")
        assert "Device gpu.example.com/gke-prod-h100-5f3a2b1c-k4tq/gpu-0: in use" in ui.screen
        await ui.command("xray")
        await ui.press("d")
        assert "Pod dev/nb is not pending" in ui.screen

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize("size", [SMALL, (120, 36), LARGE])
def test_the_footer_of_the_ways_out_has_the_keys_for_commands(size, monkeypatch):
    monkeypatch.setattr(DraApp, "can_leave_terminal", True)

    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("x")
        assert "c copy" in ui.lines[-1]
        assert "e $EDITOR" in ui.lines[-1]

    play(demo_app(), script, size)


def test_a_class_without_selectors_says_so():
    async def script(ui):
        await ui.command("classes")
        await ui.press("enter")
        assert "DeviceClass any-device" in ui.screen
        assert "no selector: every device is of this class" in ui.screen

    play(demo_app(), script, LARGE)


def test_the_pods_of_a_reason_are_on_the_page_that_the_list_of_reasons_opens():
    async def script(ui):
        await ui.command("reasons")
        for code, view in (("DRA-211", PendingReasonView), ("DRA-116", ExplanationView)):
            await ui.press("slash")
            await ui.type(code)
            await ui.press("enter", "enter")
            assert type(ui.app.view) is view
            await ui.press("escape", "escape")

    play(demo_app(), script, LARGE)


PAGE = [
    "Claim x holds devices.",
    "To delete it: kubectl delete resourceclaim/x -n ml --context CONTEXT",
    "Why: kubectl dra why-pending pod/a -n ml",
    "End it: kubectl dra taint-device a/b/c ecc-",
    "A cluster administrator can permit it:",
    "  kubectl create clusterrole a --verb=get",
    "  kubectl create clusterrolebinding a --user=x",
    "it has no controller; kubectl drain needs --force",
    "  kubectl drain n",
    "Apply: kubectl apply -f - <<'EOF'",
    "To delete it: kubectl delete resourceclaim/x -n ml --context CONTEXT",
]


def test_the_commands_that_a_page_prints():
    assert [(found.what, found.lines) for found in printed_commands([Safe(line) for line in PAGE])] == [
        ("To delete it", ("kubectl delete resourceclaim/x -n ml --context CONTEXT",)),
        ("End it", ("kubectl dra taint-device a/b/c ecc-",)),
        (
            "A cluster administrator can permit it",
            ("kubectl create clusterrole a --verb=get", "kubectl create clusterrolebinding a --user=x"),
        ),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "kubectl get resourceclaimtemplate/gpus -n ml --context prod -o yaml | sed 's/count: 4 # all/count: 3/' | cat",
        'kubectl patch pod/a -n ml --type=json -p \'[{"op": "remove", "path": "/spec/nodeSelector/a"}]\' --context c',
        'kubectl annotate pod/a "note=it\\"s; a  note" a\\ b -n some-long-namespace --context some-long-context',
        "kubectl delete pod/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa -n ml",
        "kubectl delete pod/'unbalanced -n ml --context some-long-context --and-more-than-forty-columns",
    ],
)
def test_wide_commands_are_folded_as_a_shell_takes_them(line):
    lines = list(folded([Safe(line)], 40))
    told = " ".join(each.removesuffix("\\").strip() for each in lines)
    assert told == line
    assert all(each.endswith(" \\") for each in lines[:-1])
    short = "unbalanced" not in line
    assert (len(lines) > 1) is short
    words = [word.strip() for each in lines for word in [each.removesuffix(" \\")]]
    assert not short or all(len(each) <= 38 or " " not in each or "'" in each for each in words)


def test_printed_commands_are_folded_below_what_is_said_of_them():
    lines = [
        Safe(line) for line in (PAGE[5], "Whether it runs: kubectl get pods -A -o wide --field-selector a=b", "text")
    ]
    assert list(without_cuts(lines, 80)) == lines
    assert list(without_cuts(lines, 30)) == [
        "  kubectl create clusterrole \\",
        "      a --verb=get",
        "Whether it runs:",
        "  kubectl get pods -A -o \\",
        "      wide --field-selector \\",
        "      a=b",
        "text",
    ]


@pytest.mark.parametrize("size", [(60, 24), (80, 24), (120, 40)])
def test_a_command_of_a_page_is_copied_in_one_line(size, tmp_path):
    path = tmp_path / "all.json"
    slice_ = {"apiVersion": "resource.k8s.io/v1", **build.slice_("node-b", build.device("gpu-0"))}
    objects = [{"apiVersion": "v1", **build.node("node-a")}, slice_, *ending("old")]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8")

    async def script(ui):
        await ui.command("pod ml/old")
        assert "›" not in "".join(ui.lines[3:])
        await ui.press("c")
        assert ui.crumbs.endswith("3")
        assert size[0] < 120 or "Only if that driver is gone for good" in ui.screen
        await ui.press("down", "down", "c")
        assert ui.app.clipboard.startswith("kubectl delete pod/old -n ml --force --grace-period=0")
        assert "\\" not in ui.app.clipboard

    play(file_app(path), script, size)


def test_comments_are_folded_and_here_documents_are_not():
    comment = "# CONTEXT stands for the context of the cluster, which /tmp/some/file.yaml does not name"
    code = ["kubectl replace --force --context production-eu -f - <<'EOF'", "a: " + "b" * 50 + " c", "EOF"]
    lines = list(folded([Safe(line) for line in (comment, *code, code[0])], 40))
    assert lines[:3] == [
        "# CONTEXT stands for the context of the",
        "# cluster, which /tmp/some/file.yaml",
        "# does not name",
    ]
    first = ["kubectl replace --force --context \\", "    production-eu -f - <<'EOF'"]
    assert lines[3:] == [*first, *code[1:], *first]


@pytest.mark.parametrize("size", [(80, 24), (112, 40), (120, 40)])
def test_the_commands_of_a_way_out_are_whole_on_the_screen(size):
    async def script(ui):
        await ui.command("pod ml/trainer-0")
        await ui.press("x")
        for number in range(1, 5):
            await ui.press(str(number))
            page = ui.app.view.ways.page
            commands = [line for line in page.lines if line.startswith("kubectl")]
            assert commands
            assert max(map(len, commands)) <= page.text_columns
        await ui.press("1", "c")
        assert " \\\n" not in ui.app.clipboard

    play(demo_app(), script, size)


def test_the_command_of_a_page_is_copied():
    async def script(ui):
        await ui.command("claim lab/leftover")
        await ui.press("c")
        assert ui.app.clipboard == "kubectl delete resourceclaim/leftover -n lab"
        await ui.command("log")
        assert "kubectl delete resourceclaim/leftover" in ui.screen
        # Of a page without any it is the name.
        await ui.command("claim dev/nb-gpu")
        await ui.press("c")
        assert ui.app.clipboard == "dev/nb-gpu"

    play(demo_app(), script, LARGE)


def test_of_several_commands_one_is_chosen():
    async def script(ui):
        await ui.command("claim lab/leftover")
        found = list(printed_commands([Safe(line) for line in PAGE]))
        ui.app.push(CommandsView(found))
        await ui.settle()
        assert "To delete it" in ui.screen
        assert "kubectl create clusterrole a --verb=get (and 1 more)" in ui.screen
        await ui.press("end", "c")
        assert ui.app.clipboard.splitlines() == [line.strip() for line in PAGE[5:7]]
        assert ui.crumbs.startswith("claims › lab/leftover")

    play(demo_app(), script, LARGE)


def test_namespaces_are_completed_after_their_flag():
    async def script(ui):
        ui.send(*":claims -n m")
        await ui.settle()
        assert "ml" in ui.crumbs
        await ui.press("tab", "enter")
        assert ui.app.namespace == "ml"

    play(demo_app(), script, LARGE)


@pytest.mark.parametrize(
    ("typed", "namespace", "said"),
    [
        ("ml", "ml", ""),
        ("ml-", "ml-dev", ""),
        ("m", "", "namespaces that begin with “m”: ml, ml-dev"),
        ("nosuch", "nosuch", "no pod or claim that could be read is in namespace “nosuch”"),
    ],
)
def test_a_part_of_a_namespace(typed, namespace, said):
    async def script(ui):
        await ui.command(f"ns {typed}")
        assert ui.app.namespace == namespace
        assert said in ui.crumbs
        await ui.command("ns all")
        assert ui.app.namespace == ""

    play(demo_app(), script, LARGE)


def test_changes_are_listed_of_the_namespace_in_view():
    async def script(ui):
        await ui.command("changes")
        assert ui.crumbs.startswith("overview › changes")
        assert len(ui.app.view.grid.rows) > 20
        assert not ui.app.offers("yaml")
        assert "ml/trainer-0 pending" in ui.screen
        await ui.command("ns edge")
        assert "ml/trainer-0" not in ui.screen
        assert "claim edge/split-1-part got 1 device" in ui.screen
        # What belongs to no namespace stays.
        assert "published" in "\n".join(ui.app.view.text_of(row) for row in ui.app.view.grid.rows)
        await ui.press("slash")
        await ui.type("split-1-part")
        await ui.press("enter", "enter")
        assert ui.crumbs.split("   ")[0].endswith("edge/split-1-part")
        await ui.press("1")
        assert "ml/" not in ui.screen

    play(demo_app(), script, LARGE)
