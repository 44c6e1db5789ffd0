"""The one registry of screens that ``:NAME`` and keys go to: tabs, and lists that are opened on top of a tab.

A row is all that the program needs to know of a screen: its action, its key, help, the command palette and the row of
tabs are made from it. What is opened from a line of a list has no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubectl_dra.tui.view import View


@dataclass(frozen=True, slots=True)
class Screen:
    """``view`` makes its first view: a class of ``module``, which is imported when somebody goes there.

    ``key`` goes there from everywhere, empty if only the command does. ``on`` is the tab that it is opened on top of,
    empty for a tab of its own.
    """

    id: str
    module: str
    view: str
    help: str
    label: str = ""
    key: str = ""
    on: str = ""

    def new_view(self) -> View:
        made: View = getattr(import_module(f"kubectl_dra.tui.{self.module}"), self.view)()
        return made


SCREENS: Final[tuple[Screen, ...]] = (
    Screen("overview", "views.overview", "Overview", "What exists, who uses it, what is pending", key="1"),
    Screen("pools", "views.pools", "PoolsView", "Pools of devices", key="2"),
    Screen("claims", "views.claims", "ClaimsView", "ResourceClaims", key="3"),
    Screen("pending", "views.pending", "PendingView", "Pods that wait for devices, by reason", key="4"),
    Screen("lab", "views.lab", "LabView", "Try a selector on the devices", "selector lab", key="5"),
    Screen("taints", "views.taints", "TaintsView", "Taints of devices", key="6"),
    Screen(
        "workloads", "views.workloads", "WorkloadsView", "Workloads without pods: refused, or in a queue", on="pending"
    ),
    Screen("changes", "views.changes", "ChangesView", "What changed last, the newest first", on="overview"),
    Screen("podgroups", "views.groups", "GroupsView", "Pods that are placed together", on="pending"),
    Screen(
        "nodes", "views.nodes", "NodesView", "Nodes, ready or not: how many devices are used, free and idle", on="pools"
    ),
    Screen("xray", "views.xray", "XrayView", "Pods, their claims, devices and nodes as a tree", on="pending"),
    Screen("devices", "views.devices", "AllDevicesView", "All devices of all pools", on="pools"),
    Screen("capacity", "views.capacity", "CapacityView", "How many pods of a shape each node takes", on="pools"),
    Screen("classes", "views.classes", "ClassesView", "DeviceClasses and what they offer", on="pools"),
)
SCREEN_BY_ID: Final = {screen.id: screen for screen in SCREENS}
TABS: Final = tuple(screen.id for screen in SCREENS if not screen.on)
