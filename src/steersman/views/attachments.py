"""What goes along with words: long pasted texts and pictures, shown as chips, and files mentioned.

A chip is part of the text, such as `[pasted text 1: 350 lines]`; whoever deletes it sends nothing.
Large texts are kept in files of the data folder, so that writing on stays quick.
"""

import os
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Literal

from msgspec import Struct

from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.records.escapes import without_escapes
from steersman.records.in_context import parted, with_context

LONG_TEXT, LONG_LINES = 2_000, 20  # what is longer becomes a chip
HUGE = 200_000  # characters; of more, the model is shown the beginning and the end
SHOWN_HEAD, SHOWN_TAIL = 80_000, 20_000
LARGEST = 64_000_000  # characters; more is not taken
INLINE = 4_000  # characters of a piece that a history entry holds itself
MOST_KEPT = 100  # files with pasted texts and pictures
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MOST_MENTIONS = 50

# Controls, marks that turn the direction of reading, and invisible tags; no text needs them.
_NO_TEXT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]"
)
_TO_LINES = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    """Text as it may be written: no escape sequences, no controls, lines broken in one way."""
    lined = _TO_LINES.sub("\n", text) if not text.isprintable() else text
    return _NO_TEXT.sub("", without_escapes(lined))


def is_long(text: str) -> bool:
    """Whether a paste should be a chip."""
    return len(text) > LONG_TEXT or text.count("\n") >= LONG_LINES


class Piece(Struct, frozen=True, omit_defaults=True):
    """Something behind a chip. `path` is the picture, or the file that has a large text."""

    label: str
    kind: Literal["text", "image"] = "text"
    text: str = ""
    path: str = ""


class ComposerDraft(Struct, frozen=True, omit_defaults=True):
    """Words as they are being written, with what their chips stand for."""

    text: str
    pieces: tuple[Piece, ...] = ()


