"""Names that the composer completes: commands with their arguments, and skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steersman.views.text import one_line

if TYPE_CHECKING:
    from steersman.ports.tui.app import SteersmanApp
    from steersman.views.completion.sources import Described


class Names:
    """Looked up when they are needed; skills once for each folder."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app
        self._skills: tuple[str, Described] = ("", ())

    def commands(self) -> Described:
        """Commands, with what they are about and how they are used; then their other names."""
        registry = self._app.registry
        here = registry.available(self._app.stage)
        named = [(one.name, one.about, one.usage) for one in here]
        also = [(name, f"/{one.name}: {one.about}", one.usage)
                for one in here for name in registry.also(one)]  # fmt: skip
        return [*named, *also]

    def arguments(self, line: str) -> Sequence[tuple[str, str]]:
        """What a line with a command could become."""
        app = self._app
        return [(one.text, one.about) for one in app.registry.complete(app.stage, line)]

    def skills(self) -> Described:
        """Skills that are switched on, with what they are for."""
        from steersman.host import skills

        seat = self._app.seat
        if self._skills[0] != seat.folder:
            known = skills.find(seat.host, seat.folder, self._app.environ)
            found = [
                (one.name, one_line(one.description))
                for one in known.shelf.skills
                if one.name not in known.off
            ]
            self._skills = (seat.folder, found)
        return self._skills[1]
