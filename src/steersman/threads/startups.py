"""What the MCP servers and hooks of a folder start, as files of it, for a person to agree to.

A server that gets no more than a sandbox gives may start what it likes. What any other starts is
shown when the folder is trusted, and asked about again when it changes: commands may change it.
"""

import os
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from steersman.governance.folders import Finding, files_finding
from steersman.identity import mcp_servers
from steersman.operations.mcp.starting import asks_for, brought, brought_folder
from steersman.operations.running.started import MOST_WORDS, started, words_of
from steersman.records.mcp_server import Server
from steersman.records.names import shown
from steersman.records.protection import inside
from steersman.records.visible import visible

if TYPE_CHECKING:
    from steersman.operations.running.behind import Behind
    from steersman.records.hooks import Hook

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


def files_of(hooks: "Iterable[Hook]", workspace: str, path: str = "") -> list[str]:
    """The files of a folder that decide what hooks say, relative to it; `path` finds programs.

    Of a hook that can only tell something, what it names itself: it is confined in any case.
    """
    from steersman.operations.running.behind import named
    from steersman.records.hooks import BLOCKERS

    hooks = [*hooks]
    root = os.path.realpath(workspace)
    told = (named(hook.command, root) for hook in hooks if hook.event not in BLOCKERS)
    return sorted({*behind_hooks(hooks, workspace, path).files}.union(*told))


def behind_hooks(hooks: "Iterable[Hook]", workspace: str, path: str) -> "Behind":
    """What decides what hooks say that can say no, with the folders that they may load from."""
    from steersman.operations.running.behind import Behind, behind
    from steersman.records.hooks import BLOCKERS

    root, total = os.path.realpath(workspace), Behind()
    for hook in hooks:
        if hook.event in BLOCKERS:
            total |= behind(hook.command, root, path)
    return total


def of_hooks(hooks: "Sequence[Hook]", workspace: str, path: str) -> tuple[Finding, ...]:
    """What a folder's hooks start, as one thing to agree to."""
    paths = files_of(hooks, workspace, path) if hooks else []
    if not paths:
        return ()
    unread = sorted(behind_hooks(hooks, workspace, path).unread)
    told = f"start {few(paths)}" + (f"; too long to be read: {few(unread)}" if unread else "")
    return (files_finding(workspace, "hooks", told, paths),)


def few(paths: Sequence[str]) -> str:
    """Some paths in a sentence."""
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    return f"{', '.join(visible(shown(path)) for path in paths[:MOST_NAMED])}{more}"


def _lines(root: str, known: Collection[str]) -> dict[str, str]:
    """The command lines of servers, for a person to read: values of variables are not shown."""
    names = {name: f"${{{name}}}" for name in known}
    servers = mcp_servers.find(root, names, trusted=True).servers
    lines = {one.name: shlex.join([one.command, *one.arguments]) for one in servers}
    return {name: f"{line[:LONGEST]}{'…' * (len(line) > LONGEST)}" for name, line in lines.items()}


def _finding(server: Server, root: str, line: str = "") -> Finding:
    texts = (server.command, *server.arguments, *server.environ.values())
    known = len(words_of(texts)) <= MOST_WORDS
    paths: tuple[str, ...] = ()
    if server.transport == "stdio" and known:
        paths = started(texts, brought_folder(server, root), root)
    told = [line] * (server.transport == "stdio" and bool(line)) + list(asks_for(server, root))
    if paths:
        told.append(f"starts {few(paths)}")
    return files_finding(root, f"MCP server {server.name}", "; ".join(told), paths, whole=known)
