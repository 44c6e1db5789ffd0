"""A taint before it is there: which rules would be written, whom they hit, and the steps to do it.

Planning only reads. Writing needs two more deliberate acts: writing is unlocked for the cluster, and the plan on the
screen is agreed to. Both happen in a worker thread; the screen only shows what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from textual.worker import Worker, WorkerState

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.taint_plan import TaintPlan, Verb
from kubectl_dra.output.documents import objects_bytes
from kubectl_dra.output.layout import wrapped
from kubectl_dra.output.safe import Safe, Style, command, fmt, styled
from kubectl_dra.reports.invocations import changing, dra, kubectl, of, plain_word
from kubectl_dra.reports.taints.taint_plan import planned_object
from kubectl_dra.tui.view import CursorObject
from kubectl_dra.tui.views.reader import ReportView
from kubectl_dra.tui.writing import PlanRefusedError, Preview, TaintRequest, TaintWriter, WriteResult

WRITING: Final = "writing"
_ASKING: Final = {Verb.CREATE: "Create it?", Verb.PATCH: "Change it?", Verb.DELETE: "Delete it?"}
_STEPS: Final = Safe("[t]wo steps (first NoSchedule, so that no new pod gets it meanwhile), [a]ll at once, [N]othing?")


class PlanView(ReportView):
    """The page of the plan, then what can be done with it now."""

    extras = frozenset({"unlock"})
    crumb = Safe("plan")

    def __init__(self, order: TaintRequest, writer: TaintWriter) -> None:
        super().__init__()
        self.order = order
        self.writer = writer
        self._preview: Preview | None = None
        self._refused: Sequence[Safe] = ()
        self._said: list[Safe] = []
        self._busy = Safe("")
        self._effect = ""
        self._is_done = False

    def on_mount(self) -> None:
        self.plan_again()

    def on_unmount(self) -> None:
        """The connection is not needed any more, unless it is in use at this moment: then it is closed afterwards."""
        if not self._busy:
            self.writer.close()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def lines(self) -> Sequence[Safe]:
        said = [line for text in self._said for line in wrapped(text)]
        said = [*said, Safe(""), *self._undo_lines()] if said else []
        plan = [*self._preview.lines(), Safe("")] if self._preview is not None else []
        refused = [styled(line, Style.BAD) for text in self._refused for line in wrapped(text)]
        return [*said, *plan, *refused, *([] if self._refused else self._outlook())]

    def _outlook(self) -> Sequence[Safe]:
        if self._busy:
            return [styled(self._busy, Style.WARN)]
        if self._preview is None or not self._preview.plan.writes:
            return ()
        if self.writer.refusal:
            text = self.writer.refusal[:1].upper() + self.writer.refusal[1:]
            lines = wrapped(fmt("{}. On a cluster this would be (c copies it):", Safe(text)))
            return [styled(line, Style.DIM) for line in lines] + self._command_lines()
        if not self.dra.unlocked:
            return [styled(Safe("Writing is locked: U unlocks it for this cluster."), Style.WARN)]
        return [styled(Safe("The server accepts this. A carries it out."), Style.GOOD)]

    def _command_lines(self) -> list[Safe]:
        line = self._command()
        return [Safe("  ") + styled(line, Style.NAME)] if line is not None else []

    def _undo_lines(self) -> list[Safe]:
        line = self._undo()
        return [Safe("To undo it (c copies it):"), Safe("  ") + styled(line, Style.NAME)] if line is not None else []

    def _undo(self) -> Safe | None:
        """What ends a taint that was written, once nothing more is to be agreed to."""
        words = self.order.words
        if not self._is_done or self._preview is not None or not words or words[-1].endswith("-"):
            return None
        of_taint = plain_word(f"{words[-1].partition(':')[0].partition('=')[0]}-")
        undoing = dra("taint-device", *map(plain_word, words[:-1]), of_taint)
        return command(changing(undoing, self.dra.state_now.evidence.address))

    def _command(self) -> Safe | None:
        words = dra("taint-device", *map(plain_word, self.order.words)) if self.order.words else None
        words = words or (kubectl("delete", of("devicetaintrule", self.order.rule)) if self.order.rule else None)
        return command(changing(words, self.dra.state_now.evidence.address))

    def do_copy(self) -> None:
        """The command, so that it can be run elsewhere, or by a user who may write."""
        line = self._command() if self.subject is not None else self._undo()
        if line is not None:
            self.dra.copy_commands([line])

    @property
    def subject(self) -> CursorObject | None:
        preview = self._preview
        if preview is None or not preview.plan.writes:
            return None
        facts = self.dra.state_now
        return CursorObject(" ".join(w.name for w in preview.plan.writes), lambda: _objects(preview.plan, facts))

    # --- planning ---------------------------------------------------------------------------------------------------

    def plan_again(self) -> None:
        """From a new reading; the server tries it when writing is unlocked."""
        if self._busy:
            return
        self._refused, self._busy = (), Safe("Planning …")
        facts, check = self.dra.state_now, self.dra.unlocked
        self._work(partial(self.writer.plan, self.order, facts, check=check, effect=self._effect), "planning")

    def do_refresh(self) -> None:
        self.plan_again()

    # --- writing ----------------------------------------------------------------------------------------------------

    @property
    def stays(self) -> Safe:
        """A plan that is being carried out stays on the screen."""
        writing = any(each.is_running and each.group == WRITING and each.node is self for each in self.workers)
        return Safe("the plan is being carried out" if writing else "")

    def can(self, action: str) -> bool:
        """There must be something to carry out."""
        if action == "copy":
            return self.subject is not None or self._undo() is not None
        if action == "apply":
            return bool(self._preview and self._preview.plan.writes) and not self._refused and not self.writer.refusal
        return super().can(action)

    def do_apply(self) -> None:
        if self._busy or self._preview is None:
            self.dra.say(self._busy)
        elif self.writer.refusal:
            self.dra.say(self.writer.refusal)
        elif not self.dra.unlocked:
            self.dra.say(Safe("writing is locked: U unlocks it for this cluster"))
        elif self._preview.checked:
            self.dra.ask(self._question(self._preview), self._answered)
        else:
            self.plan_again()

    def _question(self, preview: Preview) -> Safe:
        if preview.steps and preview.to_type is None:
            return _STEPS
        if preview.to_type is not None:
            two = Safe(" (t before it: in two steps)" if preview.steps else "")
            return fmt("Type the number of {} to go on{}:", Safe(preview.to_type[1]), two)
        return fmt("{} [y/N, then enter]", Safe(_ASKING[preview.plan.writes[0].verb]))

    def _answered(self, answer: str) -> None:
        preview = self._preview
        if preview is None:
            return
        steps = _agreed(answer, preview)
        if steps is None:
            self.dra.say(Safe("Nothing was written."))
            return
        self._busy = Safe("Reading once more, then writing …")
        self.show()
        facts = self.dra.state_now
        self._work(partial(self._write, self.writer, self.order, facts, preview, steps), WRITING)

    def _write(
        self, writer: TaintWriter, order: TaintRequest, state: ClusterState, preview: Preview, steps: bool
    ) -> WriteResult:
        """In the worker's thread: what was written is kept, whether or not somebody still looks."""
        written = writer.write(order, state, preview, steps=steps)
        self.dra.written += written.lines
        return written

    # --- what came of it --------------------------------------------------------------------------------------------

    def _work(self, job: Callable[[], Preview | WriteResult], group: str) -> None:
        def run() -> Preview | WriteResult | PlanRefusedError:
            try:
                return job()
            except PlanRefusedError as refused:
                return refused
            finally:
                if not self.is_attached:
                    self.writer.close()

        self.run_worker(run, group=group, thread=True, exclusive=True)
        self.show()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        event.stop()
        if event.state is not WorkerState.SUCCESS:
            return
        self._busy = Safe("")
        match event.worker.result:
            case Preview() as preview:
                self._preview = preview
                self.dra.note_commands("planned", self._command_lines())
            case WriteResult() as written:
                self._take(written)
            case PlanRefusedError() as refused:
                self._refused = refused.lines
        if self._preview is not None and self._preview.plan.writes and not self._preview.checked and self._may_write:
            # It was unlocked while this plan was being made.
            self.plan_again()
        self.show()
        self.dra.refresh_frame()

    @property
    def _may_write(self) -> bool:
        return self.dra.unlocked and not self.writer.refusal and not self._refused

    def _take(self, written: WriteResult) -> None:
        self._said += written.lines
        self.dra.note_commands("carried out" if written.done else "not all carried out", written.lines)
        self._preview = written.next
        if written.next is not None:
            self._effect = "" if written.next.plan.removal else written.next.plan.taint.effect
        self._is_done = written.done
        if written.done:
            self.dra.feed.refresh()


def _agreed(answer: str, preview: Preview) -> bool | None:
    """Whether to go in two steps; None if nothing is to be written."""
    word = answer.strip().lower()
    steps = preview.steps and word.startswith("t")
    if preview.to_type is not None:
        typed = word.removeprefix("t" if steps else "").strip()
        return steps if typed == str(preview.to_type[0]) else None
    if preview.steps:
        return steps if word in ("t", "two", "two steps", "a", "all", "all at once") else None
    return False if word in ("y", "yes") else None


def _objects(plan: TaintPlan, state: ClusterState) -> bytes:
    objects = [planned_object(write, state) for write in plan.writes]
    return objects[0] if len(objects) == 1 else objects_bytes(objects)
