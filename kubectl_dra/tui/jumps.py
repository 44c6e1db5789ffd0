"""The app's ways from one thing to another: whatever a view has under its cursor can be opened somewhere else."""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_dra.diagnosis.codes import Code
from kubectl_dra.diagnosis.gangs.groups import pods_of
from kubectl_dra.model.ids import DeviceId, Key, PoolId
from kubectl_dra.model.inventory import key_of
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.reports.selector.known import known_selectors
from kubectl_dra.tui.list_view import ListView
from kubectl_dra.tui.queries import DevicesQuery
from kubectl_dra.tui.shell import Shell
from kubectl_dra.tui.view import View
from kubectl_dra.tui.views.claim import ClaimView
from kubectl_dra.tui.views.claims import ClaimsView
from kubectl_dra.tui.views.devices import DevicesView
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from kubectl_dra.tui.views.lab import LabView
from kubectl_dra.tui.views.lab_known import KnownView
from kubectl_dra.tui.views.nodes import NodeView
from kubectl_dra.tui.views.pending import PendingView
from kubectl_dra.tui.views.plan import PlanView
from kubectl_dra.tui.views.pool import PoolDevices
from kubectl_dra.tui.views.reasons import ExplanationView, PendingReasonView, ReasonsView
from kubectl_dra.tui.views.search import Named, SearchView
from kubectl_dra.tui.views.xray import XrayView
from kubectl_dra.tui.writing import TaintRequest


class Jumps(Shell):
    """Opens views by what they are about."""

    def open_pools(self, driver: str) -> None:
        self.open_filtered("pools", f"{driver}/")

    def open_filtered(self, tab: str, text: str) -> None:
        """A list with a filter that goes when somebody opens its tab by the key."""
        self.jump(tab)
        if isinstance(self.view, ListView):
            self.view.set_filter(text)
            self.view.lent_filter = True

    def jump_to(self, tab: str, view: View) -> None:
        """Open a view in the tab where its like are; ``esc`` returns to where one came from."""
        origin = (self._tab, self.view)
        if origin[0] != tab:
            self.go(tab)
        self.push(view)
        if origin[0] != tab and origin[1] is not None:
            view.came_from = (origin[0], origin[1])

    def open_pending_reason(self, code: Code) -> None:
        self.push(PendingReasonView(code))

    def open_undiagnosed(self) -> None:
        """The first pod that has no reason, or none yet."""
        self.jump("pending")
        if isinstance(self.view, PendingView):
            self.view.go_to_undiagnosed()

    def open_claim(self, key: Key) -> None:
        self.push(ClaimView(key))

    def open_pod(self, key: Key) -> None:
        self.push(DiagnosisView(key))

    def open_pod_of(self, claim: Key) -> None:
        found = self.state_now.inventory.pods_by_claim.get(claim, ())
        pods = [Key(pod.metadata.namespace, pod.metadata.name) for pod in found]
        if pods:
            self.open_pods(pods)
        else:
            self.say(Safe("no pod uses this claim"))

    def open_pods(self, pods: Sequence[Key]) -> None:
        """The only one, or a list to choose one of."""
        if len(pods) == 1:
            self.open_pod(pods[0])
        else:
            self.push(SearchView(pods, Safe("its pods")))

    def open_pods_of_group(self, key: Key) -> None:
        pods = pods_of(self.state_now, key)
        if pods:
            self.push(SearchView([key_of(pod.metadata) for pod in pods], Safe("its pods")))
        else:
            self.say(Safe("this group has no pods"))

    def open_claims_of(self, claims: Sequence[Key]) -> None:
        if not claims:
            self.say(Safe("this pod has no claim yet"))
        elif len(claims) == 1:
            self.open_claim(claims[0])
        else:
            self.push(ClaimsView(frozenset(claims)))

    def open_holders(self, claims: Sequence[Key]) -> None:
        if claims:
            self.open_claims_of(list(dict.fromkeys(claims)))
        else:
            self.say(Safe("no claim holds this device"))

    def open_named(self, of: Named, type_: str) -> None:
        """The page of whatever has a name."""
        match of:
            case DeviceId():
                self.open_devices(frozenset({of}), fmt("device {}", of.device))
            case PoolId():
                self.open_pool(of)
            case Key() if type_ == "pod":
                self.open_pod(of)
            case Key():
                self.open_claim(of)
            case Code():
                self.open_explanation(of)
            case str():
                self.open_node(of)

    def open_tree(self, pod: Key) -> None:
        self.push(XrayView(pod))

    def open_explanation(self, code: Code) -> None:
        self.push(ExplanationView(code))

    def open_explanations(self, codes: Sequence[Code]) -> None:
        if len(codes) == 1:
            self.open_explanation(codes[0])
        elif codes:
            self.push(ReasonsView(codes))

    def open_node(self, node: str) -> None:
        self.push(NodeView(node))

    def open_devices(self, devices: frozenset[DeviceId], crumb: Safe) -> None:
        self.push(DevicesView(DevicesQuery(among=devices), crumb))

    def try_claim(self, key: Key) -> None:
        self._try_selectors(key, key.namespace)

    def try_class(self, name: str) -> None:
        self._try_selectors(Key("", name), "")

    def _try_selectors(self, of: Key, namespace: str) -> None:
        """One selector goes straight into the editor; of several one is chosen first."""
        found = [each for each in known_selectors(self.state_now.inventory) if (each.namespace, each.name) == of]
        if not found:
            self.say(fmt("{} has no selector", str(Key(namespace, of.name))))
            return
        self.jump("lab")
        if not isinstance(self.view, LabView):
            # Something is open above the editor; the same tab once more goes back to it.
            self.go("lab")
        lab = self.view
        if isinstance(lab, LabView):
            if len(found) == 1:
                self.call_after_refresh(lab.load, found[0])
            else:
                self.push(KnownView(lab, of))

    def open_pool(self, pool: PoolId) -> None:
        self.jump_to("pools", PoolDevices(pool))

    def open_plan(self, order: TaintRequest) -> None:
        if self.cluster is None:
            self.say(Safe("nothing has been read yet"))
        else:
            self.push(PlanView(order, self.settings.writer(self.context)))
