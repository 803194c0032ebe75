"""What the MCP servers of a folder start, as files of that folder, for a person to agree to.

A server that gets no more than a sandbox gives may start what it likes. What any other starts is
shown when the folder is trusted, and asked about again when it changes: commands may change it.
"""

import os
import shlex
from collections.abc import Collection, Mapping
from typing import NamedTuple

from steersman.governance.folders import Finding, files_finding
from steersman.identity import mcp_servers
from steersman.operations.mcp.starting import asks_for, brought, brought_folder
from steersman.operations.running.started import MOST_WORDS, started, words_of
from steersman.records.mcp_server import Server
from steersman.records.protection import inside

MOST_NAMED = 4
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
    named = {name for path in theirs for name in mcp_servers.variables_named(path)}
    environ = {**dict.fromkeys(named, ""), **environ}
    lines = _lines(root, named)
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


def _lines(root: str, named: Collection[str]) -> dict[str, str]:
    """The command lines of servers, for a person to read: values of variables are not shown."""
    names = {name: f"${{{name}}}" for name in named}
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
        more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
        told.append(f"starts {', '.join(paths[:MOST_NAMED])}{more}")
    return files_finding(root, f"MCP server {server.name}", "; ".join(told), paths, whole=few)
