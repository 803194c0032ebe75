"""What a command prints: head and tail for the model, all of it in a spool file, some of it live.

Memory stays bounded however much is printed. Counts are of the command's own bytes, exact for any
chunking; a character is never torn where something is left out.
"""

import codecs
import os
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from steersman.records.counting import counted

if TYPE_CHECKING:
    from steersman.store.redactor import Redactor

HEAD = TAIL = 16 * 1024
SHAPES_IN = 4 << 20  # of a longer output, known secrets are masked, and at the log all others
LINE = 2048
SPOOL = 2 * 1024**3  # unless settings say otherwise, what is printed beyond is not kept on disk

LIVE_WHOLE = 64 * 1024  # shown live as it comes; beyond it only now and then, ever more rarely
LIVE_PIECE = 4 * 1024
LIVE_GROWTH = 16  # shown again when a sixteenth more was printed

Cut = tuple[int, int]  # where in the kept bytes, and how many bytes are cut there


class Excerpt:
    """The first and the last of a stream of bytes, with long lines cut."""

    def __init__(self, head: int = HEAD, tail: int = TAIL, line: int = LINE) -> None:
        self.size = 0
        self._ends = 0  # of lines
        self._at_end = True  # of a line
        self._room = head
        self._most = tail
        self._longest = line
        self._line = 0  # bytes of the unfinished line that were kept
        self._kept = 0
        self._head = bytearray()
        self._tail = bytearray()
        self._head_cuts: list[Cut] = []
        self._tail_cuts: deque[Cut] = deque()

    @property
    def truncated(self) -> bool:
        """True when the text is not the whole."""
        return self._gap > 0 or bool(self._head_cuts or self._tail_cuts)

    @property
    def lines(self) -> int:
        """How many lines were printed, the last also if nothing ended it."""
        return self._ends + (not self._at_end)

    @property
    def _gap(self) -> int:
        return self._kept - len(self._head) - len(self._tail)

    def add(self, piece: bytes) -> None:
        """Take in what was printed next."""
        self.size += len(piece)
        self._ends += piece.count(b"\n")
        self._at_end = piece.endswith(b"\n") if piece else self._at_end
        passed = at = 0
        room = self._longest - self._line
        while at < len(piece):
            # Everything up to the last line end in reach is made of lines that are short enough.
            end = piece.rfind(b"\n", at, at + room + 1)
            if end >= 0:
                at, room = end + 1, self._longest
            elif len(piece) - at <= room:
                room -= len(piece) - at
                break
            else:
                self._keep(piece[passed : at + room])
                end = piece.find(b"\n", at + room)
                passed = end if end >= 0 else len(piece)
                self._cut(passed - at - room)
                at, room = passed, 0
        self._keep(piece[passed:])
        self._line = self._longest - room

    def _keep(self, piece: bytes) -> None:
        room = self._room - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:][-self._most :]
        del self._tail[: -self._most]
        self._kept += len(piece)
        while self._tail_cuts and self._tail_cuts[0][0] <= self._kept - len(self._tail):
            self._tail_cuts.popleft()

    def _cut(self, count: int) -> None:
        cuts = self._head_cuts if self._kept <= self._room else self._tail_cuts
        if cuts and cuts[-1][0] == self._kept:
            count += cuts.pop()[1]
        cuts.append((self._kept, count))

    def text(self) -> str:
        """What is shown."""
        if not self._gap:
            cuts = [*self._head_cuts, *self._tail_cuts]
            return _shown(bytes(self._head + self._tail), 0, cuts, last=True)[0]
        head, torn = _shown(bytes(self._head), 0, self._head_cuts, last=False)
        torn += (start := _first_whole(self._tail))
        behind = self._kept - len(self._tail) + start
        tail, _ = _shown(bytes(self._tail[start:]), behind, self._tail_cuts, last=True)
        marked = sum(count for _, count in (*self._head_cuts, *self._tail_cuts))
        left_out = self.size - len(self._head) - len(self._tail) - marked + torn
        return f"{head}\n[… {counted(left_out, 'byte')} left out …]\n{tail}"


