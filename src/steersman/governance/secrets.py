"""Which values are secret: found in the environment and in MCP configurations, by name and shape.

The door of the log masks them; commands do not inherit the variables that hold them.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from steersman.records.patterns import pattern

SHORTEST = 8
SHORTEST_WORD = 16  # of lower-case letters only
LARGEST = 16 << 20
_NAME = pattern(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|PRIVATE_?KEY|AUTH|PAT|KEY)(?:_?\d+|_ID|_VALUE|_BASE)?$|PASSWORD$|_PWD$|^AUTHORIZATION$",
    re.IGNORECASE,
)
_SCHEME = pattern(r"^(?:bearer|basic|token)\s+", re.IGNORECASE)
_RANDOM = pattern(r"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+=]{16,}")
_KEY_LINE = pattern(
    r"(?=.*[A-Za-z0-9])[A-Za-z0-9+/=_-]{16,}"
    r"|(?=.*[0-9])(?=.*[A-Za-z])[^\s\"'{}<>:,;]{8,}"
)
_WORD = pattern(r"[A-Za-z0-9+=]{16,}")
_QUERY = pattern(r"\?.*=")
_TOKEN_SHAPE = pattern(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+=._~-]{16,}")


# What people give to servers that take any key is made of these words.
_DUMMY = frozenset({
    "any", "api", "change", "changeme", "cpp", "dummy", "empty", "fake", "key", "llama", "lm",
    "local", "localhost", "me", "my", "needed", "no", "none", "not", "nothing", "null", "ollama",
    "placeholder", "required", "secret", "sk", "studio", "test", "token", "unused", "vllm", "your",
})  # fmt: skip
_BETWEEN = pattern(r"[-_. ]")


def can_be_masked(value: str, *, named: bool = False) -> bool:
    """Whether a value can be a secret; a short one or a plain word would be struck out of every
    text that has it, and hide nothing. `named`: its name says that it is a secret."""
    letters = not named and value.isascii() and value.isalpha() and value.islower()
    return len(value) >= (SHORTEST_WORD if letters else SHORTEST) and not is_dummy(value)


def is_dummy(value: str) -> bool:
    """Whether a key is obviously none."""
    return _DUMMY.issuperset(_BETWEEN.split(value.lower()))


def secret_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables whose values must not be seen, by their names."""
    return {
        name: value
        for name, value in environ.items()
        if _NAME.search(name) and len(value) >= SHORTEST and not _is_path(value)
    }


def _is_path(value: str) -> bool:
    """True for the place of a secret; a random value may begin with a slash as well."""
    return value.startswith("/") and not any(map(_RANDOM.fullmatch, value.split("/")))


def secret_values(environ: Mapping[str, str], configs: Iterable[Path]) -> set[str]:
    """Every value that must not enter the log."""
    found = set(secret_variables(environ).values())
    for value in environ.values():
        found.update(_in_url(value))
    for config in configs:
        found.update(_in_config(config))
    return {one for one in with_lines(found) if can_be_masked(one, named=True)}


def with_lines(values: Iterable[str]) -> set[str]:
    """Secrets, and of those of several lines each: a diff, `nl` or CRLF shows them one by one.

    Of a line that says more, such as one of JSON, the random words are secret.
    """
    found = set(values)
    for line in [line.strip() for value in values if "\n" in value for line in value.splitlines()]:
        words = [line] if _KEY_LINE.fullmatch(line) else _WORD.findall(line)
        found.update(word for word in words if word == line or _RANDOM.fullmatch(word))
    return found


def mcp_configs(workspace: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """The MCP configuration files that may hold tokens."""
    yield workspace / ".mcp.json"
    yield Path.home() / ".claude.json"
    for name in environ.get("STEERSMAN_MCP_CONFIG_FILES", "").split(","):
        if name.strip():
            yield workspace / Path(name.strip()).expanduser()


def _in_url(value: str) -> set[str]:
    """The password of an address, and tokens in its query."""
    if "://" not in value:
        return set()
    try:
        parts = urlsplit(value)
        password = parts.password if "@" in value else None
    except ValueError:
        return set()
    fields = parse_qsl(parts.query) if _QUERY.search(value) else []
    found = {given for name, given in fields if _NAME.search(name.replace("-", "_"))}
    return found | ({password, unquote(password)} if password else set())


def _in_config(path: Path) -> set[str]:
    """Tokens in the `env`, `headers`, `oauth`, `url` and `args` of every server, at any depth."""
    try:
        data = msgspec.json.decode(_content(path))
    except (OSError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    for server in _servers(data):
        found.update(_in_server(server))
    return found


def _content(path: Path) -> bytes:
    """What is in a file; a pipe or a device that a folder has in its place is not waited for."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return file.read(LARGEST) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""


def _servers(data: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        if name == "mcpServers" and isinstance(value, dict):
            yield from (server for server in value.values() if isinstance(server, dict))
        else:
            yield from _servers(value)


def _in_server(server: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for section in ("env", "headers"):
        fields = server.get(section)
        for name, value in fields.items() if isinstance(fields, dict) else ():
            bare = _SCHEME.sub("", str(value))
            if _NAME.search(name.replace("-", "_")) or _TOKEN_SHAPE.fullmatch(bare):
                found.add(bare)
            found.update(_in_url(bare))
    signing = server.get("oauth")
    if isinstance(signing, dict):
        found.update(str(signing.get(name, "")) for name in ("clientSecret", "privateKey"))
    arguments = server.get("args")
    words = [str(word) for word in arguments] if isinstance(arguments, list) else []
    for word, following in pairwise([*words, ""]):
        name, equals, given = word.partition("=")
        if name.startswith("-") and _NAME.search(name.replace("-", "_")):
            found.add(given if equals else following)
        header, colon, said = word.partition(":")
        if colon and _NAME.search(header.replace("-", "_")):
            found.add(_SCHEME.sub("", said.strip()))
        found.update(_in_url(word))
    return found | _in_url(str(server.get("url", "")))
