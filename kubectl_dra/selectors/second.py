"""What an independent engine says of the same selectors on the same devices; the scheduler's verdict is ours."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_dra.cel.read.second import NAME as NAME
from kubectl_dra.cel.read.second import SecondEngine
from kubectl_dra.model.resource import Device
from kubectl_dra.selectors.compiling import Compiled
from kubectl_dra.selectors.evaluate import Decision, Outcome


class SecondOpinion:
    """Selectors in their order, all of which must hold. With ``gaps``, what the engine lacks, nothing is evaluated."""

    def __init__(self, selectors: Iterable[Compiled], shows_sharing: bool) -> None:
        programs = [selector.program for selector in selectors]
        self._engines = [SecondEngine(program) for program in programs if program is not None]
        self._shows_sharing = shows_sharing
        broken = ("selectors that do not compile",) if None in programs else ()
        self.gaps = (*broken, *sorted({gap for engine in self._engines for gap in engine.gaps}))

    def decide(self, driver: str, device: Device) -> Decision:
        """The engine's outcome on a device."""
        for number, engine in enumerate(self._engines):
            found = engine.match(driver, device, self._shows_sharing)
            if isinstance(found, str):
                return Decision(Outcome.ERROR, number, found)
            if not found:
                return Decision(Outcome.NO, number)
        return Decision(Outcome.MATCHES)
