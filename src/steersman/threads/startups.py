"""What the MCP servers and hooks of a folder start, as files of it, for a person to agree to.

A server that gets no more than a sandbox gives may start what it likes. What any other starts is
shown when the folder is trusted, and asked about again when it changes: commands may change it.
"""

import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from steersman.governance.folders import Finding, files_finding
from steersman.identity import mcp_servers
from steersman.operations.mcp.starting import asks_for, brought, brought_folder
from steersman.operations.running.started import MOST_WORDS, named, started, words_of
from steersman.records.mcp_server import Server
from steersman.records.protection import inside

if TYPE_CHECKING:
    from steersman.records.hooks import Hook

MOST_NAMED = 4
_PROJECT = re.compile(r"\"?\$\{?CLAUDE_PROJECT_DIR\}?\"?")
LONGEST = 200  # characters of a command line that is shown


class Startups(NamedTuple):
    """What servers start that get more than usual; of the others digests, and command lines."""

    found: tuple[Finding, ...] = ()
    runs: Mapping[str, str] = {}
    confined: tuple[str, ...] = ()


def startups(workspace: str, environ: Mapping[str, str]) -> Startups:
    """What the MCP servers start that a folder comes with."""
    root = os.path.realpath(workspace)
    files = mcp_servers.files(root, environ, trusted=True)
    theirs = [path for path in files if inside(os.path.realpath(path), root)]
    if not any(map(os.path.exists, theirs)):
        return Startups()
    # A variable that is not set yet is asked about, too: one day it is.
    known = {name for path in theirs for name in mcp_servers.variables_named(path)}
    environ = {**dict.fromkeys(known, ""), **environ}
    lines = _lines(root, known)
    found, runs, confined = [], {}, []
    for server in mcp_servers.find(root, environ, trusted=True).servers:
        if not server.enabled or not brought(server, root):
            continue
        line = lines.get(server.name, server.command)
        if asks_for(server, root):
            found.append(_finding(server, root, line))
            continue
        runs[server.name] = _finding(server, root).digest
        confined.append(f"{server.name} runs {line} in a sandbox")
    return Startups(tuple(found), runs, tuple(confined))


def files_of(hooks: "Iterable[Hook]", workspace: str) -> list[str]:
    """The files of a folder that hooks name in their commands, relative to it."""
    root = os.path.realpath(workspace)
    texts = {_PROJECT.sub(lambda _: root, hook.command) for hook in hooks}
    return sorted(
        path for path in set().union(*(named(t, root) for t in texts)) if path.isprintable()
    )


def of_hooks(hooks: "Sequence[Hook]", workspace: str) -> tuple[Finding, ...]:
    """What a folder's hooks start, as one thing to agree to."""
    paths = files_of(hooks, workspace)
    return (files_finding(workspace, "hooks", f"start {_few(paths)}", paths),) if paths else ()


def _few(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return f"{', '.join(paths[:MOST_NAMED])}{more}"


def _lines(root: str, known: Collection[str]) -> dict[str, str]:
    """The command lines of servers, for a person to read: values of variables are not shown."""
    names = {name: f"${{{name}}}" for name in known}
    servers = mcp_servers.find(root, names, trusted=True).servers
    lines = {one.name: shlex.join([one.command, *one.arguments]) for one in servers}
    return {name: f"{line[:LONGEST]}{'…' * (len(line) > LONGEST)}" for name, line in lines.items()}


def _finding(server: Server, root: str, line: str = "") -> Finding:
    texts = (server.command, *server.arguments, *server.environ.values())
    few = len(words_of(texts)) <= MOST_WORDS
    paths: tuple[str, ...] = ()
    if server.transport == "stdio" and few:
        paths = started(texts, brought_folder(server, root), root)
    told = [line] * (server.transport == "stdio" and bool(line)) + list(asks_for(server, root))
    if paths:
        told.append(f"starts {_few(paths)}")
    return files_finding(root, f"MCP server {server.name}", "; ".join(told), paths, whole=few)
