"""How processes of one machine know at once that another is dead: the system's file locks.

Every process that holds a lease keeps a lock on a file of its own; the system lets go of it even
after kill -9. A file is named after the process, so no name is used twice.
"""

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

_PLACE = ".place"
_BOOT = "/proc/sys/kernel/random/boot_id"


class Living:
    """The locks of processes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: int | None = None
        self._holding = threading.Lock()

    def hold(self, name: str) -> None:
        """Be seen to live under a name from now on; threads of one process do so together."""
        with self._holding:
            if self._held is None:
                self._held = self._hold(name)
                self._tidy(name)

    def _hold(self, name: str) -> int:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        while True:
            descriptor = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)  # it was tidied away between the two calls

    def alive(self, name: str) -> bool:
        """Whether a process of this machine lives under a name."""
        try:
            descriptor = os.open(self._folder / name, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def place(self) -> str:
        """What this folder is called among all folders of all machines since they started."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / _PLACE
        if not path.exists():
            # Written beside and linked into place, so that it is whole for whoever reads it first.
            fresh = self._folder / f"{_PLACE}-{token_hex(8)}"
            fresh.write_text(token_hex(16))
            with suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        boot = Path(_BOOT).read_text().strip() if os.path.exists(_BOOT) else ""
        return f"{path.read_text()} {boot}"

    def close(self, name: str) -> None:
        """Live no longer."""
        if self._held is not None:
            with suppress(OSError):
                os.unlink(self._folder / name)
            os.close(self._held)
            self._held = None

    def _tidy(self, own: str) -> None:
        """Remove what processes that died have left."""
        with suppress(OSError):
            for name in os.listdir(self._folder):
                if name != own and not name.startswith(_PLACE):
                    self._remove(name)

    def _remove(self, name: str) -> None:
        descriptor = os.open(self._folder / name, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(self._folder / name)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)
