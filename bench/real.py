"""The real allocator and CEL code as a peer: the Go program of ``tests/oracle``, where it is or can be built."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.frame import Budget, Row, WrongAnswerError, child, hand_over
from tests.gobuild import BuildError, build
from tests.oracle.scheduler_oracle import Oracle, module


def beside(
    module_name: str, what: str, size: str, budget: Budget | None, *arguments: str, kind: str = ""
) -> Iterator[Row]:
    """A row of a module whose children take ``ours`` or ``real`` and the same arguments; both must find the same.

    ``kind``: what the real code is asked, which says which of its programs is needed.
    """
    ours = child(module_name, "ours", *arguments)
    try:
        build(module(kind))
    except BuildError as error:
        yield Row(what, size, ours, "Go", None, budget, str(error).splitlines()[0])
        return
    theirs = child(module_name, "real", *arguments)
    if theirs.found != ours.found:
        raise WrongAnswerError(f"{what}, {size}: the real code finds {theirs.found}, ours {ours.found}")
    yield Row(what, size, ours, "Go", theirs, budget)


def ask(kind: str, line: str, found: Callable[[dict[str, object]], str]) -> None:
    """In a child: one question of time to the real code, its best round and its peak handed over."""
    with Oracle(kind) as oracle:
        answer = oracle.ask_line(line)
        hand_over(cpu=answer["cpuSeconds"], clock=answer["seconds"], peak=oracle.peak(), found=found(answer))
