"""MCP servers that a person or a trusted folder configured, read from files in the usual format.

Files are read in this order, and the first of a name counts: those of STEERSMAN_MCP_CONFIG_FILES,
the user's `mcp.json`, the workspace's `.mcp.json`. So a folder never takes over a name that the
user's rules and answers are about. How a server is confined, the user's `mcp.json` says last.
What is wrong with an entry is reported by its name and never by its values: they may be secret.
`mcp_files.py` changes such files; nothing here does.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.identity.mcp_entry import Entry, Signing, Wrong, bounds_of
from steersman.identity.places import places, read_text
from steersman.identity.settings import config_file, data_folder
from steersman.records import validation
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Bounds, Grant, OAuth, Server, Transport
from steersman.records.patterns import pattern
from steersman.records.protection import inside

FILE = ".mcp.json"
MOST_BYTES = 4 << 20
LONGEST_NAME = 40  # room is left for the name of a tool: together they are at most 64
LONGEST_WAIT = 86_400.0
NAME = pattern(r"(?=.{1,40}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_|\Z))*")
_VARIABLE = pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_ORDINARY = pattern(r"[a-z]+(?:[-_ ][a-z]+)*|[A-Z]+(?:_[A-Z]+)*|[\d.,:]+")
_TYPES: dict[str, Transport] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_GRANTS: dict[str, Grant] = {
    "": "authorization_code",
    "authorization_code": "authorization_code",
    "client_credentials": "client_credentials",
}


_ADDED = ("STEERSMAN_WORKSPACE", "STEERSMAN_HOME")
LIKE_A_TOKEN = 16  # characters


class Configured(Struct, frozen=True):
    """The servers there are, by the order of their files, and what was wrong with other entries."""

    servers: tuple[Server, ...] = ()
    problems: tuple[str, ...] = ()

    def get(self, name: str) -> Server | None:
        """A server by its name."""
        return next((server for server in self.servers if server.name == name), None)

    def only(self, names: Collection[str]) -> "Configured":
        """The same with no other servers than those of some names."""
        for name in names:
            if self.get(name) is None:
                there = ", ".join(server.name for server in self.servers) or "none"
                raise UsageProblem(
                    f"There is no MCP server “{name}”.",
                    f"There are: {there}.",
                    "`steer mcp list` shows them.",
                )
        kept = tuple(server for server in self.servers if server.name in names)
        return Configured(kept, self.problems)


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's own servers: beside `config.toml`."""
    return config_file(environ).parent / "mcp.json"


def workspace_file(workspace: str) -> Path:
    """The servers a folder comes with."""
    return Path(workspace, FILE)


