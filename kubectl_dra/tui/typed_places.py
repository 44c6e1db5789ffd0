"""Lists and pages that are asked for by more than a word: of a namespace, with a filter, by a name, with a shape."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from kubectl_dra.output.safe import fmt
from kubectl_dra.output.top.page import top_page
from kubectl_dra.reports.top import By, top_report
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import Report
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.typed_objects import TypedObjects
from kubectl_dra.tui.typed_words import namespace_of
from kubectl_dra.tui.views.nodes import NodeView
from kubectl_dra.tui.views.reader import PrintedPage

#: Lists of what has no namespace: a word that is also the name of one is looked for.
_OF_THE_CLUSTER: Final = frozenset({"pools", "taints", "nodes", "devices", "classes"})


class TypedPlaces(TypedObjects):
    """``:claims ml``, ``:devices H100``, ``:nodes NAME``, and ``:shape`` and ``:whatif`` wherever they are typed."""

    @abstractmethod
    def set_namespace(self, namespace: str) -> None:
        """Only one namespace; empty for all."""

    def narrow(self, screen: str, text: str) -> None:
        """What is in front: of a namespace, the node ``text``, or only lines with it; k9s has a slash before that."""
        namespace = namespace_of(text, self.names.namespaces()) if screen not in _OF_THE_CLUSTER else None
        if namespace is not None:
            self.set_namespace(namespace)
        elif screen == "nodes" and self.cluster is not None and text in self.cluster.inventory.nodes:
            self.push(NodeView(text))
        elif text and isinstance(self.view, ListView):
            self.view.set_filter(text.removeprefix("/"))
            # The word alone shows all of it again.
            self.view.lent_filter = True

    def do_top(self, argument: str = "") -> None:
        """The page of ``top``; the pods are those of the namespace in view."""
        word = argument.strip() or By.NAMESPACES.value
        by = next((each for each in By if each.value.startswith(word.removesuffix("s"))), None)
        if by is None:
            self.say(fmt("“{}” is none of {}", argument, ", ".join(each.value for each in By)))
            return
        scope = self.namespace if by is By.PODS else ""
        question = Report(lambda state: top_report(state, by, scope))
        crumb = fmt("top {}", by.value)
        self.push(PrintedPage(question, lambda found: top_page(found, self.now, self.address, scope), crumb=crumb))

    def do_shape(self, argument: str = "") -> None:
        self._on_capacity("shape", argument)

    def do_whatif(self, argument: str = "") -> None:
        self._on_capacity("whatif", argument)

    def _on_capacity(self, action: str, argument: str) -> None:
        """What only the view of capacity can do, there."""
        self.go_to(SCREEN_BY_ID["capacity"])
        # What was supposed there earlier is no part of it.
        self.call_after_refresh(self.run_action_id, "whatif")
        self.call_after_refresh(self.run_action_id, action, argument)
