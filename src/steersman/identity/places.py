"""Where instructions, skills and MCP configurations are looked for, as the environment says. Pure,
but for the look that shows whether two names mean the same file."""

import os
from collections.abc import Iterable, Mapping

from msgspec import Struct

from steersman.records.plain_files import read_plain


class Places(Struct, frozen=True):
    """Locations that a person set, absolute, none of them twice."""

    instruction_folders: tuple[str, ...] = ()
    skill_folders: tuple[str, ...] = ()
    mcp_config_files: tuple[str, ...] = ()


VARIABLES = {
    "instruction_folders": "STEERSMAN_INSTRUCTIONS_DIRS",
    "skill_folders": "STEERSMAN_SKILLS_DIRS",
    "mcp_config_files": "STEERSMAN_MCP_CONFIG_FILES",
}


INSTRUCTIONS_FILE, SKILL_META_FILE = "STEERSMAN_INSTRUCTIONS_FILE", "STEERSMAN_SKILL_META_FILE"


def file_name(variable: str, given: str) -> tuple[str, str]:
    """The one file name that a variable gives, and what is wrong with it; empty if there is none.

    The folders it is looked for in are said elsewhere: what leads to another one is no name.
    """
    name = given.strip()
    if name in (".", "..") or set(name) & {"/", "\0"}:
        return "", f"{variable} is not used: it must be the name of a file, without a folder."
    return name, ""


def places(environ: Mapping[str, str], base: str | None, home: str) -> Places:
    """The places that the variables name; relative ones are below `base`."""
    found = {
        name: tuple(once(resolved(environ.get(variable, ""), base, home)))
        for name, variable in VARIABLES.items()
    }
    return Places(**found)


def resolved(listed: str, base: str | None, home: str) -> list[str]:
    """Paths of a list with commas: `~` is `home`; a relative one without a base is dropped."""
    found = []
    for word in listed.split(","):
        path = word.strip()
        if path == "~" or path.startswith("~/"):
            path = home + path[1:]
        if not path or "\0" in path:
            continue
        if not os.path.isabs(path):
            if base is None or not os.path.isabs(base):
                continue
            path = os.path.join(base, path)
        found.append(os.path.normpath(path))
    return found


def once(paths: Iterable[str]) -> list[str]:
    """Every file or folder once, also when links give it several names; the first name counts."""
    seen: set[object] = set()
    found = []
    for path in paths:
        same = identity(path)
        if same not in seen:
            seen.add(same)
            found.append(path)
    return found


def identity(path: str) -> object:
    """What is the same for two names of one file; of a path where nothing is, the path itself."""
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


def read_text(path: str, most: int) -> tuple[str, int]:
    """The beginning of a plain text file, at most so many bytes, and how many it has in all.

    Never waits on a pipe or device. Raises `OSError`.
    """
    data = read_plain(path, most)
    size = max(os.stat(path).st_size, len(data))
    text = data.decode("utf-8", "ignore" if size > most else "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n"), size
