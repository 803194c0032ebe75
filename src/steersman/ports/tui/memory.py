"""What the application remembers of one person: the theme and the panes that are shown."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

PANES = ("status", "log", "diff", "todo")
ROOMY = 160  # columns from which all panes are shown to whoever never chose any


class Remembered(Struct, frozen=True, omit_defaults=True):
    """How the screen was left; `chosen` when the user showed or hid a pane."""

    theme: str = ""
    panes: tuple[str, ...] = ("log", "todo")
    chosen: bool = False


class Memory:
    """A small file in the data folder. What cannot be read or written is simply not remembered."""

    def __init__(self, home: Path) -> None:
        self._path = home / "terminal.json"
        self.now = self._read()

    def _read(self) -> Remembered:
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=Remembered)
        except (OSError, msgspec.MsgspecError):
            return Remembered()
        panes = tuple(name for name in PANES if name in found.panes)
        return Remembered(found.theme, panes, found.chosen or panes != Remembered().panes)

    def shown(self, width: int) -> tuple[str, ...]:
        """The panes to show on a screen of a width: the user's, or all when there is room."""
        return PANES if width >= ROOMY and not self.now.chosen else self.now.panes

    def toggle(self, pane: str, width: int = 0) -> bool:
        """Show a pane from now on, or hide it; the answer is whether it is shown."""
        panes = set(self.shown(width)) ^ {pane}
        kept = tuple(name for name in PANES if name in panes)
        self._write(Remembered(self.now.theme, kept, chosen=True))
        return pane in panes

    def use_theme(self, theme: str) -> None:
        """Begin with a theme from now on."""
        self._write(Remembered(theme, self.now.panes, self.now.chosen))

    def _write(self, remembered: Remembered) -> None:
        self.now = remembered
        beside = self._path.with_suffix(f".{os.getpid()}")
        try:
            beside.write_bytes(msgspec.json.encode(remembered))
            os.replace(beside, self._path)
        except OSError:
            beside.unlink(missing_ok=True)
