"""A small fixed run of every target; the large one is started by hand."""

import pytest

from tests.fuzz.__main__ import fuzz
from tests.fuzz.mutator import Mutator, pieces
from tests.fuzz.targets import ACCEPTED, REFUSED, TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_what_is_declared_is_raised(name):
    run = fuzz(name, 300, seed=7)
    assert run.outcomes.total() == 300
    assert run.outcomes[ACCEPTED] > 10
    assert run.outcomes[REFUSED] > 10


def test_the_same_seed_makes_the_same_texts():
    corpus = ['{"a": "b\\"c"}', "x.y(1)"]
    first, second, other = Mutator(corpus, 1), Mutator(corpus, 1), Mutator(corpus, 2)
    texts = [first() for _ in range(50)]
    assert texts == [second() for _ in range(50)] != [other() for _ in range(50)]
    assert len(set(texts)) > 30
    assert "".join(pieces(corpus[0])) == corpus[0]
