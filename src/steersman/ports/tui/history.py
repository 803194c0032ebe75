"""What was written before, and what is being written: one file per folder, one per unsent text.

Both are only for the user's eyes (mode 0600), both survive a crash, and neither is the log:
what cannot be read or written is not remembered, and nothing else happens.
"""

import fcntl
import os
import re
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from steersman.views.attachments import ComposerDraft, write_private

MOST = 1_000  # entries that are kept
LONGEST = 100_000  # bytes of one entry; a longer one is not kept
MOST_FILE = 4_000_000  # bytes; a longer file is cut down to a quarter
_DECODER = msgspec.json.Decoder(ComposerDraft)
NOTHING = ComposerDraft("")


def folder_name(folder: str) -> str:
    """A file name for a folder: readable, and its own."""
    real = os.path.realpath(folder)
    readable = re.sub(r"[^\w.-]", "_", os.path.basename(real), flags=re.ASCII)[:40]
    return f"{readable or 'root'}-{sha256(os.fsencode(real)).hexdigest()[:12]}"


class History:
    """What was said in a folder, the oldest first, and a place in it for walking."""

    def __init__(self, home: Path, folder: str) -> None:
        self._path = home / "terminal" / "history" / f"{folder_name(folder)}.jsonl"
        self.entries: list[ComposerDraft] = self._read()
        self._at = len(self.entries)
        self._unsent = NOTHING

    def add(self, entry: ComposerDraft) -> None:
        """Remember something; said twice in a row, it counts once."""
        self.rest()
        if not entry.text.strip() or (self.entries and self.entries[-1] == entry):
            return
        self.entries.append(entry)
        del self.entries[:-MOST]
        self.rest()
        line = msgspec.json.encode(entry) + b"\n"
        if len(line) <= LONGEST:
            with suppress(OSError):
                self._append(line)

    def earlier(self, now: ComposerDraft) -> ComposerDraft | None:
        """One step back; None at the beginning. `now` is kept for the way forward."""
        if self._at == len(self.entries):
            self._unsent = now
        if self._at == 0:
            return None
        self._at -= 1
        return self.entries[self._at]

    def later(self) -> ComposerDraft | None:
        """One step forward, at last to what was being written; None if one is there."""
        if self._at == len(self.entries):
            return None
        self._at += 1
        return self._unsent if self._at == len(self.entries) else self.entries[self._at]

    def rest(self) -> None:
        """The next step begins at the end again."""
        self._at, self._unsent = len(self.entries), NOTHING

    def search(self, words: str, most: int = 50) -> list[ComposerDraft]:
        """Entries that have all the words, the latest first, each text once."""
        wanted = words.lower().split()
        found: dict[str, ComposerDraft] = {}
        for entry in reversed(self.entries):
            low = entry.text.lower()
            if entry.text not in found and all(word in low for word in wanted):
                found[entry.text] = entry
                if len(found) == most:
                    break
        return list(found.values())

    def _read(self) -> list[ComposerDraft]:
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_FILE))
                data = file.read(MOST_FILE)
        except OSError:
            return []
        entries = []
        for line in data.splitlines()[-MOST:]:
            with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                entries.append(_DECODER.decode(line))
        return entries

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(self._path, flags, 0o600), "r+b", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line  # the last writer was cut off
            file.write(line)
            if size > MOST_FILE:
                # Terminals open in one folder take turns at this; who finds it taken leaves it.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                lines = self._path.read_bytes().splitlines(keepends=True)
                write_private(self._path, b"".join(_fitting(lines)))


def _fitting(lines: list[bytes]) -> list[bytes]:
    """The latest lines, as many as are kept."""
    kept, room = [], MOST_FILE // 4
    for line in reversed(lines[-MOST:]):
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return kept[::-1]


class Drafts:
    """Unsent words, one file for each thread, and for each folder where no thread is yet."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "terminal" / "drafts"

    def read(self, folder: str, thread: str) -> ComposerDraft:
        """What was left unsent."""
        try:
            return _DECODER.decode(self._path(folder, thread).read_bytes())
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return NOTHING

    def keep(self, folder: str, thread: str, draft: ComposerDraft) -> None:
        """Keep what is being written; nothing, when it was sent or deleted."""
        path = self._path(folder, thread)
        with suppress(OSError):
            if not draft.text:
                path.unlink(missing_ok=True)
                return
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(path, msgspec.json.encode(draft))

    def _path(self, folder: str, thread: str) -> Path:
        name = re.sub(r"[^\w-]", "_", thread, flags=re.ASCII)[:64]
        return self._folder / f"{name or folder_name(folder)}.json"
