"""A seeded sample of mutants of ``allocation`` and ``cel``: ``python tools/mutants.py --help``; by hand, in a clone.

A mutant is the code with one small change. It is killed when a test fails or takes far too long. The tests asked are
those that reach the changed line (by a coverage file with contexts), the quickest first. Files are changed in place and
put back, so run it where nobody else works.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path.cwd()
PACKAGES = ("allocation", "cel")
#: Seconds of the processor for the tests of one mutant.
PATIENCE = 100
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLS = {"any": "all", "all": "any", "min": "max", "max": "min", "sorted": "list", "reversed": "list"}


@dataclass(frozen=True)
class Mutant:
    """``before`` at this place of ``path`` becomes ``after``."""

    path: str
    line: int
    end_line: int
    start: int
    end: int
    before: str
    after: str


class Sites(ast.NodeVisitor):
    """All places of a file where something can be changed."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        self.found: list[Mutant] = []
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self.visit(ast.parse(source))

    def _change(self, node: ast.expr | ast.stmt, after: str) -> None:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        end = self._lines[node.end_lineno - 1] + node.end_col_offset
        before = self.source[start:end].decode()
        self.found.append(Mutant(self.path, node.lineno, node.end_lineno, start, end, before, after))

    def visit_Compare(self, node: ast.Compare) -> None:
        operators = [SWAPPED[type(operator)]() for operator in node.ops[:1]] + node.ops[1:]
        self._change(node, f"({ast.unparse(ast.Compare(node.left, operators, node.comparators))})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._change(node, f"({ast.unparse(ast.BoolOp(SWAPPED[type(node.op)](), node.values))})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in SWAPPED:
            self._change(node, f"({ast.unparse(ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right))})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._change(node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._change(node, str(not node.value))
        elif isinstance(node.value, int):
            self._change(node, str(node.value + 1))
        elif isinstance(node.value, str):
            self._change(node, f"({ast.unparse(ast.Constant('X' + node.value))})")

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._change(node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in CALLS:
            self._change(node.func, CALLS[node.func.id])
        self.generic_visit(node)

    def _condition(self, node: ast.If | ast.While) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self._change(node.test, f"(not ({ast.unparse(node.test)}))")
            self.generic_visit(node)

    visit_If = visit_While = _condition

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._change(condition, "True")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._change(node.value, "None")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call):
            self._change(node, "pass")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._change(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._change(node, "break")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if not {"__slots__", "__all__"} & set(names):
            self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self.visit(node.guard)
        for statement in node.body:
            self.visit(statement)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Places inside are not those of the file."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id in ("Callable", "Literal", "Final")):
            self.generic_visit(node)


def sample(count: int, seed: int, commit: str) -> list[Mutant]:
    """Mutants of all files of a commit, each place as likely as every other; the same seed gives the same."""
    sites: list[Mutant] = []
    for package in PACKAGES:
        listed = _git("ls-tree", "-r", "--name-only", commit, f"kubectl_dra/{package}").decode().split()
        for path in sorted(listed, key=Path):
            if path.endswith(".py"):
                sites += Sites(path, _git("show", f"{commit}:{path}")).found
    print(f"{len(sites)} places", file=sys.stderr)
    return [_moved(mutant, commit) for mutant in Random(seed).sample(sites, count)]


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


def _moved(mutant: Mutant, commit: str) -> Mutant:
    """The place in the file as it is now; ``after`` is empty where there are no such lines any more."""
    then = _git("show", f"{commit}:{mutant.path}").splitlines(keepends=True)
    now = (ROOT / mutant.path).read_bytes().splitlines(keepends=True)
    first, count = mutant.line - 1, mutant.end_line - mutant.line + 1
    places = [at for at in range(len(now)) if now[at : at + count] == then[first : first + count]]
    if not places:
        return replace(mutant, after="")
    at = min(places, key=lambda place: abs(place - first))
    shift = sum(map(len, now[:at])) - sum(map(len, then[:first]))
    lines = mutant.line + at - first, mutant.end_line + at - first
    return replace(mutant, line=lines[0], end_line=lines[1], start=mutant.start + shift, end=mutant.end + shift)


class Reached:
    """Which tests reach a line, from a coverage file with the tests as contexts."""

    def __init__(self, data: Path, durations: Sequence[Path], most: float) -> None:
        self._most = most
        self._database = sqlite3.connect(data)
        self._files = {
            Path(path).as_posix(): number for number, path in self._database.execute("select id, path from file")
        }
        self._seconds: dict[str, float] = {}
        for path in durations:
            for line in path.read_text(encoding="utf-8").splitlines():
                seconds, _, name = line.partition(" ")
                function = name.partition("[")[0]
                if "::" in function and _exists(function):
                    self._seconds[function] = self._seconds.get(function, 0.0) + float(seconds)
        contexts = self._database.execute("select context from context")
        # Tests that hypothesis runs all have the one context of its engine.
        self._generated = set(self._seconds) - {_test(context) for (context,) in contexts}

    def tests(self, mutant: Mutant) -> list[str]:
        """Test functions, the quickest first."""
        number = next((number for path, number in self._files.items() if path.endswith(mutant.path)), None)
        query = (
            "select distinct context.context from arc join context on context.id = arc.context_id where file_id = ? "
            "and (abs(fromno) between ? and ? or abs(tono) between ? and ?)"
        )
        lines = (mutant.line, mutant.end_line) * 2
        contexts = {context for (context,) in self._database.execute(query, (number, *lines)) if context}
        names = {_test(context) for context in contexts if context.startswith("tests.")}
        if any(context.startswith("hypothesis.") for context in contexts):
            names |= self._generated
        names = set(filter(_exists, names))
        known = sorted(names, key=lambda name: self._seconds.get(name, 1.0))
        if self._most:
            known = [name for name in known if self._seconds.get(name, 0.1) < self._most]
        # Lines that run when a module is imported are reached before any test.
        return known or sorted(self._seconds, key=lambda name: self._seconds[name])


def _exists(test: str) -> bool:
    file, _, function = test.partition("::")
    return (ROOT / file).exists() and f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")


def _test(context: str) -> str:
    """``tests.cel.test_x.test_y`` as pytest names it."""
    module, _, function = context.rpartition(".")
    return f"{module.replace('.', '/')}.py::{function}"


def judge(mutant: Mutant, tests: Sequence[str]) -> str:
    """``killed`` with the way it died, or ``survived``; runs in a fork of a process that holds the recorded rows."""
    path = ROOT / mutant.path
    source, times = path.read_bytes(), path.stat()
    path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
    try:
        child = os.fork()
        if child == 0:
            _child(tests)
        _, status = os.waitpid(child, 0)
    finally:
        path.write_bytes(source)
        # The byte code of what was put back is good again.
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if os.WIFSIGNALED(status):
        return f"killed by signal {os.WTERMSIG(status)} (too long, or too much memory)"
    code = os.WEXITSTATUS(status)
    return "survived" if code == 0 else f"killed ({code})"


def _child(tests: Sequence[str]) -> None:
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.dont_write_bytecode = True
    code = 70
    try:
        if not tests:
            os._exit(0 if recorded_answers_hold() else 1)
        code = pytest.main(["-x", "-q", "-n0", "-p", "no:cacheprovider", "--hypothesis-seed=1", *tests])
    finally:
        os._exit(int(code))


QUICK: list[dict[str, Any]] = []


def recorded_answers_hold() -> bool:
    """A seeded sample of the recorded answers, which kills most mutants within a second."""
    from tests.vectors import answer_alloc, answer_cel

    for row in QUICK:
        if "slices" in row:
            recorded = [each for run in row["expect"] for each in run["results"]]
            pairs = list(zip(recorded, answer_alloc.answer(row)["results"], strict=True))
            if any(not real.get("orderSensitive") and {**ours, **real} != ours for real, ours in pairs):
                return False
        else:
            given = answer_cel.answer(row)
            for kind in ("scheduler", "admission"):
                if "Syntax error" not in row[kind].get("compile_error", "") and given[kind] != row[kind]:
                    return False
    return True


def _load_rows(package: str) -> None:
    """What every test module would read again; nothing of the program itself."""
    import hypothesis  # noqa: F401
    import pytest  # noqa: F401

    from tests.vectors.rows import rows

    for name in ("alloc", "alloc_mutated", "alloc_probes", "alloc_texts", "cel", "cel_compile"):
        rows(name)
    if package == "allocation":
        QUICK.extend([*rows("alloc_probes"), *rows("alloc_texts"), *rows("alloc")[::15], *rows("alloc_mutated")[::6]])
    else:
        for name, step in (("corners", 3), ("libraries", 10), ("dynamic", 15)):
            with gzip.open(ROOT / "tests" / "cel" / f"{name}.jsonl.gz", "rt") as lines:
                device, *questions = map(json.loads, lines)
            QUICK.extend(device | {"id": "row"} | question for question in questions[::step])
    Random(1).shuffle(QUICK)
    assert not any(name.startswith("kubectl_dra") for name in sys.modules)


def remaining(mutants: Sequence[Mutant], out: Path) -> Iterator[tuple[int, Mutant]]:
    """Those that have no result yet."""
    done = (
        {json.loads(line)["number"] for line in out.read_text(encoding="utf-8").splitlines()} if out.exists() else set()
    )
    return ((number, mutant) for number, mutant in enumerate(mutants) if number not in done)


def main() -> None:
    """Read the arguments, judge, append a line of JSON for each mutant."""
    parser = argparse.ArgumentParser(prog="python tools/mutants.py")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--commit", default="HEAD", help="take the sample from the files of this commit")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--quick", action="store_true", help="only the sample of recorded answers, no tests")
    how.add_argument("--plan", type=Path, help="JSON: number of a mutant to the tests for it, as pytest names them")
    how.add_argument("--coverage", type=Path, help="coverage file with contexts, combined: tests that reach the line")
    parser.add_argument("--durations", type=Path, nargs="*", default=[], help="lines of seconds and test")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants to judge again")
    parser.add_argument("--package", default="", help="only those below kubectl_dra/PACKAGE")
    parser.add_argument("--most", type=float, default=0.0, help="leave out tests that take more seconds than this")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="only every Nth, from this one on")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    mutants = sample(arguments.count, arguments.seed, arguments.commit)
    plan = json.loads(arguments.plan.read_text(encoding="utf-8")) if arguments.plan else None
    reached = Reached(arguments.coverage, arguments.durations, arguments.most) if arguments.coverage else None
    _load_rows(arguments.package)
    chosen = remaining(mutants, arguments.out)
    if arguments.only:
        chosen = ((number, mutants[number]) for number in arguments.only)
    for number, mutant in chosen:
        part, parts = arguments.part
        if number % parts != part or not mutant.path.startswith(f"kubectl_dra/{arguments.package}"):
            continue
        if plan is not None and str(number) not in plan:
            continue
        tests = reached.tests(mutant) if reached is not None else plan[str(number)] if plan is not None else []
        verdict = judge(mutant, tests) if mutant.after else "the code is gone"
        line = {"number": number, "verdict": verdict, "tests": len(tests), **asdict(mutant)}
        with arguments.out.open("a", encoding="utf-8") as results:
            results.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
