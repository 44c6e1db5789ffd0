"""Sizes as they are written, and the error of what is larger."""

from __future__ import annotations

import pytest

from kubectl_dra.source.limits import Allowance, TooLargeError, parse_size, size_text, too_large


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("10Ki", 10 << 10), ("512Mi", 512 << 20), ("8Gi", 8 << 30), ("8GiB", 8 << 30), ("2Ti", 2 << 40)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert parse_size(size_text(size)) == size


@pytest.mark.parametrize("text", ["", "0", "0Gi", "-1", "1G", "B", "5B", "1.5Gi", "Gi", "9" * 19, "٣Gi"])
def test_no_sizes(text: str) -> None:
    assert parse_size(text) is None


def test_an_allowance_ends_with_the_option_that_raises_it() -> None:
    allowance = Allowance("cluster.json", 3 << 20, "leave out what does not matter")
    allowance.take(3 << 20)
    assert allowance.left == 0
    with pytest.raises(TooLargeError) as caught:
        allowance.take(1)
    assert caught.value.what == "cluster.json: has more than 3MiB"
    assert caught.value.hint == "--max-bytes=6Mi reads more; leave out what does not matter"


@pytest.mark.parametrize(("size", "enough"), [(33 << 20, "64Mi"), (100 << 20, "128Mi"), (64 << 20, "64Mi")])
def test_the_option_is_large_enough_where_the_size_is_known(size: int, enough: str) -> None:
    assert too_large("a.yaml", 32 << 20, size=size).hint == f"--max-bytes={enough} reads it"
