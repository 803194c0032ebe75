"""Telling a person who looks elsewhere that something waits: bell, desktop notice, title.

What a terminal gets is pure text, made here and safe; it is written by whoever has the terminal.
Everything can be turned off, and nothing is reported twice.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from msgspec import Struct

from steersman.views.blocks import Asked, Request
from steersman.views.requests import asker, wish
from steersman.views.text import one_line

BELL = "\x07"
LONGEST = 120
Doing = Literal["nothing", "working", "waiting"]
_MARKS: dict[Doing, str] = {"nothing": "", "working": "● ", "waiting": "? "}
# Terminals that know OSC 777; others get OSC 9, which more of them know.
_NOTIFIES_777 = ("urxvt", "rxvt", "foot", "wezterm", "ghostty", "contour", "vte")


class Wanted(Struct, frozen=True):
    """What a person wants to be notified by."""

    bell: bool = True
    desktop: bool = True
    title: bool = True

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Wanted":
        """`STEERSMAN_NOTICES` names them (`bell desktop title`); `off` is none, unset is all."""
        said = environ.get("STEERSMAN_NOTICES")
        if said is None:
            return cls()
        names = said.replace(",", " ").lower().split()
        return cls(*(name in names for name in ("bell", "desktop", "title")))


def words(block: Request | Asked) -> str:
    """What waits, in one line."""
    match block:
        case Request():
            return one_line(wish(block), LONGEST)
        case Asked(question=question):
            who = asker(block)
            return one_line(f"{who}: {question.text}" if who else question.text, LONGEST)


def desktop_notice(text: str, environ: Mapping[str, str]) -> str:
    """A desktop notification, for the terminal that there is; empty where none would understand."""
    term = environ.get("TERM", "")
    if term in ("", "dumb", "linux"):
        return ""
    told = _plain(text)
    program = (environ.get("TERM_PROGRAM", "") + " " + term).lower()
    knows_777 = any(name in program for name in _NOTIFIES_777) or "VTE_VERSION" in environ
    if knows_777:
        return _through(f"\x1b]777;notify;Steersman;{told.replace(';', ',')}\x1b\\", environ)
    # Digits and a semicolon at the beginning would mean something else to some terminals.
    return _through(f"\x1b]9;Steersman: {told}\x1b\\", environ)


def title_sequence(text: str, environ: Mapping[str, str]) -> str:
    """The terminal's title."""
    if environ.get("TERM", "") in ("", "dumb", "linux"):
        return ""
    return f"\x1b]2;{_plain(text)}\x1b\\"  # tmux takes it as the title of the pane


def state_title(doing: Doing, about: str, waiting: int = 0) -> str:
    """What the title says: the state and what the thread is about."""
    many = f"({waiting}) " if waiting > 1 else ""
    return one_line(f"{_MARKS[doing]}{many}{about or 'steersman'}", 60)


def _plain(text: str) -> str:
    """Text that ends no sequence and begins none."""
    return one_line(text, LONGEST).replace("\\", "/")


def _through(sequence: str, environ: Mapping[str, str]) -> str:
    """tmux and screen hand on only what is wrapped for them."""
    if "TMUX" in environ:
        doubled = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environ.get("TERM", "").startswith("screen"):
        # The notice has no end but its last two characters; screen would end there, too.
        return f"\x1bP{sequence[:-2]}{BELL}\x1b\\"
    return sequence


class Notices:
    """Watches what waits. `write` puts a sequence on the terminal."""

    def __init__(
        self,
        write: Callable[[str], None],
        environ: Mapping[str, str],
        wanted: Wanted | None = None,
    ) -> None:
        self._write = write
        self._environ = environ
        self.wanted = wanted if wanted is not None else Wanted.of(environ)
        self._focused = True
        self._told: set[str] = set()
        self._title = ""

    def focus(self, focused: bool) -> None:
        """Whether the user looks at this terminal."""
        self._focused = focused

    def waiting(self, blocks: Iterable[Request | Asked]) -> None:
        """What waits now; each is reported once, and only to a person who looks elsewhere."""
        now = {block.corr: block for block in blocks}
        new = [block for corr, block in now.items() if corr not in self._told]
        self._told = set(now)  # what is answered can be forgotten: no `corr` comes twice
        if not new or self._focused:
            return
        more = f" (and {len(new) - 1} more)" if len(new) > 1 else ""
        notice = desktop_notice(words(new[0]) + more, self._environ) if self.wanted.desktop else ""
        self._write((BELL if self.wanted.bell else "") + notice)

    def ended(self, ending: str) -> None:
        """A turn is over: worth a notice to a person who looks elsewhere."""
        if self._focused:
            return
        notice = ""
        if self.wanted.desktop:
            notice = desktop_notice(f"the turn has ended: {ending}", self._environ)
        self._write((BELL if self.wanted.bell else "") + notice)

    def state(self, doing: Doing, about: str, waiting: int = 0) -> None:
        """The title, when it is another."""
        text = state_title("waiting" if waiting else doing, about, waiting)
        if self.wanted.title and text != self._title:
            self._title = text
            self._write(title_sequence(text, self._environ))

    def leave(self) -> None:
        """Give the title back."""
        if self._title:
            self._title = ""
            self._write(title_sequence("", self._environ))


def driver_write(app: object) -> Callable[[str], None]:
    """A way to the terminal of an application; nothing where there is none, as in tests."""

    def write(sequence: str) -> None:
        driver = getattr(app, "_driver", None)
        if sequence and driver is not None and not driver.is_headless:
            driver.write(sequence)
            driver.flush()

    return write
