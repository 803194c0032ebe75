"""The MCP servers that are configured: found, added, removed, switched on and off.

Nothing here starts a server; `mcp_trial.py` does.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from steersman.identity import mcp_files, mcp_servers
from steersman.identity.mcp_servers import Configured
from steersman.identity.settings import data_folder
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server

if TYPE_CHECKING:
    from steersman.host.application import Host
    from steersman.operations.mcp.templates import Template

Lack = tuple[str, str]  # what this machine does not have, and how to get it
FETCHING = ("npx", "uvx", "pipx", "bunx", "docker", "podman")


class NewServer(Struct, frozen=True):
    """What a person says of a server they add: a template, a command or an address.

    `variables` are NAME=VALUE, or NAME alone to refer to the user's own; `headers` are
    `Name: value`.
    """

    name: str
    template: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    sse: bool = False
    variables: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    description: str = ""


class Added(Struct, frozen=True):
    """Where a server was written down, what to know of it, and what this machine lacks for it.

    `exposed`: values are in a file that others may see.
    """

    path: str
    notes: tuple[str, ...]
    lacks: tuple[Lack, ...]
    exposed: bool


class Usable(Struct, frozen=True):
    """The servers that can be used in a folder, and what is wrong with other entries.

    `unused`: the folder comes with servers that are not used, because it is not trusted.
    """

    servers: tuple[Server, ...]
    problems: tuple[str, ...]
    unused: bool


def usable(host: "Host", folder: str, environ: Mapping[str, str]) -> Usable:
    """The servers that can be used in a folder."""
    trusted = host.permissions.folder(folder).loads
    found = mcp_servers.find(folder, environ, trusted=trusted)
    unused = not trusted and mcp_servers.find(folder, environ, trusted=True) != found
    return Usable(found.servers, found.problems, unused)


def chosen(host: "Host", folder: str, environ: Mapping[str, str], name: str) -> Server:
    """The named server, enabled; one of a folder only if that is trusted."""
    trusted = host.permissions.folder(folder).loads
    found = mcp_servers.find(folder, environ, trusted=trusted)
    if not trusted and found.get(name) is None:
        theirs = mcp_servers.find(folder, environ, trusted=True).get(name)
        if theirs is not None:
            raise UsageProblem(
                f"The MCP server {name} is not started: {theirs.source} defines it, and the folder "
                "is not trusted.",
                try_this="Review it with `steer policy trust`.",
            )
    return msgspec.structs.replace(_the_one(found, name), enabled=True)


def templates(
    environ: Mapping[str, str], workspace: str, name: str = ""
) -> "list[tuple[Template, list[Lack]]]":
    """The known servers, or one of them, and what this machine lacks for each."""
    from steersman.operations.mcp import templates as known

    wanted = [known.template(name)] if name else known.templates().values()
    return [(one, known.lacking(one, environ, workspace)) for one in wanted]


def add(
    new: NewServer,
    folder: str,
    environ: Mapping[str, str],
    *,
    project: bool = False,
    replace: bool = False,
) -> Added:
    """Write a server down, in the user's file or in the project's; nothing is started."""
    entry, template = _entry(new)
    path = _file(folder, environ, project=project)
    mcp_files.add(path, new.name, entry, replace=replace, shared=project)
    lacks: tuple[Lack, ...] = ()
    if template is not None:
        from steersman.operations.mcp.templates import lacking

        given = {one.partition("=")[0]: "given" for one in new.variables if "=" in one}
        missing = lacking(template, {**environ, **given}, folder)
        # A program that was given needs no other to fetch it.
        lacks = tuple(one for one in missing if not (new.command and "on the PATH" in one[0]))
    literal = any("=" in one and "${" not in one for one in new.variables)
    exposed = project and (literal or any("${" not in one for one in new.headers))
    return Added(str(path), tuple(_notes(entry, template)), lacks, exposed)


def remove(name: str, folder: str, environ: Mapping[str, str], *, project: bool) -> str:
    """Take a server out of a file, with its sign-in; gives the file."""
    path = _file(folder, environ, project=project)
    other = _file(folder, environ, project=not project)
    if name not in mcp_files.names(path) and name in mcp_files.names(other):
        raise UsageProblem(
            f"There is no MCP server “{name}” in {path}.",
            f"It is in {other}.",
            f"{'Leave out' if project else 'Pass'} --project.",
        )
    before = mcp_servers.find(folder, environ, trusted=True).get(name)
    mcp_files.remove(path, name, shared=project)
    if before is not None and before.source == str(path):
        from steersman.operations.mcp.tokens import SignIns

        SignIns(data_folder(environ) / "mcp").forget(before)
    return str(path)


def switch(name: str, folder: str, environ: Mapping[str, str], *, on: bool) -> None:
    """Switch a server on or off for every agent, wherever it is configured."""
    path = mcp_servers.user_file(environ)
    if name not in mcp_files.names(path):
        _the_one(mcp_servers.find(folder, environ, trusted=True), name)
    mcp_files.switch(path, name, on=on)
    after = mcp_servers.find(folder, environ, trusted=True).get(name)
    if on and after is not None and not after.enabled:
        raise UsageProblem(
            f"The MCP server {name} is still disabled.",
            f"{after.source} says so.",
            "Change it there.",
        )


def require_library() -> None:
    """Say so when the library for MCP is not there."""
    try:
        import mcp  # noqa: F401
    except ImportError as error:
        raise UsageProblem(
            "MCP is not installed.", str(error), "Install it: pip install 'steersman[mcp]'"
        ) from error


def _the_one(found: Configured, name: str) -> Server:
    """A server by its name, or what is known about why there is none."""
    server = found.get(name)
    if server is not None:
        return server
    about = [problem for problem in found.problems if f"“{name}”" in problem]
    known = ", ".join(one.name for one in found.servers) or "none"
    raise UsageProblem(
        f"There is no MCP server “{name}”.",
        about[0] if about else f"There are: {known}.",
        "`steer mcp list` shows more.",
    )


def _file(folder: str, environ: Mapping[str, str], *, project: bool) -> Path:
    return mcp_servers.workspace_file(folder) if project else mcp_servers.user_file(environ)


def _entry(new: NewServer) -> "tuple[dict[str, Any], Template | None]":
    """The entry of a configuration, and the template it is made from."""
    from steersman.operations.mcp.templates import entry, template, templates

    variables = dict(map(_variable, new.variables))
    headers = dict(map(_header, new.headers))
    known = template(new.template) if new.template else None
    if new.url and (new.command or known):
        raise UsageProblem("A server has either a command, an address or a template.")
    if known is not None:
        made = entry(known, variables, new.command)
    elif new.url:
        made = {"type": "sse" if new.sse else "http", "url": new.url}
    elif new.command:
        made = {"command": new.command[0], "args": list(new.command[1:])}
    else:
        hint = f"steer mcp add {new.name} --template {new.name}"
        raise UsageProblem(
            "What is it?",
            "A server is a template, a command after --, or an address.",
            hint
            if new.name in templates()
            else f"For example: steer mcp add {new.name} -- COMMAND ARGS",
        )
    if headers and not made.get("url"):
        raise UsageProblem("Headers are for servers that have an address.")
    if headers:
        made["headers"] = {**made.get("headers", {}), **headers}
    if variables and known is None:
        made["env"] = variables
    if new.description:
        made["description"] = new.description
    return made, known


def _notes(entry: Mapping[str, Any], template: "Template | None") -> Iterator[str]:
    """What a person should know about an entry that was just written."""
    if template is not None:
        runs_template = template.launcher and entry.get("command") == template.launcher[0]
        if template.fetches and runs_template:
            yield f"Starting it for the first time will fetch {template.fetches}."
        yield f"Licence: {template.licence}. Set-up: {template.link}"
        if template.notes:
            yield template.notes
    elif entry.get("command") in FETCHING:
        yield f"Starting it runs {entry['command']}, which may fetch what it names."


def _variable(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or "\0" in given:
        raise UsageProblem("A variable is given as NAME=VALUE, or as NAME to refer to yours.")
    return name, value if equals else f"${{{name}}}"


def _header(given: str) -> tuple[str, str]:
    name, colon, value = given.partition(":")
    if not colon or not name.strip() or "\n" in given or "\r" in given:
        raise UsageProblem("A header is given as 'Name: value'.")
    return name.strip(), value.strip()