def files(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> list[str]:
    """The files that are read, the first that counts first; inside the folder only if trusted."""
    named = places(environ, workspace, environ.get("HOME") or str(Path.home())).mcp_config_files
    listed = [*named, str(user_file(environ)), str(workspace_file(workspace))]
    root = os.path.realpath(workspace)
    return [
        path
        for path in dict.fromkeys(listed)
        if trusted or not (inside(path, workspace) or inside(os.path.realpath(path), root))
    ]


def find(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> Configured:
    """Every server that is configured for a workspace; its own only when the folder is trusted."""
    root = os.path.realpath(workspace)
    known = {**environ, **own_variables(root, environ)}
    own = str(user_file(environ))
    off: set[str] = set()
    bounds: dict[str, Bounds] = {}
    found: dict[str, Server] = {}
    problems: list[str] = []
    for path in files(root, environ, trusted=trusted):
        text = _text(path, root, own, problems)
        if text is None:
            continue
        servers, wrong, switched = parse(text, path, known)
        problems += wrong
        if path == own:
            off |= switched
            if not inside(os.path.realpath(path), root):  # a folder does not give itself more
                bounds = overrides(text, known)
        for server in servers:
            first = found.setdefault(server.name, server)
            if first is not server:
                problems.append(
                    f"The MCP server “{server.name}” in {path} is hidden by the one in "
                    f"{first.source}."
                )
    listed = (
        msgspec.structs.replace(
            server,
            enabled=server.enabled and server.name not in off,
            bounds=bounds.get(server.name, server.bounds),
        )
        for server in found.values()
    )
    return Configured(tuple(listed), tuple(problems))


def variables_named(path: str) -> set[str]:
    """The variables that a file of servers names anywhere; none when it cannot be read."""
    try:
        return {match[1] for match in _VARIABLE.finditer(read_text(path, MOST_BYTES)[0])}
    except OSError:
        return set()


def own_variables(workspace: str, environ: Mapping[str, str]) -> dict[str, str]:
    """What an entry may name besides the environment: this folder, and where state is kept."""
    return {"STEERSMAN_WORKSPACE": workspace, "STEERSMAN_HOME": str(data_folder(environ))}


def _text(path: str, root: str, own: str, problems: list[str]) -> str | None:
    near = path == os.path.join(root, FILE)
    if not os.path.lexists(path) and (near or path == own):
        return None
    if near and not inside(os.path.realpath(path), root):
        problems.append(f"{path} is not used: it leads out of the folder.")
        return None
    try:
        text, size = read_text(path, MOST_BYTES)
    except OSError as error:
        problems.append(f"{path} cannot be read: {error.strerror or error}.")
        return None
    if size > MOST_BYTES:
        problems.append(f"{path} is not used: it is larger than {MOST_BYTES >> 20} MB.")
        return None
    return text


def parse(
    text: str, source: str, environ: Mapping[str, str]
) -> tuple[list[Server], list[str], set[str]]:
    """The servers of one file, what is wrong in it, and the names it switches off everywhere."""
    problems: list[str] = []
    servers: list[Server] = []
    off: set[str] = set()
    for name, raw in _entries(text, source, problems):
        try:
            entry = checked(name, raw)
            if entry.switches_off:
                off.add(name)
            elif entry.only_bounds:
                bounds_of(entry, _Expanding(environ))  # only to say what is wrong with it
            else:
                servers.append(_server(name, entry, source, environ))
        except Wrong as error:
            shown = name if len(name) <= 60 else f"{name[:59]}…"
            problems.append(f"The MCP server “{shown}” in {source} is not used: {error}.")
    return servers, problems, off


def overrides(text: str, environ: Mapping[str, str]) -> dict[str, Bounds]:
    """How servers are confined that are in other files, by the user's own entries for them."""
    found: dict[str, Bounds] = {}
    for name, raw in _entries(text, "", []):
        with suppress(Wrong):  # what is wrong was said when the file was read
            entry = checked(name, raw)
            bounds = bounds_of(entry, _Expanding(environ)) if entry.only_bounds else None
            if bounds is not None:
                found[name] = bounds
    return found


def _entries(text: str, source: str, problems: list[str]) -> Iterator[tuple[str, Any]]:
    try:
        data = msgspec.json.decode(text.encode()) if text.strip() else {"mcpServers": {}}
    except (msgspec.DecodeError, RecursionError) as error:
        problems.append(
            f"{source} is not used: it is not valid JSON ({validation.in_words(error)})."
        )
        return
    listed = data.get("mcpServers") if isinstance(data, dict) else None
    if not isinstance(listed, dict):
        problems.append(f"{source} is not used: it has no object “mcpServers”.")
        return
    yield from listed.items()


def checked(name: str, raw: Any) -> Entry:
    """An entry with the right name and types; else `Wrong`."""
    if NAME.fullmatch(name) is None:
        raise Wrong(
            f"its name should be at most {LONGEST_NAME} letters, digits, - and single _, because "
            "its tools are called name__tool"
        )
    if not isinstance(raw, dict):
        raise Wrong("it should be an object")
    given = {key: value for key, value in raw.items() if value is not None}
    try:
        entry = msgspec.convert(given, Entry)
    except msgspec.ValidationError as error:
        raise Wrong(validation.in_words(error)) from None
    for key, wait in (("timeout", entry.timeout), ("idleTimeout", entry.idle_timeout)):
        if not 0 < _seconds(wait) <= LONGEST_WAIT:
            raise Wrong(f"`{key}` should be a number of seconds, more than 0 and at most a day")
    return entry


def _seconds(given: float) -> float:
    """Seconds; other programs write milliseconds here, and nobody waits for 1,000 seconds."""
    return given / 1000 if given >= 1000 else given


def _server(name: str, entry: Entry, source: str, environ: Mapping[str, str]) -> Server:
    transport = transport_of(entry)
    expand = _Expanding(environ)
    url = expand(entry.url, "url")
    if transport != "stdio":
        _check_address(url)
    made = Server(
        name=name,
        transport=transport,
        command=expand(entry.command, "command"),
        arguments=tuple(expand(word, "args") for word in entry.args),
        environ={key: expand(_word(value), f"env.{key}") for key, value in entry.env.items()},
        cwd=expand(entry.cwd, "cwd"),
        url=url,
        headers={
            key: expand(_word(value), f"headers.{key}") for key, value in entry.headers.items()
        },
        about=" ".join(entry.description.split()),
        enabled=not entry.disabled,
        reads=tuple(entry.read_only_tools),
        writes=tuple(entry.writing_tools),
        source=source,
        timeout=_seconds(entry.timeout),
        idle=_seconds(entry.idle_timeout),
        code_tools=entry.code_tools,
        oauth=_oauth(entry.oauth, expand),
        shared=entry.shared,
        bounds=bounds_of(entry, expand),
        host=_host(entry.url, environ) if transport != "stdio" else "",
    )
    return msgspec.structs.replace(made, variables=tuple(sorted(expand.used)))


def _host(url: str, environ: Mapping[str, str]) -> str:
    """Where an address leads, for a person to read: variables that are set are only named."""
    named = {name: value and f"${{{name}}}" for name, value in environ.items()}
    scheme, _, rest = _Expanding(named)(url, "url").partition("://")
    return f"{scheme}://{re.split('[/?#]', rest)[0].rpartition('@')[2]}"


def _oauth(given: Signing, expand: Callable[[str, str], str]) -> OAuth:
    grant = _GRANTS.get(given.grant)
    if grant is None:
        raise Wrong("`oauth.grant` should be authorization_code or client_credentials")
    if not 0 <= given.callback_port < 65536:
        raise Wrong("`oauth.callbackPort` should be a port")
    made = OAuth(
        client_id=expand(given.client_id, "oauth.clientId"),
        client_secret=expand(given.client_secret, "oauth.clientSecret"),
        private_key=expand(given.private_key, "oauth.privateKey"),
        algorithm=given.algorithm,
        scopes=tuple(given.scopes),
        grant=grant,
        issuer=expand(given.issuer, "oauth.issuer"),
        port=given.callback_port,
    )
    if grant == "client_credentials":
        if not made.client_id or not (made.client_secret or made.private_key):
            raise Wrong(
                "`oauth` needs `clientId` and `clientSecret` or `privateKey` for this grant"
            )
    elif made.private_key:
        raise Wrong("`oauth.privateKey` is for the grant client_credentials")
    if made.issuer:
        _check_address(made.issuer, "oauth.issuer")
    return made


def _check_address(url: str, key: str = "url") -> None:
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        right = False
    if not right:
        raise Wrong(f"`{key}` should start with http:// or https:// and name a host")


def transport_of(entry: Entry) -> Transport:
    """How a server is reached: as it says, else by what it has."""
    said = entry.type.lower()
    if said and said not in _TYPES:
        raise Wrong("`type` should be stdio, http or sse")
    transport = _TYPES[said] if said else "http" if entry.url and not entry.command else "stdio"
    if transport == "stdio" and not entry.command:
        raise Wrong("it has neither `command` nor `url`")
    if transport != "stdio" and not entry.url:
        raise Wrong("it has no `url`")
    return transport


def _word(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Expanding:
    """`${NAME}` and `${NAME:-default}` in texts, filled in from an environment.

    `used` are the names that were in the texts, but for those that the host adds.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.used: set[str] = set()

    def __call__(self, text: str, where: str) -> str:
        def filled(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            if name not in _ADDED:
                self.used.add(name)
            value = self._environ.get(name) or default
            if value is None and name not in self._environ:
                raise Wrong(f"`{where}` needs the variable {name}, which is not set")
            return value or ""

        found = _VARIABLE.sub(filled, text)
        if "\0" in found:
            raise Wrong(f"`{where}` must not contain a NUL character")
        return found


def private_values(servers: tuple[Server, ...]) -> set[str]:
    """Values of entries that nobody should see, for whoever masks them.

    Places, addresses without a password, numbers and ordinary words are left out.
    """
    found: set[str] = set()
    for server in servers:
        signing = (server.oauth.client_secret, server.oauth.private_key)
        for value in (*server.environ.values(), *server.headers.values(), *signing):
            bare = re.sub(r"^(?:bearer|basic|token)\s+", "", value, flags=re.IGNORECASE)
            plain = bare.startswith(("/", "~", "./")) or ("://" in bare and "@" not in bare)
            if len(bare) >= 8 and not plain and not _ORDINARY.fullmatch(bare):
                found.add(bare)
    return found


def expanded_secrets(servers: tuple[Server, ...]) -> set[str]:
    """Those of the private values that look like tokens; they may come from variables whose names
    tell nothing, and plain words such as `production` must not be struck out of a log."""
    return {
        value
        for value in private_values(servers)
        if len(value) >= LIKE_A_TOKEN
        and any(map(str.isdigit, value))
        and value.isascii()
        and any(map(str.isalpha, value))
        and not any(map(str.isspace, value))
    }
