"""What capacity does: read the shape and the cluster, count, print the report."""

from __future__ import annotations

from functools import partial

from kubectl_dra.api.kinds import DEVICE_CLASS
from kubectl_dra.api.planned import read_all
from kubectl_dra.api.sources import Source
from kubectl_dra.cluster import ClusterState
from kubectl_dra.commands.shared.cluster import Scoped, read_cluster
from kubectl_dra.commands.shared.live import for_new_nodes, with_queues_of
from kubectl_dra.commands.shared.manifests import check_namespaces, objects_of, with_groups
from kubectl_dra.commands.shared.namespaces import check_namespace
from kubectl_dra.commands.shared.not_found import object_not_found
from kubectl_dra.commands.shared.options import Options
from kubectl_dra.commands.shared.owners import owner_reader
from kubectl_dra.commands.shared.selectors import check_selector
from kubectl_dra.commands.shared.show import Answer, note_evidence, print_answer
from kubectl_dra.commands.shared.whatif_options import kinds_demanded, kinds_everywhere, told, whole_nodes
from kubectl_dra.diagnosis.pod import needs
from kubectl_dra.diagnosis.whatif import Switch
from kubectl_dra.model.names import DEFAULT_NAMESPACE, is_label
from kubectl_dra.model.podneeds import in_group
from kubectl_dra.output.capacity.page import capacity_page, capacity_summary
from kubectl_dra.output.devices.unpublished import held_in_brief
from kubectl_dra.output.exit_codes import ExitCode, finding_code
from kubectl_dra.output.safe import Safe
from kubectl_dra.reports.capacity.capacity import CapacityReport, CapacityRequest, capacity_report
from kubectl_dra.reports.devices.unpublished import held_in_pools
from kubectl_dra.source.reading import FoundObjects


def answer(
    options: Options, device_class: str, count: int, selectors: tuple[str, ...], switches: tuple[Switch, ...]
) -> int:
    """Run the command; returns the exit code."""
    found = objects_of(options) if options.manifests else FoundObjects("")
    written = [Source(each.data, each.api_version, each.kind) for each in found.objects]
    check_namespaces(written, options)
    objects = read_all(written, "")
    pods = [plan.pod for each in objects for plan in each.pods]
    groups = needs.GROUPS if any(map(in_group, pods)) else ()
    creation = needs.of_creation(pods)
    spread = needs.SPREADING if written else ()
    kinds = needs.kinds((*needs.POD, *needs.STORAGE, *needs.PRIORITY, *spread, *groups, *creation))
    kinds = tuple(dict.fromkeys((*kinds, *kinds_everywhere(switches))))
    demanded = {*needs.kinds((*needs.STORAGE, *needs.PRIORITY, *spread, *creation)), *kinds_demanded(switches)}
    cluster = read_cluster(
        options,
        kinds,
        demanded=sorted(demanded),
        whole_nodes=whole_nodes(switches),
        everywhere=kinds_everywhere(switches),
        namespaces=(each.key.namespace for each in objects if is_label(each.key.namespace)),
    )
    if not written:
        check_namespace(options, cluster)
    if device_class:
        _check_class(cluster, device_class)
    for selector in selectors:
        check_selector("--selector", selector, cluster.state, device_class)
    namespace = cluster.namespace or DEFAULT_NAMESPACE
    state = cluster.state
    objects = read_all(written, namespace)
    shapes = CapacityRequest(device_class, count, selectors) if device_class else objects
    state = for_new_nodes(options, with_groups(options, state, objects), written, switches)
    state = with_queues_of(options, state, objects, found.objects)
    note_evidence(state, options)
    with told(state), owner_reader(options) as read:
        report = capacity_report(state, shapes, namespace, switches, read_owner=read)
    page = partial(_page, report, state)
    print_answer(Answer("CapacityReport", report, partial(capacity_summary, report), page), options)
    if found.problems:
        return ExitCode.ERROR
    return finding_code(asked=options.exit_code, bad=report.bad, partial=report.partial, answered=report.answered)


def _page(report: CapacityReport, state: ClusterState) -> list[Safe]:
    """Where slices could not be read, with what claims tell of devices in use."""
    lines = capacity_page(report, state.evidence.address)
    held = () if state.evidence.complete("ResourceSlice") else held_in_pools(state)
    return [*lines, Safe(""), *held_in_brief(held, state.now)] if held else lines


def _check_class(cluster: Scoped, name: str) -> None:
    """A class that is not there is a mistake of the command line, if all of them are known."""
    classes = cluster.state.inventory.classes
    if name not in classes and cluster.state.evidence.complete("DeviceClass"):
        raise object_not_found(DEVICE_CLASS, name, classes, cluster.state.evidence)
