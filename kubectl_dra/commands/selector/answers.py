"""What test-selector does: read the expression or manifests, try them on the devices in scope, print the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from kubectl_dra.api.kinds import DEVICE_CLASS
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.absent import device_not_found, pool_not_found
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.errors import CommandError, UsageProblem
from kubectl_dra.commands.shared.manifests import records_of
from kubectl_dra.commands.shared.not_found import check_node, object_not_found, published_not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import Answer, console, note_evidence, print_answers
from kubectl_dra.model.classic import ClassicResourceClaim, ClassicResourceClaimTemplate
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.model.invocation import Address
from kubectl_dra.model.resource import DeviceClass
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.safe import fmt
from kubectl_dra.output.selector.page import selector_page
from kubectl_dra.output.selector.verdicts import headline
from kubectl_dra.output.words import counted, listed, plural
from kubectl_dra.reports import selector
from kubectl_dra.reports.find import find_devices, find_pools
from kubectl_dra.reports.invocations import try_dra
from kubectl_dra.source.manifests import Loaded, Manifests


@dataclass(frozen=True, slots=True)
class SelectorArgs:
    """The command's own words and options; None for what was not given."""

    words: tuple[str, ...]
    device_class: str | None
    driver: str | None
    pool: str | None
    node: str | None
    explain: str | None
    cross_check: bool = False


def answer(options: Options, asked: SelectorArgs) -> int:
    """Run the command; returns the exit code."""
    _check(options, asked)
    found = records_of(options) if options.manifests else None
    manifests = found.manifests if found is not None else None
    cluster = read_cluster(options, selector.KINDS)
    note_evidence(cluster.state, options)
    state = cluster.state
    where = _where(asked, state)
    questions = _questions(asked, manifests, state)
    setting = selector.Setting(state, where, _classes(manifests))
    explained = _device(asked.explain, state) if asked.explain is not None else None
    reports = [selector.selector_report(question, setting, explained, asked.cross_check) for question in questions]
    _print(options, reports, state.evidence.address, single=manifests is None)
    failed = manifests is not None and _note_bad(manifests, options)
    failed = failed or (found is not None and bool(found.problems))
    return ExitCode.ERROR if failed else _code(options, reports)


def _check(options: Options, asked: SelectorArgs) -> None:
    if options.manifests and asked.words:
        raise UsageProblem("an expression and -f cannot be combined", "give one of them")
    if options.manifests and asked.device_class is not None:
        raise UsageProblem("--class and -f cannot be combined: requests name their class", "leave --class out")
    if not options.manifests and not asked.words:
        raise UsageProblem("no expression", try_dra("test-selector", "EXPR").then(", or -f FILE"))
    if len(asked.words) > 1:
        raise UsageProblem(f"{len(asked.words)} expressions: this command takes one", "put EXPR into single quotes")


# --- what is asked --------------------------------------------------------------------------------------------------


def _questions(asked: SelectorArgs, manifests: Manifests | None, state: ClusterState) -> Sequence[selector.Question]:
    if manifests is None:
        classes = state.inventory.classes
        if asked.device_class is not None and asked.device_class not in classes:
            raise object_not_found(DEVICE_CLASS, asked.device_class, classes, state.evidence)
        return (selector.expression_question(asked.words[0], asked.device_class),)
    questions = selector.manifest_questions(((each.record, each.origin) for each in manifests.objects), state.features)
    classic = sorted({each.kind.name for each in manifests.objects if _is_classic(each)})
    if not questions and classic and not manifests.bad_objects:
        what = f"{manifests.name}: {listed(classic)} of resource.k8s.io/v1alpha2 can't be tried on today's devices"
        raise CommandError(what, "kubectl dra convert -f FILE | kubectl dra test-selector -f -")
    if not questions and not manifests.bad_objects:
        hint = "name a file with a ResourceClaim, ResourceClaimTemplate or DeviceClass"
        raise CommandError(f"{manifests.name}: no selectors in it", hint)
    return questions


def _is_classic(loaded: Loaded) -> bool:
    """Whether an object may have selectors that only v1alpha2 has."""
    return loaded.kind.versions == ("v1alpha2",) or isinstance(
        loaded.record, ClassicResourceClaim | ClassicResourceClaimTemplate
    )


def _classes(manifests: Manifests | None) -> dict[str, DeviceClass]:
    records = [each.record for each in manifests.objects] if manifests is not None else []
    return {record.metadata.name: record for record in records if isinstance(record, DeviceClass)}


def _where(asked: SelectorArgs, state: ClusterState) -> selector.Where:
    drivers = sorted({pool.driver for pool in state.pools})
    driver, pool = asked.driver, asked.pool
    if driver is not None and driver not in drivers and state.evidence.complete("ResourceSlice"):
        raise published_not_found("driver", driver, drivers, state.evidence)
    if pool is not None:
        found = [each for each in find_pools(pool, state) if driver in (None, each.driver)]
        if not found:
            raise pool_not_found(pool, state)
        pool = found[0].pool
        driver = found[0].driver if len({each.driver for each in found}) == 1 else driver
    check_node(asked.node, state)
    return selector.Where(driver, pool, asked.node)


def _device(word: str, state: ClusterState) -> DeviceId:
    found = find_devices(word, state)
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(map(str, found[:4]))
        raise CommandError(f'"{word}" may be any of {len(found)} devices: {some}', f"--explain {found[0]}")
    raise device_not_found(word, state)


# --- printing -------------------------------------------------------------------------------------------------------


def _print(options: Options, reports: Sequence[selector.SelectorReport], address: Address, *, single: bool) -> None:
    wide = options.output == "wide"
    answers = [
        Answer("SelectorReport", each, partial(headline, each), partial(selector_page, each, wide, address))
        for each in reports
    ]
    print_answers(answers, options, "SelectorReportList", "selector", single=single)


def _note_bad(manifests: Manifests, options: Options) -> bool:
    """Objects of the file that could not be read; others than those with selectors are not looked at."""
    for bad in manifests.bad_objects:
        console(options).error(f"{bad.origin}: {bad.kind} {bad.name}: {bad.error}".replace(" : ", ": "))
    for kind, count in manifests.other.items():
        objects, verb = counted(count, "object"), plural("has", count)
        console(options).note(fmt("note: {}: {} of kind {} {} no selectors", manifests.name, objects, kind, verb))
    return bool(manifests.bad_objects)


def _code(options: Options, reports: Sequence[selector.SelectorReport]) -> int:
    bad = any(map(selector.is_bad, reports))
    lacking = any(report.missing or report.totals.undecided.value for report in reports)
    return finding_code(asked=options.exit_code, bad=bad, partial=lacking)
