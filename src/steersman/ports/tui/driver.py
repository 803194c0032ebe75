"""What the terminal sends, made safe: pasted text is text, and letters may be broken.

Textual takes an escape sequence inside a paste for keys: whoever pastes a coloured log would press
Enter with it, or answer a question. And one byte that is not UTF-8 would end the hearing of keys.
Here a paste is cut out as a whole before keys are looked for, which is also much quicker.
"""

import os
import re
import selectors
import signal
import threading
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from queue import Empty

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

BEGIN, END = "\x1b[200~", "\x1b[201~"
# Enter with Alt or Shift, as terminals send it that do not speak kitty's protocol; in its words.
ENTERS = {
    "\x1b\r": "\x1b[13;3u",
    "\x1b\n": "\x1b[13;3u",
    "\x1b[27;2;13~": "\x1b[13;2u",
    "\x1b[27;3;13~": "\x1b[13;3u",
}
_ENTERS = re.compile("|".join(re.escape(enter) for enter in ENTERS))
AT_ONCE = 1 << 16
LEAVING = 10.0  # seconds to leave in when the terminal is gone
LOOK = 0.1  # seconds between looks at whether to end


class PasteParser(XTermParser):
    """Finds keys, but not in what is pasted."""

    def __init__(self, debug: bool = False) -> None:
        self._pasted: list[str] | None = None  # while a paste comes in
        self._tail = ""  # what came last: a bracket may be cut in two by the reading
        super().__init__(debug)

    def tick(self) -> Iterable[Message]:
        """Time has passed: an Esc that nothing followed was the key."""
        waited = self._timeout_time
        yield from super().tick()
        if waited is not None and self._timeout_time is None and self._pasted is None:
            self._tail = ""

    def feed(self, data: str) -> Iterable[Message]:
        """Take in what the terminal sent."""
        if not data:
            yield from super().feed(data)
        while data:
            bracket = BEGIN if self._pasted is None else END
            at = (self._tail + data).find(bracket)
            if at < 0:
                self._tail = (self._tail + data)[1 - len(bracket) :]
                yield from self._taken(data)
                return
            cut = at + len(bracket) - len(self._tail)
            piece, data, self._tail = data[:cut], data[cut:], ""
            yield from self._taken(piece)
            yield from self._turned()

    def _taken(self, data: str) -> Iterable[Message]:
        if self._pasted is None:
            yield from super().feed(_ENTERS.sub(lambda found: ENTERS[found[0]], data))
        else:
            self._pasted.append(data)

    def _turned(self) -> Iterable[Message]:
        """A bracket is complete: a paste begins, or has ended."""
        if self._pasted is None:
            self._pasted = []
            return
        text = "".join(self._pasted).removesuffix(END).replace("\0", "")
        self._pasted = None
        for token in super().feed(END):  # Textual's own parser is in a paste too, an empty one
            if not isinstance(token, Paste):
                yield token
        yield Paste(text)


class Driver(LinuxDriver):
    """Textual's own, with that parser, and with bad letters replaced."""

    _gone = False
    _left = False  # the application has let go of the terminal, and continues without it

    def write(self, data: str) -> None:
        """Show something, while there is someone to show it to."""
        if not self._gone:
            super().write(data)

    def close(self) -> None:
        """Let go of the terminal; one that is gone takes nothing now."""
        if self._gone:
            self._writer_thread = None
        self._left = self._app.return_value == "detached"
        super().close()

    def _sigtstp_application(self, *_: object) -> None:
        """Stop until the shell says to continue, with whoever started this, such as `uv run`.

        The shell watches that one; it gets the terminal as it was.
        """
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
            own = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
            os.killpg(0, signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, own)
        os.kill(os.getpid(), signal.SIGSTOP)

    def _sigcont_application(self, *_: object) -> None:
        """Continue: take the terminal, if it was given away, and draw everything again."""
        if self._must_signal_resume:
            super()._sigcont_application()
        draw = partial(self._app.refresh, layout=True)
        self._loop.call_soon_threadsafe(self._app.call_later, draw)

    def run_input_thread(self) -> None:
        """Hear the terminal until the end."""
        parser = PasteParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(LOOK):
                    data = self._read()
                    if not data:
                        self._hang_up()
                        return
                    if text := decode(data):
                        self._heard(parser.feed(text))
                self._heard(parser.tick())
        with suppress(EOFError, ParseError):
            self._heard(parser.feed(""))

    def _read(self) -> bytes:
        """What the terminal sent; nothing when it is gone."""
        try:
            return os.read(self.fileno, AT_ONCE)
        except OSError:
            return b""

    def _hang_up(self) -> None:
        """The terminal is gone: leave, and if what still wants to be shown holds that up, go.

        The log has everything, and the programs that were started end with the host.
        """
        self._gone = True
        writer = self._writer_thread
        if writer is not None:
            with suppress(Empty):  # whoever waits to write need not wait any more
                while True:
                    writer._queue.get_nowait()
        self._loop.call_soon_threadsafe(getattr(self._app, "hang_up", self._app.exit))
        going = threading.Timer(LEAVING, self._go)
        going.daemon = True
        going.start()

    def _go(self) -> None:
        if not self._left:
            os._exit(128 + signal.SIGHUP)

    def _heard(self, found: Iterable[Message]) -> None:
        for message in found:
            self.process_message(message)
