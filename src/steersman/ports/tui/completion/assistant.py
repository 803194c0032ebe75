"""Helps with what is being written: looks at the cursor, offers, and puts in what is chosen.

Works for one composer, on the composer's own loop; long looks for files are taken in slices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from steersman.ports.tui.completion.popup import Popup
from steersman.views.completion.files import Files
from steersman.views.completion.fuzzy import Search
from steersman.views.completion.sources import (
    Names,
    Offer,
    Want,
    offer_file,
    offer_names,
    offer_symbol,
    wanted,
)
from steersman.views.completion.symbols import Symbols
from steersman.views.text import one_line

if TYPE_CHECKING:
    from steersman.ports.tui.paper import Paper
    from steersman.views.attachments import ComposerDraft

_MARKED = re.compile(r'(?:^|(?<=[\s(\[{,;:]))(?:@(?:"[^"\n]+"?|[^\s"@]+)|\$[a-z0-9][a-z0-9_-]*)')
Arguments = Callable[[str], Sequence[tuple[str, str]]]


class Assistant:
    """What is offered now, and which of it is chosen."""

    def __init__(
        self,
        composer: Paper,
        folder: str,
        environ: Mapping[str, str],
        commands: Names,
        skills: Names,
        arguments: Arguments,
    ) -> None:
        self._composer = composer
        self._environ = environ
        self._commands = commands
        self._skills = skills
        self._arguments = arguments
        self.files = Files(folder, environ)
        self.symbols = Symbols(folder, environ)
        self.offers: list[Offer] = []
        self.chosen = 0
        self._want: Want | None = None
        self._seen: tuple[int, int, str] | None = None
        self._dismissed: tuple[str, int, int] | None = None
        self._search: Search | None = None
        self._past: list[ComposerDraft] = []
        self._before: ComposerDraft | None = None  # what was written before history is searched
        self._popup: Popup | None = None

    @property
    def is_open(self) -> bool:
        """Whether something is offered."""
        return bool(self.offers)

    @property
    def searching(self) -> bool:
        """Whether history is searched by what is written."""
        return self._before is not None

    def move(self, folder: str) -> None:
        """Offer the files of another folder."""
        self.files = Files(folder, self._environ)
        self.symbols = Symbols(folder, self._environ)
        self.close()

    def look(self) -> None:
        """Look at the cursor, and offer what may be meant there."""
        composer = self._composer
        row, column = composer.cursor_location
        line = composer.document.get_line(row)
        if self._seen == (row, column, line):
            return
        self._seen = (row, column, line)
        if self.searching:
            self._offer_past()
            return
        want = None
        if composer.selection.is_empty and not composer.read_only:
            want = self._wanted(row, line[:column])
        if want is None or self._dismissed != (want.kind, row, want.start):
            self._dismissed = None
            self._offer(want)

    def _wanted(self, row: int, line: str) -> Want | None:
        shell = self._composer.document.get_line(0).startswith("!")
        want = wanted(line, first=row == 0, shell=shell)
        if want is None and row == 0 and line.startswith("/") and " " in line:
            return Want("argument", line, 0)
        return want

    def _offer(self, want: Want | None) -> None:
        if want is None:
            self.close()
            return
        self._want, self._search = want, None
        match want.kind:
            case "file" | "symbol":
                listing = self._listing(want)
                self._search = Search(listing.found(want.query), want.query)
                self._go_on(self._search)
                if not listing.fresh or listing.leaves_out(want.query):
                    work = self._refresh(listing)
                    self._composer.run_worker(work, group="files", exit_on_error=False)
            case "skill":
                self._show(offer_names(want, self._skills()))
            case "command":
                self._show(offer_names(want, self._commands()))
            case _:
                found = self._arguments(want.query)
                self._show([Offer(text, text, about) for text, about in found])

    def _go_on(self, search: Search) -> None:
        """Another slice of a look for files, unless another look has begun."""
        if search is not self._search or self._want is None:
            return
        done = search.work()
        offer = offer_symbol if self._want.kind == "symbol" else offer_file
        offers = [offer(one) for one in search.found() if one.text != self._want.query]
        self._show(offers, keep=True)
        if not done:
            self._composer.call_later(self._go_on, search)

    def _listing(self, want: Want) -> Files:
        return self.symbols if want.kind == "symbol" else self.files

    async def _refresh(self, listing: Files) -> None:
        """Look at the folder again; offers follow if they are still wanted."""
        newer, want = await listing.refresh(), self._want
        if want is not None and want.kind == "file":
            newer = await listing.look_into(want.query) or newer
        if not newer:
            return
        want = self._want
        if want is not None and want.kind in ("file", "symbol") and self._listing(want) is listing:
            self._search = Search(listing.found(want.query), want.query)
            self._go_on(self._search)

    def search_history(self) -> None:
        """Offer what was said before, by the words that are written; again: the next older."""
        if self.searching:
            self.step(1)
            return
        composer = self._composer
        if composer.read_only:
            return
        self._before = composer.attachments.draft(composer.text)
        self._want = Want("history", composer.text, 0)
        self._offer_past()
        if not self.offers:
            composer.notify("No earlier message matches.", timeout=2)
            self._before = self._want = None

    def _offer_past(self) -> None:
        self._past = self._composer.past.search(self._composer.text)
        self._show([Offer(one_line(one.text, 400), "") for one in self._past])

    def _show(self, offers: list[Offer], *, keep: bool = False) -> None:
        chosen = self.offers[self.chosen].label if keep and self.chosen and self.offers else ""
        labels = [one.label for one in offers] if chosen else []
        self.offers = offers
        self.chosen = labels.index(chosen) if chosen in labels else 0
        self.place()

    def place(self) -> None:
        """Show the list beside the composer, as it is now."""
        composer = self._composer
        if not composer.is_attached:
            return
        if self._popup is None:
            self._popup = Popup(self.choose)
            composer.screen.mount(self._popup)
        if self.offers:
            self._popup.show(self.offers, self.chosen, composer.region, composer.screen.size)
        else:
            self._popup.hide()

    def step(self, by: int) -> bool:
        """Choose the next or the one before; False if nothing is offered."""
        if not self.offers:
            return False
        self.chosen = (self.chosen + by) % len(self.offers)
        self.place()
        return True

    def open(self) -> None:
        """Offer again, also what was dismissed."""
        self._seen = self._dismissed = None
        self.look()

    def close(self) -> None:
        """Offer nothing."""
        self._want = self._search = self._before = self._seen = None
        self.chosen = 0
        if self.offers:
            self._show([])

    def settle(self) -> None:
        """Offer nothing for what is written now; it was put here as it is."""
        self.close()
        row, column = self._composer.cursor_location
        self._seen = (row, column, self._composer.document.get_line(row))

    def dismiss(self) -> bool:
        """Offer nothing until something else is written; False if nothing was offered."""
        if self.searching and self._before is not None:
            self._composer.restore(self._before)
            return True
        if not self.offers or self._want is None:
            return False
        row = self._composer.cursor_location[0]
        self._dismissed = (self._want.kind, row, self._want.start)
        seen = self._seen
        self.close()
        self._seen = seen
        return True

    def accept(self, *, enter: bool = False) -> bool:
        """Put in what is chosen; False when there is nothing to put in, or nothing new.

        With Enter, a whole command is put in and also said.
        """
        want = self._want
        if not self.offers or want is None:
            return False
        offer, composer = self.offers[self.chosen], self._composer
        if want.kind == "history":
            composer.restore(self._past[self.chosen])
            return True
        row, column = composer.cursor_location
        written = composer.document.get_line(row)[want.start : column]
        if enter and (written == offer.insert.rstrip() or (want.kind == "command" and offer.whole)):
            if written != offer.insert.rstrip():
                composer.replace(offer.insert.rstrip(), (row, want.start), (row, column))
            self.close()
            return False
        if enter and want.kind == "argument" and self._complete(written):
            self.close()
            return False
        after = composer.document.get_line(row)[column:]
        insert = offer.insert.rstrip() if after.startswith(" ") else offer.insert
        done = composer.replace(
            insert, (row, want.start), (row, column), maintain_selection_offset=False
        )
        composer.move_cursor(done.end_location)
        self.close()
        self.look()
        return True

    def _complete(self, written: str) -> bool:
        """Whether an argument is one that is offered, or a folder, and no other was chosen."""
        known = {one.insert.rstrip(" /") for one in self.offers}
        return self.chosen == 0 and (written.endswith("/") or written.rstrip(" /") in known)

    def choose(self, number: int) -> None:
        """Put in what was clicked."""
        self.chosen = number
        self.accept()

    def mention_spans(self, line: str) -> list[tuple[int, int]]:
        """Where files and skills are named in a line."""
        if "@" not in line and "$" not in line:
            return []
        return [found.span() for found in _MARKED.finditer(line)]
