"""Which values are secret: found in the environment and in MCP configurations, by name and shape.

The door of the log masks them; commands do not inherit the variables that hold them.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

SHORTEST = 8
_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|PRIVATE_?KEY|AUTH|PAT|KEY)(?:_?\d+|_ID|_VALUE)?$",
    re.IGNORECASE,
)
_TOKEN_SHAPE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+=._~-]{16,}")


def secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables whose values must not be seen, by their names."""
    return {
        name: value
        for name, value in environ.items()
        if _NAME.search(name) and len(value) >= SHORTEST and not value.startswith("/")
    }


def secret_values(environ: Mapping[str, str], configs: Iterator[Path]) -> set[str]:
    """Every value that must not enter the log."""
    found = set(secret_variables(environ).values())
    for value in environ.values():
        found.update(_in_url(value))
    for config in configs:
        found.update(_in_config(config))
    return {value for value in found if len(value) >= SHORTEST}


def mcp_configs(workspace: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The MCP configuration files that may hold tokens."""
    yield workspace / ".mcp.json"
    yield Path.home() / ".claude.json"
    for name in environ.get("STEERSMAN_MCP_CONFIG_FILES", "").split(","):
        if name.strip():
            yield workspace / Path(name.strip()).expanduser()


def _in_url(value: str) -> set[str]:
    if "://" not in value or "@" not in value:
        return set()
    try:
        password = urlsplit(value).password
    except ValueError:
        return set()
    return {password, unquote(password)} if password else set()


def _in_config(path: Path) -> set[str]:
    """Tokens in a server's `env`, `headers`, `url` and `args`."""
    try:
        data = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return set()
    servers = data.get("mcpServers") if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        return set()
    found: set[str] = set()
    for server in servers.values():
        if isinstance(server, dict):
            found.update(_in_server(server))
    return found


def _in_server(server: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for section in ("env", "headers"):
        fields = server.get(section)
        for name, value in fields.items() if isinstance(fields, dict) else ():
            bare = str(value).removeprefix("Bearer ").removeprefix("Basic ")
            if _NAME.search(name.replace("-", "_")) or _TOKEN_SHAPE.fullmatch(bare):
                found.add(bare)
            found.update(_in_url(bare))
    arguments = server.get("args")
    for value in arguments if isinstance(arguments, list) else ():
        name, _, given = str(value).partition("=")
        if given and _NAME.search(name.replace("-", "_")):
            found.add(given)
    return found | _in_url(str(server.get("url", "")))
