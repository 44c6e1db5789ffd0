"""The seventeen deviations from the real scheduler that were once found: each is mended, and has a test that is named.

Numbers as in the project's specification of the scheduler (chapter 9). ``edge N`` is a small cluster of ``edges``, with
the answer of the real scheduler.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.scheduler.edges.all import EDGES
from tests.scheduler.test_edges import ELSEWHERE

_TESTS: Final = Path(__file__).parents[1]
#: What deviated, and the tests: numbers of edges, or file and name.
DEVIATIONS: Final[dict[int, tuple[str, tuple[int | tuple[str, str], ...]]]] = {
    1: (
        "anti-affinity of nominated pods counted even where InterPodAffinity is skipped",
        (
            21,
            ("diagnosis/test_other_plugins.py", "test_pods_about_to_come_keep_nobody_away_but_beside_others_that_do"),
        ),
    ),
    2: (
        "nominated pods of other schedulers, and finished ones; who may be on its way although of lower priority",
        (
            22,
            ("diagnosis/test_nodefilters.py", "test_nominated_pods_of_other_schedulers_or_of_lower_priority_do_not"),
            ("diagnosis/test_nodefilters.py", "test_nominated_pods_that_are_finished_do_not"),
            (
                "diagnosis/test_preempting.py",
                "test_a_pod_of_lower_priority_that_may_be_being_bound_is_an_assumption",
            ),
        ),
    ),
    3: ("the text of a bound volume that is gone", (53, ("diagnosis/test_nodefilters.py", "test_whose_words"))),
    4: ("more texts of volumes, Permit and pods that can't be parsed", (24, 50, 51, 52, 55)),
    5: (
        "texts of gangs are taken apart",
        (("scheduler/test_attempt.py", "test_the_tail_of_a_gang_is_taken_off_whole"),),
    ),
    6: (
        "DefaultPreemption has not always the last word",
        (
            6,
            99,
            ("scheduler/test_preemption.py", "test_who_is_evicted_is_told_instead_of_the_claim_that_is_freed"),
        ),
    ),
    7: (
        "NodeDeclaredFeatures decides, and is the last",
        (
            46,
            ("diagnosis/test_other_plugins.py", "test_what_only_some_nodes_declare"),
            ("diagnosis/test_other_plugins.py", "test_a_node_that_lacks_devices_shows_that_before_its_features"),
        ),
    ),
    8: ("volumes that no node limits", (77,)),
    9: (
        "VolumeRestrictions decides where a claim is missing or for one pod",
        (6, 70, ("diagnosis/test_other_plugins.py", "test_a_volume_that_is_there_is_no_obstacle")),
    ),
    10: ("resources are only freed by preemption on a node that is large enough", (28, 29, 99)),
    11: ("host ports are freed by preemption", (("scheduler/test_preemption.py", "test_host_ports_are_freed"),)),
    12: (
        "names of nodes from two plugins",
        (
            ("scheduler/test_attempt.py", "test_names_of_nodes_from_two_plugins_are_intersected"),
            ("scheduler/test_attempt.py", "test_names_that_exclude_each_other_end_the_attempt"),
        ),
    ),
    13: (
        "a pod's own nominated node is tried first",
        (12, 13, 14, ("scheduler/test_attempt.py", "test_a_nominated_node_is_taken_even_if_another_is_better")),
    ),
    14: (
        # That empty requests of a status are not the same as none is nothing to see: API servers keep no empty maps.
        "resizes that the kubelet calls infeasible",
        (41, 42, ("scheduler/test_attempt.py", "test_a_resize_that_is_infeasible_counts_what_was_allocated")),
    ),
    15: ("a term that can't be parsed", (("scheduler/test_attempt.py", "test_a_term_that_cannot_be_parsed"),)),
    16: (
        "copies are placed by score",
        (
            ("diagnosis/test_placing.py", "test_all_nodes_of_a_cluster_with_up_to_a_hundred_are_compared"),
            ("diagnosis/test_placing.py", "test_a_node_that_fits_again_is_compared_again"),
            (
                "diagnosis/test_choice.py",
                "test_the_best_nodes_of_pods_that_fit_are_those_that_the_real_scheduler_names",
            ),
            ("differential/test_copies.py", "test_the_real_scheduler_agrees"),
        ),
    ),
    17: (
        "rejections have codes, from which preemption follows",
        (28, 97, 98, 106, ("scheduler/test_recorded.py", "test_all")),
    ),
}


@pytest.mark.parametrize("number", range(1, 18))
def test_has_a_test(number: int) -> None:
    _, tests = DEVIATIONS[number]
    edges = {edge.number for edge in EDGES} | ELSEWHERE.keys()
    assert tests
    for test in tests:
        if isinstance(test, int):
            assert test in edges
        else:
            path, name = test
            assert f"def {name}(" in (_TESTS / path).read_text(encoding="utf-8")
