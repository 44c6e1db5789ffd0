"""What describe-pool does: find the pools that the words name, report them, print pages or documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.absent import pool_not_found
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import each_found, is_document, note_evidence, print_described, print_pages
from kubectl_dra.commands.shared.unread import code_of, known_from_claims, nothing_read
from kubectl_dra.output.devices.pool_list import pool_list_page, pool_list_summary
from kubectl_dra.output.devices.pool_page import pool_page, pool_summary_text
from kubectl_dra.output.documents import list_head, report_bytes, write_list
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.unread import around
from kubectl_dra.reports.devices.pool import KINDS, PoolSummary, is_troubled, pool_report, pool_summaries
from kubectl_dra.reports.devices.pool_status import KIND as STATUS_KIND
from kubectl_dra.reports.find import find_pools, pool_selections
from kubectl_dra.reports.unread import POOLS, unread


def describe_pools(options: Options, words: Sequence[str]) -> int:
    """Run the command; returns the exit code."""
    state = _facts(options, words)
    if not all(find_pools(word, state) for word in words) and not state.evidence.complete("ResourceSlice"):
        # What comes near, or what a name with slashes also means, stands in slices that were not asked for.
        state = _facts(options)
    note_evidence(state, options)
    return _named(options, state, words) if words else _all(options, state)


def _facts(options: Options, words: Sequence[str] = ()) -> ClusterState:
    selections = {fields for word in words for fields in pool_selections(word)}
    cluster = read_cluster(options, (*KINDS, STATUS_KIND), slices=selections)
    return cluster.state


def _all(options: Options, state: ClusterState) -> int:
    pools = pool_summaries(state)
    found = unread(state, POOLS, shown=bool(pools))
    if is_document(options):
        items = (report_bytes("PoolSummary", pool) for pool in pools)
        write_list(
            list_head("PoolReportList", pool_list_summary(pools, found.bound), missing=found.missing),
            items,
            options.output,
        )
    elif not found.answered:
        raise nothing_read(found, options, state.evidence.address, known=known_from_claims(state, found))
    else:
        page = pool_list_page(pools, options.output == "wide", found.bound)
        print_pages([around(page, found.missing, state.evidence.address)], options)
    return code_of(found, options, state.evidence.address, bad=any(map(is_troubled, pools)))


def _named(options: Options, state: ClusterState, words: Sequence[str]) -> int:
    """A word may name several pools."""
    meant = each_found(
        words, lambda word: find_pools(word, state) or None, lambda word: pool_not_found(word, state), options
    )
    found = tuple(dict.fromkeys(pool for pools in meant for pool in pools))
    reports = [pool_report(pool, state) for pool in found]
    page = partial(pool_page, now=state.now, wide=options.output == "wide", address=state.evidence.address)
    single = len(words) == 1 and [str(pool) for pool in found] == [*words]
    print_described(
        "PoolReport",
        "pool",
        reports,
        pool_summary_text,
        page,
        options,
        state.evidence.address,
        asked=len(words),
        single=single,
    )
    code = _code(options, reports, lacking=any(report.missing for report in reports))
    return ExitCode.ERROR if len(meant) < len(words) else code


def _code(options: Options, pools: Sequence[PoolSummary], lacking: bool) -> int:
    return finding_code(asked=options.exit_code, bad=any(map(is_troubled, pools)), partial=lacking)
