"""One command at a time on the folder itself: else nobody knows which of them did what.

A command that is judged by a look before and a look after has its workspace for itself from the
first look until it was judged, whatever thread or process started it. Workspaces above and below
it are the same files. The first look is written down beside the lock until then: a note that nobody
holds is that of a command which was never judged, because its host died.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import PurePath

from steersman.operations.journal.locks import open_lock, try_lock
from steersman.records.errors import ToolProblem
from steersman.store.log import unbroken

PATIENCE = 120.0  # as long as a command in the foreground takes at most
_PAUSE = 0.05


class NotAlone(ToolProblem):
    """Another command works on the same folder."""

    def __init__(self) -> None:
        super().__init__(
            "The command was not run: another one is working on this folder.",
            "Bubblewrap is not installed, so commands change the folder itself, one at a time.",
            "Wait until the other one has ended, or end it with workspace_signal_process.",
        )


class Hold:
    """A workspace that one command has for itself; the system frees it when the process dies.

    Commands that were let out of the sandbox have it `shared`: with each other, with no other.
    """

    def __init__(self, folder: str, root: str, *, shared: bool = False) -> None:
        self._folder = folder
        self._root = root
        self._shared = shared
        self._locks = ExitStack()
        self.note = f"{self._file(root)}.before"

    async def take(self, hopeless: Callable[[], bool], patience: float = PATIENCE) -> None:
        """Wait for the workspace; `hopeless` says that there is no use in it."""
        deadline = time.monotonic() + patience
        try:
            while not await unbroken(asyncio.to_thread(self.try_take)):
                if hopeless() or time.monotonic() > deadline:
                    raise NotAlone
                await asyncio.sleep(_PAUSE)
        except BaseException:
            self.release()
            raise

    def try_take(self) -> bool:
        """Take the workspace unless a command works there, in it or around it."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        with ExitStack() as locks:
            for path in (self._root, *map(str, PurePath(self._root).parents)):
                descriptor = open_lock(self._file(path))
                locks.callback(os.close, descriptor)
                if not try_lock(descriptor, shared=self._shared or path != self._root):
                    return False
            self._locks = locks.pop_all()
        return True

    def forget(self) -> None:
        """What the command did was judged."""
        with suppress(FileNotFoundError):
            os.unlink(self.note)

    def release(self) -> None:
        """Let others have it."""
        self._locks.close()

    def _file(self, path: str) -> str:
        return os.path.join(self._folder, f"{sha256(os.fsencode(path)).hexdigest()[:32]}")