def whole_characters(piece: bytes) -> tuple[str, int]:
    """Bytes as text, and how many at the end belong to a character that is not finished."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(piece), len(decoder.getstate()[0])


def _shown(kept: bytes, start: int, cuts: Iterable[Cut], *, last: bool) -> tuple[str, int]:
    """Kept bytes with their cuts said, and how many of a torn character at the end are not shown.

    At the `last` of the output such bytes are shown as what they are: not text.
    """
    shown, at = "", 0
    for position, count in cuts:
        end = max(position - start, 0)
        text, torn = whole_characters(kept[at:end])
        shown += f"{text}…[{counted(count + torn, 'byte')} cut]"
        at = end
    if last:
        return shown + kept[at:].decode(errors="replace"), 0
    text, torn = whole_characters(kept[at:])
    return shown + text, torn


def _first_whole(tail: bytearray) -> int:
    """Where the first character begins that is not cut off by the gap."""
    return next((i for i, byte in enumerate(tail[:3]) if byte & 0xC0 != 0x80), min(3, len(tail)))


class Live:
    """Shows what is printed while it is printed: the first of it whole, the rest by samples.

    How often depends on how much was printed and never on time: a thousand times the output is
    reported about a hundred times more.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._size = 0
        self._next = LIVE_WHOLE
        self._waiting = bytearray()
        self._skipped = 0

    def add(self, piece: bytes) -> None:
        """Take in what was printed next."""
        room = max(LIVE_WHOLE - self._size, 0)
        self._size += len(piece)
        self._say(self._decoder.decode(piece[:room]))
        self._waiting += piece[room:]
        excess = max(len(self._waiting) - LIVE_PIECE, 0)
        self._skipped += excess
        del self._waiting[:excess]
        if self._size >= self._next and self._waiting:
            self._sample()

    def finish(self) -> None:
        """Tell what has not been reported of the end."""
        if self._waiting:
            self._sample()
        self._say(self._decoder.decode(b"", final=True))

    def _sample(self) -> None:
        self._next = self._size + self._size // LIVE_GROWTH
        if self._skipped:
            self._decoder.reset()
            torn = _first_whole(self._waiting)
            del self._waiting[:torn]
            self._say(f"\n[… {counted(self._skipped + torn, 'byte')} not shown live …]\n")
        self._say(self._decoder.decode(bytes(self._waiting)))
        self._waiting.clear()
        self._skipped = 0

    def _say(self, text: str) -> None:
        if text:
            self._tell(text)


class Cleaner:
    """Takes secrets out of bytes that arrive in pieces; bytes that are not text pass."""

    def __init__(self, redactor: "Redactor") -> None:
        self._stream = redactor.stream(SHAPES_IN)
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, piece: bytes) -> bytes:
        """What may be kept now."""
        return _bytes(self._stream.feed(self._decoder.decode(piece)))

    def flush(self) -> bytes:
        """What was held back."""
        rest = self._decoder.decode(b"", final=True)
        return _bytes(self._stream.feed(rest) + self._stream.flush())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class Output:
    """Everything one command prints."""

    def __init__(
        self,
        path: Path,
        progress: Callable[[str], None] | None = None,
        redactor: "Redactor | None" = None,
        *,
        most: int = SPOOL,
    ) -> None:
        self.path = path
        self._most = most
        # Before anything is cut: half of a secret would not be recognised at the door of the log.
        self._clean = Cleaner(redactor) if redactor else None
        self.spooled = 0
        self.problem = ""
        self._excerpt = Excerpt()
        self._live = Live(progress) if progress else None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._spool = open(os.open(path, flags, 0o600), "wb", buffering=0)  # noqa: SIM115

    @property
    def size(self) -> int:
        """How many bytes were printed so far."""
        return self._excerpt.size

    @property
    def truncated(self) -> bool:
        """True when `text` is not the whole."""
        return self._excerpt.truncated

    @property
    def lines(self) -> int:
        """How many lines were printed so far."""
        return self._excerpt.lines

    def text(self) -> str:
        """The head and the tail, with what is left out said."""
        return self._excerpt.text()

    def add(self, piece: bytes) -> None:
        """Take in what was printed next."""
        self._take(self._clean.feed(piece) if self._clean else piece)

    def _take(self, piece: bytes) -> None:
        self._keep(piece)
        self._excerpt.add(piece)
        if self._live:
            self._live.add(piece)

    def mute(self) -> None:
        """Tell no more live: whoever listened has gone on."""
        self._live = None

    def finish(self) -> None:
        """Nothing more will be printed."""
        if self._clean:
            self._take(self._clean.flush())
        if self._live:
            self._live.finish()
        self._spool.close()

    def read(self, offset: int, limit: int) -> bytes:
        """A range of the whole output, as far as it was kept."""
        with self.path.open("rb") as spool:
            spool.seek(offset)
            return spool.read(limit)

    def _keep(self, piece: bytes) -> None:
        """Write to the spool; a full disk costs the rest of the copy and nothing else."""
        if self.problem:
            return
        rest = memoryview(piece)[: self._most - self.spooled]
        try:
            while rest:
                written = self._spool.write(rest)
                self.spooled += written
                rest = rest[written:]
        except OSError as error:
            self.problem = error.strerror or str(error)
        if self.spooled >= self._most:
            self.problem = f"only the first {self._most:,} bytes are kept"
