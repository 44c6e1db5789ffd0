"""The base of all views: what it is called, what it wants to know, what can be done with what is under its cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from textual.containers import Container
from textual.widget import Widget

from kubectl_dra.cluster import ClusterState
from kubectl_dra.model.ids import DeviceId
from kubectl_dra.output.safe import Safe
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.report_worker import Query, ReportWorker

READING: Final = Safe("reading …")
#: The JSON bytes of an object; None where there is none.
Document = Callable[[ClusterState, Any], bytes | None]


@dataclass(frozen=True, slots=True)
class CursorObject:
    """What is under the cursor, for the clipboard (``name``) and as YAML (``document``: JSON bytes, None if none)."""

    name: str
    document: Callable[[], bytes | None]


class View(Container):
    """One level of the breadcrumbs. ``show`` is called whenever a record that it wants is new, on the UI's thread."""

    DEFAULT_CSS = """
    View { height: 1fr; width: 1fr; layout: vertical; }
    """

    #: What the breadcrumbs call it.
    crumb: Safe = Safe("")
    #: Actions that are offered everywhere, but matter so much here that the footer shows them.
    extras: frozenset[str] = frozenset()
    #: What the footer has before all else.
    foremost: frozenset[str] = frozenset()
    #: What had the focus when another view came to the front.
    left_at: Widget | None = None
    #: The tab and view that this one was jumped to from, where ``esc`` returns; and whether its filter came from there.
    came_from: tuple[str, View] | None = None
    #: What is shown here, where that is one record.
    question: Query[Any] | None = None
    lent_filter = False
    #: The screen that it was opened as by its word, if it was.
    opened_as = ""
    #: The object that it is about, and what shows it.
    named: Hashable | None = None
    document: ClassVar[Document] = lambda _cluster, _named: None
    #: Whether it is mounted, and has the focus if it is in front: keys wait until then.
    is_ready = False

    @property
    def dra(self) -> Host:
        return cast("Host", self.app)

    @property
    def worker(self) -> ReportWorker:
        return self.dra.worker

    def on_mount(self) -> None:
        """Take the focus: before this there was nothing here to give it to, however long the view was in front."""
        self.is_ready = True
        if self.dra.view is self:
            self.dra.focus_view()
            self.dra.view_is_ready()

    def queries(self) -> Sequence[Query[object]]:
        return (self.question,) if self.question is not None else ()

    @abstractmethod
    def show(self) -> None:
        """Show the newest records."""

    @property
    def info(self) -> Safe:
        """A few words beside the breadcrumbs: how many, sorted by what."""
        return Safe("")

    @property
    def focus_target(self) -> Widget | None:
        """What gets the focus when the view comes to the front."""
        return next((widget for widget in self.query("*") if widget.can_focus and widget.display), None)

    @property
    def subject(self) -> CursorObject | None:
        return self.subject_of(self.named)

    def subject_of(self, named: Hashable | None) -> CursorObject | None:
        """An object of the kind that is shown here."""
        if named is None:
            return None
        return CursorObject(str(named), lambda: type(self).document(self.dra.state_now, named))

    @property
    def stays(self) -> Safe:
        """Why the view can't be left now; empty if it can."""
        return Safe("")

    @property
    def is_waiting(self) -> bool:
        """Whether the view will ask for something by itself in a moment."""
        return False

    @property
    def device(self) -> DeviceId | None:
        """The device under the cursor, for a taint."""
        return None

    @property
    def targets(self) -> Sequence[str]:
        """What a taint is planned for: devices, whole pools (``DRIVER/POOL/*``) or nodes (``node/NAME``)."""
        return [str(self.device)] if self.device is not None else []

    def preview_queries(self) -> Sequence[Query[object]]:
        return ()

    def can(self, action: str) -> bool:
        """Whether the view offers an action now."""
        if action in ("yaml", "copy"):
            return self.subject is not None
        return hasattr(self, f"do_{action}")

    def digit(self, number: int) -> bool:
        """Whether a digit means something here; elsewhere it is the key of a tab."""
        return False

    def is_key(self, action: str) -> bool:
        """Whether the key of an action is one even while the focus is where keys are typed."""
        return False

    def set_filter(self, text: str) -> None:
        """Show only what contains ``text``; views without rows ignore it."""

    @property
    def is_filtered(self) -> bool:
        """Whether ``esc`` has a filter to drop."""
        return False

    def on_descendant_focus(self) -> None:
        self.dra.refresh_frame()

    def on_descendant_blur(self) -> None:
        self.dra.refresh_frame()
