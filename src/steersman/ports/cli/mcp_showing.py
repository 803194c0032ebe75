"""How a configured server is shown: what it is, what is known of it, and no secret of it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from steersman.governance.secrets import secret_values
from steersman.identity.mcp_servers import files
from steersman.identity.settings import data_folder
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.discretion import Discretion, address
from steersman.operations.mcp.templates import line_of
from steersman.operations.mcp.tokens import SignIns, signs_in, summary
from steersman.ports.cli.text import ago, counted, one_line
from steersman.records.mcp_server import Server


def cache_at(environ: Mapping[str, str]) -> Cache:
    """What servers said of their tools, in this user's data."""
    return Cache(str(data_folder(environ) / "mcp"))


class Shown:
    """Servers in words and in records."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        self._cache = cache_at(environ)
        self._sign_ins = SignIns(data_folder(environ) / "mcp")
        configs = (Path(path) for path in files(folder, environ, trusted=True))
        self._secrets = sorted(secret_values(environ, configs), key=len, reverse=True)

    def lines(self, server: Server) -> Iterator[str]:
        """A server on two or three lines."""
        mark = "" if server.enabled else click.style(" (disabled)", fg="yellow")
        about = line_of(server)
        yield f"{click.style(server.name, bold=True)}{mark}  {one_line(about)}".rstrip()
        kept = self._cache.kept(server)
        known = "never started" if kept.failure is None else "its tools are not known"
        if kept.listing is not None:
            when = ago(datetime.fromtimestamp(kept.listing.time, UTC))
            known = f"{counted(len(kept.listing.tools), 'tool')}, listed {when}"
        told = [one_line(self._what(server), 70), self.signed(server), known]
        yield f"    {' · '.join(filter(None, told))} · {one_line(server.source, 80)}"
        if kept.failure is not None:
            reason = one_line(self.masked(kept.failure.reason, server), 200)
            yield click.style(f"    failed last: {reason}", fg="yellow")

    def record(self, server: Server) -> dict[str, Any]:
        """A server for a program; of environment and headers only the names."""
        kept = self._cache.kept(server)
        sign_in = {"sign_in": self.signed(server) or None} if signs_in(server) else {}
        return {
            "name": server.name,
            "enabled": server.enabled,
            "transport": server.transport,
            "runs": self._what(server),
            "env": sorted(server.environ),
            "headers": sorted(server.headers),
            **sign_in,
            "description": line_of(server),
            "source": server.source,
            "tools": len(kept.listing.tools) if kept.listing else None,
            "failure": self.masked(kept.failure.reason, server) if kept.failure else None,
        }

    def signed(self, server: Server) -> str:
        """Whether somebody has signed in there; empty when nobody needs to, as far as is known."""
        return summary(self._sign_ins.of(server)) if signs_in(server) else ""

    def masked(self, text: str, server: Server) -> str:
        """A text without any secret of the server or of the environment."""
        for value in self._secrets:
            text = text.replace(value, "[redacted]")
        return Discretion(server).sentence(text)

    def _what(self, server: Server) -> str:
        if server.transport != "stdio":
            return f"{server.transport} {self.masked(address(server.url), server)}"
        return self.masked(" ".join((server.command, *server.arguments)), server)
