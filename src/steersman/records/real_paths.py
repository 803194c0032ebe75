"""Where a path really leads, asked of the system and not found out step by step.

`os.path.realpath` looks at every folder above a path, each time: of all that the host does for a
call, that was the most frequent. Where the system cannot tell, its answer counts.
"""

import os

_NAME_ONLY = getattr(os, "O_PATH", 0)
_GONE = " (deleted)"


def real_path(path: str) -> str:
    """The path with all links followed, whether or not something is there; as `realpath` says."""
    if not _NAME_ONLY:
        return os.path.realpath(path)
    try:
        held = os.open(path, _NAME_ONLY)
    except FileNotFoundError:
        return _missing(path)
    except OSError:
        return os.path.realpath(path)
    try:
        place = os.readlink(f"/proc/self/fd/{held}")
    except OSError:  # `/proc` is not there
        return os.path.realpath(path)
    finally:
        os.close(held)
    return place if place[0] == "/" and not place.endswith(_GONE) else os.path.realpath(path)


def _missing(path: str) -> str:
    """Where something would be that is not there, in a folder that may be."""
    folder, name = os.path.split(path)
    if folder in ("", "/") or name in ("", ".", "..") or os.path.lexists(path):  # a link to nothing
        return os.path.realpath(path)
    return f"{real_path(folder).rstrip('/')}/{name}"
