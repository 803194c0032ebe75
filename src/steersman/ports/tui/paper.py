"""A text with chips for what is pasted and marks for what is named, kept while it is written.

What keys do with it, and what becomes of the words, is for the composer.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import events

from steersman.ports.tui.area import Area
from steersman.ports.tui.completion.assistant import Assistant
from steersman.ports.tui.history import NOTHING, Drafts, History
from steersman.records.errors import SteersmanError
from steersman.views.attachments import (
    HUGE,
    NO_MENTIONS,
    Attachments,
    ComposerDraft,
    Mentions,
    as_mention,
    clean,
    is_long,
    is_picture,
)
from steersman.views.commands.registry import is_command
from steersman.views.completion.sources import Names, nothing
from steersman.views.saying import BaseFolder, dropped_paths
from steersman.views.text import safe

FREE = ("f6", "f7", "pageup", "pagedown")  # of a text area, but left to the application


class Paper(Area):
    """What is being written in one thread."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "composer--chip",
        "composer--mention",
        "composer--mark",
    }

    def __init__(
        self,
        folder: str,
        home: Path,
        *,
        environ: Mapping[str, str] = os.environ,
        commands: Names = nothing,
        skills: Names = nothing,
        arguments: Callable[[str], Sequence[tuple[str, str]]] = lambda _: (),
        id: str | None = None,
    ) -> None:
        super().__init__(
            id=id, soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False
        )
        self.folder = folder
        self.thread = ""
        self.mentions = NO_MENTIONS
        self.attachments = Attachments(home / "terminal" / "pasted")
        self.past = History(home, folder)
        self._home = home
        self._environ = environ
        self._drafts = Drafts(home)
        self._unkept = False
        for key in FREE:
            self._bindings.key_to_bindings.pop(key, None)
        self.assistant = Assistant(self, folder, environ, commands, skills, arguments)

    def move(self, folder: str, thread: str, mentions: Mentions = NO_MENTIONS) -> None:
        """Write in another thread: unsent words stay with the thread they were meant for."""
        if (folder, thread) == (self.folder, self.thread):
            self.mentions = mentions
            return
        # The first words of a folder make its thread, and what follows belongs there.
        begins = not self.thread and folder == self.folder
        kept, now = self._drafts.read(folder, thread), self.attachments.draft(self.text)
        carried = begins and not kept.text
        self._drafts.keep(self.folder, self.thread, NOTHING if carried else now)
        if begins:
            mentions = mentions.add(self.mentions.files)
        if folder != self.folder:
            self.past = History(self._home, folder)
            self.assistant.move(folder)
        self.folder, self.thread, self.mentions = folder, thread, mentions
        self.restore(now if carried else kept)

    def restore(self, draft: ComposerDraft) -> None:
        """Words with their chips, instead of what is here."""
        self.attachments.adopt(draft)
        self.load_text(clean(draft.text))
        self.move_cursor(self.document.end)
        self._unkept = True
        self.assistant.settle()

    def keep(self) -> None:
        """Keep unsent words now."""
        if self._unkept:
            self._unkept = False
            self._drafts.keep(self.folder, self.thread, self.attachments.draft(self.text))

    # Text

    def tell(self, problem: SteersmanError) -> None:
        """Say what is wrong, in passing."""
        self.notify(safe(str(problem)), severity="warning", markup=False)

    def on_text_area_changed(self) -> None:
        """Look again at what is written, by whatever it was changed."""
        self._unkept = True
        self.set_class(self.document.get_line(0).startswith("!"), "-shell")
        self.assistant.look()

    def on_text_area_selection_changed(self) -> None:
        """The cursor may have left what is offered for."""
        if self.assistant.is_open:
            self.assistant.look()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if event.text:
            self.paste(event.text)
        else:  # what terminals send when the clipboard has an image
            self.action_paste()

    def action_paste(self) -> None:
        """The image in the system's clipboard, or what was copied in the application itself."""
        from steersman.host import clipboard

        if clipboard.sources(self._environ):
            self.run_worker(self._paste_image(), group="clipboard", exclusive=True)
        elif self.app.clipboard:
            self.paste(self.app.clipboard)
        else:
            told = "Nothing to paste here. Paste text with your terminal's own key; images need "
            self.notify(f"{told}wl-paste, xclip or pngpaste.", markup=False)

    async def _paste_image(self) -> None:
        from steersman.host import clipboard

        data = await clipboard.picture(self._environ)
        if not data and self.app.clipboard:
            self.paste(self.app.clipboard)
        elif not data:
            self.notify("There is no image in the clipboard.", markup=False)
        elif not self.read_only:
            try:
                path = await asyncio.to_thread(self.attachments.keep_image, data)
            except SteersmanError as problem:
                self.tell(problem)
                return
            self._insert(f"{self.attachments.add_image(path).label} ")

    def paste(self, text: str) -> None:
        """Take text from outside: paths of pictures as pictures, long texts as chips."""
        if self.read_only or not text:
            return
        try:
            self._insert(self._taken(clean(text)))
        except SteersmanError as problem:
            self.tell(problem)

    def _taken(self, text: str) -> str:
        dropped = dropped_paths(text)
        if dropped:
            return " ".join(self._dropped(path) for path in dropped) + " "
        if not is_long(text):
            return text
        piece = self.attachments.add_text(text)
        if len(text) > HUGE:
            told = f"{len(text):,} characters were pasted. The model is shown the beginning and "
            self.notify(f"{told}the end; all of it is kept in {safe(piece.path)}.", markup=False)
        return f"{piece.label} "

    def _dropped(self, path: str) -> str:
        if is_picture(path):
            return self.attachments.add_image(path).label
        return as_mention(BaseFolder(self.folder).shown(path))

    def insert_text(self, text: str) -> None:
        """Put text where the cursor is, as if it were pasted."""
        self._insert(clean(text))

    def _insert(self, text: str) -> None:
        if self.read_only:
            return
        start, end = self.selection
        result = self.replace(text, start, end, maintain_selection_offset=False)
        self.move_cursor(result.end_location)
        self.assistant.look()

    def get_line(self, line_index: int) -> Text:
        """A line with its chips and marks."""
        line = super().get_line(line_index)
        plain = line.plain
        if line_index == 0 and (plain.startswith("!") or is_command(plain)):
            end = 1 if plain.startswith("!") else len(plain.split(maxsplit=1)[0])
            line.stylize(self.get_component_rich_style("composer--mark", partial=True), 0, end)
        for start, end in self.attachments.spans(plain):
            line.stylize(self.get_component_rich_style("composer--chip", partial=True), start, end)
        for start, end in self.assistant.mention_spans(plain):
            style = self.get_component_rich_style("composer--mention", partial=True)
            line.stylize(style, start, end)
        return line
