"""Changing a file of MCP servers: an entry is added, taken away, switched on or off.

Whatever else is in the file stays as it is, and the file is replaced as a whole or not at all.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from steersman.identity.mcp_entry import Wrong
from steersman.identity.mcp_servers import MOST_BYTES, checked, transport_of
from steersman.records.errors import UsageProblem
from steersman.records.plain_files import whole_plain

PRIVATE, SHARED = 0o600, 0o644


def add(
    path: Path, name: str, entry: Mapping[str, Any], *, replace: bool = False, shared: bool = False
) -> None:
    """Write an entry; one of the same name is in the way unless it is replaced.

    A file that is `shared` with others keeps its mode; any other can be read by its owner alone.
    """
    try:
        read = checked(name, dict(entry))
        if not read.switches_off:
            transport_of(read)
    except Wrong as error:
        raise UsageProblem(
            f"The MCP server “{name}” cannot be added.", f"Reason: {error}."
        ) from None
    with _opened(path, shared=shared) as servers:
        if name in servers and not replace:
            raise UsageProblem(
                f"There is already an MCP server “{name}”.",
                f"It is in {path}.",
                "Pass --replace to replace it, or choose another name.",
            )
        servers[name] = dict(entry)


def remove(path: Path, name: str, *, shared: bool = False) -> None:
    """Take an entry away."""
    with _opened(path, shared=shared) as servers:
        if name not in servers:
            raise missing(path, name, servers)
        del servers[name]


def switch(path: Path, name: str, *, on: bool) -> None:
    """Switch a server on or off in the user's file, wherever the server itself is configured.

    One that is in another file gets an entry here that says only that it is not used.
    """
    with _opened(path) as servers:
        entry = servers.get(name)
        if not isinstance(entry, dict):
            entry = {}
        entry.pop("disabled", None)
        if not on:
            entry["disabled"] = True
        if entry:
            servers[name] = entry
        else:
            servers.pop(name, None)


def names(path: Path) -> list[str]:
    """The names that are in a file, right or wrong."""
    return list(_servers(_read(path), path))


def missing(path: Path, name: str, known: Mapping[str, Any]) -> UsageProblem:
    """The sentence about a name that is not there."""
    there = ", ".join(known) or "none"
    return UsageProblem(f"There is no MCP server “{name}” in {path}.", f"There are: {there}.")


@contextmanager
def _opened(path: Path, *, shared: bool = False) -> Iterator[dict[str, Any]]:
    """The entries of a file, to be changed; written when the block ends well and changed them."""
    real = Path(os.path.realpath(path))  # a link to a file elsewhere stays a link
    if shared and real.parent != Path(os.path.realpath(path.parent)):
        raise UsageProblem(f"{path} is not changed: it leads out of the folder.")
    try:
        real.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if not shared else 0o777)
        with _alone(real.parent):
            data = _read(real)
            before = json.dumps(data)
            servers = _servers(data, real)
            yield servers
            if json.dumps(data) != before or not real.exists():
                _write(real, data, shared=shared)
    except OSError as error:
        raise UsageProblem(f"{path} cannot be changed.", error.strerror or str(error)) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else of us changes files of this folder meanwhile."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[str, Any]:
    if path.exists() and not path.is_file():
        raise UsageProblem(f"{path} is not a regular file.")
    try:
        text = whole_plain(path, MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path} cannot be read.", str(error)) from error
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UsageProblem(
            f"{path} is not valid JSON, so it is not changed.", str(error), "Fix it first."
        ) from error
    if not isinstance(data, dict):
        raise UsageProblem(f"{path} does not contain a JSON object, so it is not changed.")
    return data


def _servers(data: dict[str, Any], path: Path) -> dict[str, Any]:
    servers = data.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise UsageProblem(f"“mcpServers” in {path} is not an object, so the file is not changed.")
    return servers


def _write(path: Path, data: dict[str, Any], *, shared: bool) -> None:
    half = any("\ud800" <= letter <= "\udfff" for letter in json.dumps(data, ensure_ascii=False))
    content = (json.dumps(data, indent=2, ensure_ascii=half) + "\n").encode()
    mode = PRIVATE
    if shared:
        mode = path.stat().st_mode & 0o777 if path.exists() else SHARED
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
