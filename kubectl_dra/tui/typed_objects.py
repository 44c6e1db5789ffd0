"""Pages of one object, by a name after ``:`` as it is written here or as commands take it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from kubectl_dra.api.kinds import POD, POD_GROUP, RESOURCE_CLAIM, Kind
from kubectl_dra.diagnosis.pod.workloads import Owners, resolve_workload
from kubectl_dra.diagnosis.records import ObjectRef
from kubectl_dra.model.ids import Key, PoolId
from kubectl_dra.model.likeness import did_you_mean
from kubectl_dra.output.safe import Safe, fmt
from kubectl_dra.output.words import listed
from kubectl_dra.reports.find import pool_names, pools_named
from kubectl_dra.tui.command_line import CommandLine
from kubectl_dra.tui.typed_words import TypedObject, object_of
from kubectl_dra.tui.views.claim import ClaimView
from kubectl_dra.tui.views.diagnosis import DiagnosisView
from kubectl_dra.tui.views.groups import GroupPage
from kubectl_dra.tui.views.workloads import WorkloadPage

_MOST: Final = 3


class TypedObjects(CommandLine):
    """``:pool NAME``, ``:claim ml/NAME``, ``:pod NAME -n ml``, ``:why-pending sts/NAME``."""

    def do_pool(self, argument: str) -> None:
        pools = self.cluster.pools if self.cluster is not None else ()
        alike = [pool for pool in pools if argument in str(pool)]
        found = pools_named(argument, pools) or (alike if len(alike) == 1 else ())
        if found:
            self.open_pool(PoolId(*found[0]))
        else:
            known = pool_names(self.cluster) if self.cluster is not None else ()
            self.say(self._absent("pool", "ResourceSlice", argument, known))

    def do_claim(self, argument: str) -> None:
        self._go_to_object(object_of(argument, self.names.namespaces(), RESOURCE_CLAIM))

    def do_pod(self, argument: str) -> None:
        self._go_to_object(object_of(argument, self.names.namespaces()))

    def _go_to_object(self, meant: TypedObject) -> None:
        if self.cluster is None:
            self.say(self._absent(meant.kind.singular, meant.kind.name, meant.text))
            return
        inventory = self.cluster.inventory
        known: Mapping[str, Collection[Key]] = {
            POD.name: inventory.pods, RESOURCE_CLAIM.name: inventory.claims, POD_GROUP.name: inventory.groups.pod_groups
        }  # fmt: skip
        if meant.kind is POD and (pod := self._key(meant, inventory.pods)) is not None:
            self.jump_to("pending", DiagnosisView(pod))
        elif meant.kind is RESOURCE_CLAIM and (claim := self._key(meant, inventory.claims)) is not None:
            self.jump_to("claims", ClaimView(claim))
        elif meant.kind is POD_GROUP and (group := self._key(meant, inventory.groups.pod_groups)) is not None:
            self.jump_to("pending", GroupPage(group))
        elif meant.kind.workload:
            self._go_to_workload(meant)
        elif meant.kind in (POD, RESOURCE_CLAIM, POD_GROUP):
            word = "claim" if meant.kind is RESOURCE_CLAIM else meant.kind.singular
            self.say(self._no_such(word, meant, known[meant.kind.name]))
        else:
            self.say(fmt("why-pending has no answer for “{}”", meant.kind.plural))

    def _go_to_workload(self, meant: TypedObject) -> None:
        """Of a file only to one that is there; what a live cluster has is read by its page."""
        places = [meant.namespace or self.namespace] if meant.namespace or self.namespace else self._places(meant)
        if len(places) > 1:
            self.say(_in_several(meant.kind.name, meant, places))
        elif places and (self.feed.live or self._is_known(meant.kind, Key(places[0], meant.name))):
            self.jump_to("pending", WorkloadPage(meant.kind, Key(places[0], meant.name)))
        elif self.feed.live:
            text = "{} “{}” is not known in any namespace: -n NAMESPACE looks there"
            self.say(fmt(text, meant.kind.name, meant.name))
        else:
            self.say(fmt("{} “{}” not found", meant.kind.name, meant.text))

    def _places(self, meant: TypedObject) -> list[str]:
        """The namespaces with such a workload: by its name, or by what its pods name."""
        inventory = self.state_now.inventory
        known = (*inventory.workloads, *inventory.makers)
        found = {place for kind, place, name in known if (kind, name) == (meant.kind.name, meant.name)}
        owners = Owners(inventory)
        for pod in inventory.pods.values():
            if owners.named(pod) == ObjectRef(meant.kind.name, pod.metadata.namespace, meant.name):
                found.add(pod.metadata.namespace)
        return sorted(found)

    def _is_known(self, kind: Kind, key: Key) -> bool:
        inventory, place = self.state_now.inventory, (kind.name, *key)
        known = place in inventory.workloads or place in inventory.makers
        return known or bool(resolve_workload(inventory, kind.name, key))

    def _no_such(self, what: str, meant: TypedObject, known: Collection[Key]) -> Safe:
        """That none has the name, or several namespaces have one."""
        places = sorted(key.namespace for key in known if key.name == meant.name and not meant.namespace)
        if len(places) > 1:
            return _in_several(what, meant, places)
        if meant.namespace and (elsewhere := sorted(key.namespace for key in known if key.name == meant.name)):
            text = "{} “{}” not found; there is one in {}"
            return fmt(text, Safe(what), meant.text, listed([f"namespace {each}" for each in elsewhere[:_MOST]]))
        here = {key.name for key in known if meant.namespace in ("", key.namespace)}
        return self._absent(what, meant.kind.name, meant.text, here)

    def _absent(self, what: str, kind: str, argument: str, known: Iterable[str] = ()) -> Safe:
        """What is said of a name that is not ``known``: where its kind was not read, it may be there all the same."""
        if self.cluster is None:
            return fmt("{} “{}” is not known yet: the cluster is still being read", Safe(what), argument)
        if self.cluster.evidence.complete(kind, argument.rpartition("/")[0] or self.namespace):
            like = did_you_mean(argument.rpartition("/")[2] if kind != "ResourceSlice" else argument, known)
            return fmt("{} “{}” not found{}", Safe(what), argument, like)
        return fmt(
            "{} “{}” is not known: {} could not be read; ! says who can permit it", Safe(what), argument, Safe(kind)
        )

    def _key(self, meant: TypedObject, known: Iterable[Key]) -> Key | None:
        """``NAMESPACE/NAME``, or a name in the namespace in view, or one, or part of one, that only one has."""
        within = [key for key in known if meant.namespace in ("", key.namespace)]
        alike = [key for key in within if meant.name in key.name]
        matches = [key for key in within if key.name == meant.name] or (alike if len(alike) == 1 else [])
        here = [key for key in matches if key.namespace == self.namespace]
        return next(iter(here or matches), None) if meant.namespace or here or len(matches) == 1 else None


def _in_several(what: str, meant: TypedObject, places: Sequence[str]) -> Safe:
    return fmt("{} “{}” is in namespaces {}: -n NAMESPACE chooses one", Safe(what), meant.name, listed(places))
