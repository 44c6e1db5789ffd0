"""The command palette: the actions that do something here, from the registry; and lists to choose a name from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from kubectl_dra.output.safe import Safe, fmt, safe
from kubectl_dra.tui.actions import Action, key_name
from kubectl_dra.tui.host import Host
from kubectl_dra.tui.text import content
from kubectl_dra.tui.views.search import named_objects

_LEAST_LETTERS: Final = 2
_MOST_OBJECTS: Final = 30


class Actions(Provider):
    """All actions that are offered now; texts stand in the program."""

    def _offered(self) -> Iterator[tuple[Action, Callable[[], None]]]:
        app = cast("Host", self.app)
        for action in app.actions_now():
            yield action, partial(app.run_action_id, action.id)

    async def discover(self) -> Hits:
        for action, run in self._offered():
            yield DiscoveryHit(content(_title(action)), run, text=action.label, help=action.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action, run in self._offered():
            score = max(matcher.match(action.label), matcher.match(action.help))
            if score > 0:
                yield Hit(score, content(_title(action)), run, text=action.label, help=action.help)


class Objects(Provider):
    """Pods, claims, pools, nodes and devices by a few letters of their names; enter opens one."""

    async def search(self, query: str) -> Hits:
        app = cast("Host", self.app)
        if app.cluster is None or len(query) < _LEAST_LETTERS:
            return
        matcher, wanted = self.matcher(query), query.casefold()
        found = (each for each in named_objects(app.cluster, app.namespace) if wanted in each.name.casefold())
        for each in islice(found, _MOST_OBJECTS):
            words = fmt("{}  {}", each.name, Safe(each.type))
            yield Hit(
                max(matcher.match(words), 0.01), content(words), partial(app.open_named, each.of, each.type), text=words
            )


class NameProvider(Provider):
    """Names to choose one of; typing finds those that resemble it."""

    def names(self, app: Host) -> Iterable[str]:
        return ()

    def choose(self, app: Host, name: str) -> None:
        """One was chosen."""

    def _offered(self) -> Iterator[tuple[Safe, Callable[[], None]]]:
        app = cast("Host", self.app)
        for name in self.names(app):
            yield safe(name) or Safe("all namespaces"), partial(self.choose, app, name)

    async def discover(self) -> Hits:
        for words, run in self._offered():
            yield DiscoveryHit(content(words), run, text=words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for words, run in self._offered():
            score = matcher.match(words)
            if score > 0:
                yield Hit(score, content(words), run, text=words)


class Namespaces(NameProvider):
    """All namespaces, or one of them."""

    def names(self, app: Host) -> Iterable[str]:
        """The empty name stands for all."""
        return ("", *app.names.namespaces())

    def choose(self, app: Host, name: str) -> None:
        app.set_namespace(name)


class Contexts(NameProvider):
    def names(self, app: Host) -> Iterable[str]:
        return app.names.contexts()

    def choose(self, app: Host, name: str) -> None:
        app.do_context(name)


def _title(action: Action) -> Safe:
    keys = ", ".join(map(key_name, action.keys))
    return Safe(f"{action.label}  ({keys})" if keys else action.label)
