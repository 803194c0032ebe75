"""The conversation so far as a file that hooks can read; it is made only where one is run."""

import asyncio
import os
from pathlib import Path

from steersman.records.errors import StorageProblem
from steersman.records.private_files import make_private_folder
from steersman.records.transcript import KINDS, Transcript
from steersman.store.log import ThreadLog, read_messages


class TranscriptFile:
    """The file of one thread; what was logged since it was last written is added each time.

    The log has no secrets, so it has none. Whoever opens the thread next writes all of it again.
    """

    def __init__(self, path: Path, log: ThreadLog, root: str) -> None:
        self.path = str(path)
        self._log = log
        self._lines = Transcript(root)
        self._seen = 0
        self._turn = asyncio.Lock()

    async def write(self) -> str:
        """Bring the file up to date; the answer is its path, empty where it cannot be written."""
        async with self._turn:
            try:
                await asyncio.to_thread(self._add)
            except (OSError, StorageProblem):  # a hook is run anyway
                return ""
        return self.path

    def _add(self) -> None:
        mode = os.O_APPEND
        if not self._seen:
            make_private_folder(Path(self.path).parent)
            mode = os.O_TRUNC
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | mode, 0o600)
        with os.fdopen(file, "wb") as out:
            log = self._log
            for message in read_messages(log.store, log.thread, after=self._seen, kinds=KINDS):
                out.writelines(line + b"\n" for line in self._lines.feed(message))
                self._seen = message.seq
