"""Where a server starts: a person's own in a place that no repository has a say in.

`python -m`, `npx` and their like look into the folder they are started in before anything else, so
a stranger's repository would decide what a person's servers are. One that a folder comes with, and
that the user trusted with it, starts in that folder, in a sandbox.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from steersman.operations.running.programs import outside
from steersman.records.mcp_server import UNBOUND, Bounds, Server
from steersman.records.protection import inside

if TYPE_CHECKING:
    from steersman.operations.running.companions import Confine


class Ground(Struct, frozen=True):
    """The folder a server starts in, what it may inherit, and how it is confined, if it is."""

    folder: str
    environ: Mapping[str, str]
    confine: "Confine | None" = None


def brought(server: Server, root: str) -> bool:
    """Whether a folder brought a server along."""
    source = server.source
    return bool(root and source) and any(
        inside(path, root) for path in (source, os.path.realpath(source))
    )


def bounds_of(server: Server, root: str) -> Bounds:
    """How far a server is confined: one that a folder brought is, unless an entry says more.

    Where such a server starts, outside of the folder, is a place that it asks to read.
    """
    theirs = brought(server, root)
    bounds = server.bounds or (Bounds() if theirs else UNBOUND)
    away = starts_away(server, root) if theirs and bounds.sandbox else ""
    return replace(bounds, read=(*bounds.read, away)) if away else bounds


def starts_away(server: Server, root: str) -> str:
    """Where a server starts that a folder brought, if that is outside of it; else empty."""
    place = os.path.normpath(brought_folder(server, root))
    return "" if server.transport != "stdio" or inside(place, root) else place


def asks_for(server: Server, root: str) -> tuple[str, ...]:
    """What a server that a folder brought gets beyond the default, for a person to read."""
    told = bounds_of(server, root).grants if server.transport == "stdio" else ()
    reaches = (f"connects to {server.host}",) if server.host else ()
    gets = (f"gets your {', '.join(server.variables)}",) if server.variables else ()
    return (*told, *reaches, *gets)


def brought_folder(server: Server, root: str) -> str:
    """Where a server starts that a folder brought."""
    return os.path.join(root, os.path.expanduser(server.cwd)).rstrip("/")


def ground(server: Server, state: str, environ: Mapping[str, str], root: str) -> Ground:
    """Where a server starts; a relative `cwd` of its entry is below that."""
    own = os.path.expanduser(server.cwd)
    if brought(server, root):
        return Ground(brought_folder(server, root), environ)
    neutral = os.path.join(state, "mcp", "neutral")
    os.makedirs(neutral, mode=0o700, exist_ok=True)
    path = outside(environ.get("PATH", ""), root)
    return Ground(os.path.join(neutral, own).rstrip("/"), {**environ, "PATH": path})
