"""Where a server starts: a person's own in a place that no repository has a say in.

`python -m`, `npx` and their like look into the folder they are started in before anything else, so
a stranger's repository would decide what a person's servers are. One that a folder brings, and
that the person trusted with it, starts in that folder.
"""

import os
from collections.abc import Mapping

from msgspec import Struct

from steersman.operations.running.programs import outside
from steersman.records.mcp_server import Server
from steersman.records.protection import inside


class Ground(Struct, frozen=True):
    """The folder a server starts in, and what it may inherit."""

    folder: str
    environ: Mapping[str, str]


def brought(server: Server, root: str) -> bool:
    """Whether a folder brought a server along."""
    source = server.source
    return bool(root and source) and any(
        inside(path, root) for path in (source, os.path.realpath(source))
    )


def ground(server: Server, state: str, environ: Mapping[str, str], root: str) -> Ground:
    """Where a server starts; a relative `cwd` of its entry is below that."""
    own = os.path.expanduser(server.cwd)
    if brought(server, root):
        return Ground(os.path.join(root, own).rstrip("/"), environ)
    neutral = os.path.join(state, "mcp", "neutral")
    os.makedirs(neutral, mode=0o700, exist_ok=True)
    path = outside(environ.get("PATH", ""), root)
    return Ground(os.path.join(neutral, own).rstrip("/"), {**environ, "PATH": path})
