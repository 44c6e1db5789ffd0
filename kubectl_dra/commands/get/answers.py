"""What get does: read what was asked for, once or again and again, and print it."""

from __future__ import annotations

from kubectl_dra.commands.get import listing
from kubectl_dra.commands.get.query import NAMESPACED, POD_GROUPS, GetQuery, parse_query
from kubectl_dra.commands.shared.cluster import read_cluster
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.show import note_evidence
from kubectl_dra.commands.shared.unread import code_of, known_from_claims
from kubectl_dra.output.exit_codes import ExitCode


def answer(options: Options, query: GetQuery) -> int:
    """Run the command; returns the exit code."""
    wanted = parse_query(query, options)
    needs, slices = listing.needs_of(query, wanted), listing.selections(wanted)
    local = all(each.type in NAMESPACED for each in wanted)
    demanded = ("PodGroup",) if any(each.type == POD_GROUPS for each in wanted) else ()
    if options.watch:
        from kubectl_dra.commands.get.watch import watch

        return watch(options, query, wanted, needs, slices=slices, local=local, demanded=demanded)
    cluster = read_cluster(options, needs, slices=slices, node=query.node, local=local, demanded=demanded)
    if listing.lacks_names(wanted, cluster):
        # What comes near stands in slices that were not asked for.
        cluster = read_cluster(options, needs, demanded=demanded)
    if any(each.type in NAMESPACED for each in wanted):
        check_namespace(options, cluster)
    note_evidence(cluster.state, options)
    call = listing.new_call(options, query, cluster)
    sections = listing.sections_of(call, wanted)
    found = listing.what_is_unread(call, wanted, sections)
    with listing.around_lists(call, found):
        listing.print_sections(call, wanted, sections, found)
    again = ("get", wanted[0].type) if len(wanted) == 1 else ()
    bad = options.exit_code and any(
        section.is_bad(row) for section in sections if section.is_bad is not None for row in section.rows
    )
    known = known_from_claims(call.state, found)
    code = code_of(found, options, call.state.evidence.address, again, bad=bad, known=known)
    return ExitCode.ERROR if call.failed else code