class Attachments:
    """The chips of one composer; `folder` is where large texts are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pieces: dict[str, Piece] = {}
        self._count: dict[str, int] = {"text": 0, "image": 0}

    def add_text(self, text: str) -> Piece:
        """A long text as a chip."""
        if len(text) > LARGEST:
            raise UsageProblem(
                f"The pasted text is too long: {counted(len(text), 'character')}.",
                f"At most {LARGEST:,} are taken.",
                "Save it as a file and mention that with @.",
            )
        lines = text.count("\n") + (not text.endswith("\n"))
        label = f"[pasted text {self._next('text')}: {counted(lines, 'line')}]"
        piece = Piece(label, text=text)
        if len(text) > HUGE:
            piece = self._spilled(piece)
        self._pieces[label] = piece
        return piece

    def add_image(self, path: str) -> Piece:
        """A picture as a chip; it is read when it is sent."""
        name = clean(os.path.basename(path)).translate({ord(c): "_" for c in "[]\n"})
        label = f"[image {self._next('image')}: {name}]"
        piece = self._pieces[label] = Piece(label, "image", path=path)
        return piece

    def keep_image(self, data: bytes) -> str:
        """Keep a picture that was copied, as PNG; the answer is its file."""
        path = self._folder / f"clipboard-{sha256(data).hexdigest()[:12]}.png"
        self._write(path, data, "image")
        return str(path)

    def draft(self, text: str) -> ComposerDraft:
        """A text with the pieces it uses."""
        return ComposerDraft(text, tuple(self._used(text)))

    def light(self, text: str) -> ComposerDraft:
        """The same for keeping long: larger pieces are in files."""
        pieces = (self._spilled(one) if len(one.text) > INLINE else one for one in self._used(text))
        return ComposerDraft(text, tuple(pieces))

    def adopt(self, draft: ComposerDraft) -> None:
        """Know the pieces of a text that was kept."""
        for piece in draft.pieces:
            self._pieces[piece.label] = piece
            number = re.search(r"\d+", piece.label)
            self._count[piece.kind] = max(self._count[piece.kind], int(number[0]) if number else 0)

    def forget(self) -> None:
        """Nothing goes along any more; numbers begin again."""
        self._pieces.clear()
        self._count = {"text": 0, "image": 0}

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Where chips are in a line."""
        if "[" not in line or not self._pieces:
            return []
        return [found.span() for found in self._labels().finditer(line)]

    def expanded(self, text: str) -> str:
        """The text as it is sent: instead of the chips what they stand for, pictures excepted."""
        if not self._pieces:
            return text
        return self._labels().sub(lambda found: self._content(self._pieces[found[0]]), text)

    def pictures(self, text: str) -> list[str]:
        """The files of the pictures that go along."""
        return [piece.path for piece in self._used(text) if piece.kind == "image"]

    def _used(self, text: str) -> Iterable[Piece]:
        if "[" not in text or not self._pieces:
            return ()
        labels = dict.fromkeys(self._labels().findall(text))
        return [self._pieces[label] for label in labels]

    def _labels(self) -> re.Pattern[str]:
        return re.compile("|".join(re.escape(label) for label in self._pieces))

    def _next(self, kind: str) -> int:
        self._count[kind] += 1
        return self._count[kind]

    def _content(self, piece: Piece) -> str:
        if piece.kind == "image":
            return piece.label
        text = _read(piece) if piece.path else piece.text
        if len(text) <= HUGE:
            return text
        left_out = len(text) - SHOWN_HEAD - SHOWN_TAIL
        cut = f"\n[Steersman: {counted(left_out, 'character')} of the pasted text left out here]\n"
        return text[:SHOWN_HEAD] + cut + text[-SHOWN_TAIL:]

    def _spilled(self, piece: Piece) -> Piece:
        """The piece with its text in a file; the same text is kept once."""
        data = piece.text.encode("utf-8", "replace")
        path = self._folder / f"{sha256(data).hexdigest()[:24]}.txt"
        self._write(path, data, "text")
        return Piece(piece.label, path=str(path))

    def _write(self, path: Path, data: bytes, what: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(path, data)
            _tidy(self._folder, path)
        except OSError as error:
            raise UsageProblem(
                f"The pasted {what} cannot be kept.", f"{path}: {error.strerror}"
            ) from error


def write_private(path: Path, data: bytes) -> None:
    """A file only its owner reads, there in whole or not at all. Raises `OSError`."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(beside, flags, 0o600), "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _tidy(folder: Path, newest: Path) -> None:
    """Keep only the latest texts and pictures."""
    kept = sorted(folder.glob("[!.]*"), key=lambda one: one.stat().st_mtime, reverse=True)
    for path in kept[MOST_KEPT:]:
        if path != newest:
            path.unlink(missing_ok=True)


def _read(piece: Piece) -> str:
    try:
        return Path(piece.path).read_text("utf-8", "replace")
    except OSError as error:
        raise UsageProblem(
            f"What was pasted as {piece.label} is no longer kept.",
            error.strerror or "",
            "Paste it again, or delete the chip.",
        ) from error


def is_picture(path: str) -> bool:
    """Whether a name is that of a picture that models take."""
    return path.lower().endswith(PICTURES)


_MENTION = re.compile(r'(?:^|(?<=[\s(\[{,;:]))@(?:"([^"\n]+)"|([^\s"@]+))', re.MULTILINE)


_SYMBOL = re.compile(r"[\w$.]*[\w$]")


def _there(name: str, exists: Callable[[str], bool]) -> bool:
    """Whether a file is there, or the one before the `#` of a name in it."""
    file, _, symbol = name.rpartition("#")
    return exists(name) or bool(file and _SYMBOL.fullmatch(symbol) and exists(file))


def mentioned(text: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    """The files and folders that a text names with `@`, each once, in order.

    `@file#name` is something that the file defines.
    """
    found: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        quoted, bare = match.groups()
        for name in (quoted,) if quoted else (bare, bare.rstrip(".,;:!?)]}'’”")):
            if name and _there(name, exists):
                found[name] = None
                break
    return tuple(found)


def as_mention(path: str) -> str:
    """A path as one writes it after words."""
    return f'@"{path}"' if re.search(r'[\s"@]', path) else f"@{path}"


class Mentions(Struct, frozen=True):
    """The files mentioned in a thread so far; they stay in context until they are `dropped`."""

    files: tuple[str, ...] = ()
    dropped: bool = False  # something was, since words were last sent

    def add(self, files: Iterable[str]) -> "Mentions":
        """With some more, the latest last; of too many the oldest go."""
        merged = dict.fromkeys((*self.files, *files))
        return Mentions(tuple(merged)[-MOST_MENTIONS:])

    def remove(self, file: str) -> "Mentions":
        """Without one."""
        return Mentions(tuple(one for one in self.files if one != file), dropped=True)

    def untold(self) -> "Mentions":
        """The same, where the words that named them were withdrawn."""
        return Mentions(self.files, dropped=True)

    def applied(self, text: str) -> str:
        """A text as it is sent: with the files it does not name itself; all, if some were dropped.

        The last such line of a thread names the files in context.
        """
        now = mentioned(text, lambda _: True)
        others = [file for file in self.files if file not in now]
        told = " ".join(map(as_mention, (*others, *(now if self.dropped else ()))))
        return with_context(text, told) if others or self.dropped else text

    @classmethod
    def told(cls, texts: Iterable[str], exists: Callable[[str], bool]) -> "Mentions":
        """What the texts of a thread say: its files are those of the last line and since then."""
        found = cls()
        for text in texts:
            body, line = parted(text)
            before = found if line is None else cls(mentioned(line, exists))
            found = before.add(mentioned(body, exists))
        return found


NO_MENTIONS = Mentions()
