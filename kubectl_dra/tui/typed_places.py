"""Lists and pages that are asked for by more than a word: of a namespace, with a filter, by a name, with a shape."""

from __future__ import annotations

from abc import abstractmethod
from typing import Final

from kubectl_dra.tui.command_line import CommandLine
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.screens import SCREEN_BY_ID
from kubectl_dra.tui.views.nodes import NodeView

#: Lists of what has no namespace: a word that is also the name of one is looked for.
_OF_THE_CLUSTER: Final = frozenset({"pools", "taints", "nodes", "devices", "classes"})


class TypedPlaces(CommandLine):
    """``:claims ml``, ``:devices H100``, ``:nodes NAME``, and ``:shape`` and ``:whatif`` wherever they are typed."""

    @abstractmethod
    def set_namespace(self, namespace: str) -> None:
        """Only one namespace; empty for all."""

    def narrow(self, screen: str, text: str) -> None:
        """What is in front: of a namespace, the node ``text``, or only lines with it; k9s has a slash before that."""
        if screen not in _OF_THE_CLUSTER and text in self.names.namespaces():
            self.set_namespace(text)
        elif screen == "nodes" and self.cluster is not None and text in self.cluster.inventory.nodes:
            self.push(NodeView(text))
        elif text and isinstance(self.view, ListView):
            self.view.set_filter(text.removeprefix("/"))
            # The word alone shows all of it again.
            self.view.lent_filter = True

    def do_shape(self, argument: str = "") -> None:
        self._on_capacity("shape", argument)

    def do_whatif(self, argument: str = "") -> None:
        self._on_capacity("whatif", argument)

    def _on_capacity(self, action: str, argument: str) -> None:
        """What only the view of capacity can do, there."""
        self.go_to(SCREEN_BY_ID["capacity"])
        self.call_after_refresh(self.run_action_id, action, argument)
