"""Files and folders of the host's own state: for their owner alone, whatever the umask is."""

import os
import stat
from contextlib import suppress
from pathlib import Path


def make_private(path: str | Path) -> None:
    """See to it that a file is there and nobody else can read it.

    One that is there is not opened: closing it would release the locks of a database.
    """
    with suppress(FileExistsError, PermissionError, IsADirectoryError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    hide(path)


def hide(path: str | Path) -> None:
    """Let nobody else read a file, if it is there and ours."""
    with suppress(FileNotFoundError, PermissionError):
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode) and mode & 0o077:
            os.chmod(path, 0o600)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone."""
    if not path.parent.is_dir():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def replace_file(path: Path, text: str) -> None:
    """Put a text in the place of what a file held, all of it or nothing; a new file is private."""
    from tempfile import mkstemp

    real = Path(os.path.realpath(path))  # many keep their files elsewhere, behind a link
    make_private_folder(real.parent)
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
    descriptor, temporary = mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
