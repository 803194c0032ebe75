"""`steer mcp serve`: the tools of a workspace for any other agent, through the same gate."""

import asyncio
import logging
import os
import sys
from typing import Any

import click

from steersman.host import mcp
from steersman.host.settings import state_folder
from steersman.ports.cli.options import folder_from, open_host, settings_from, working


@click.command("serve")
@click.option(
    "--http",
    "address",
    metavar="[HOST:PORT]",
    is_flag=False,
    flag_value="",
    help="Serve over HTTP instead of standard input and output (default: 127.0.0.1:8921).",
)
@click.option(
    "--token-file",
    metavar="FILE",
    help="Where the token for HTTP is kept; created if missing.",
)
@click.option(
    "--public",
    metavar="NAME",
    multiple=True,
    help="Listen beyond this machine too, where clients know it as NAME (repeatable).",
)
@click.option(
    "--gateway", is_flag=True, help="Offer the configured MCP servers' tools instead, as they are."
)
@working
def command(**flags: Any) -> int:
    """Offer the tools of this workspace to other agents over MCP."""
    mcp.require_library()
    # Standard output belongs to the protocol; what libraries have to say goes to the other one.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    from steersman.ports.listening import until_told

    return asyncio.run(until_told(lambda: _serve(flags)))


async def _serve(flags: dict[str, Any]) -> None:
    from steersman.ports.mcp.calls import Workbench
    from steersman.ports.mcp.relay import Relay
    from steersman.ports.mcp.serving import Serving

    folder = folder_from(flags["workspace"])
    async with open_host() as host:
        settings = settings_from(flags, host.permissions.settings_file(folder))
        host.tools(folder)  # a folder that cannot be worked in is reported before anyone connects
        kind = Relay if flags["gateway"] else Workbench
        bench = kind(host, folder, settings, yes=flags["yes"])
        serving = Serving(bench)
        try:
            await _carry(serving.server, flags)
        finally:
            await serving.close()
            await bench.close()


async def _carry(server: Any, flags: dict[str, Any]) -> None:
    """Serve where the flags say, until there is nobody left to serve."""
    if flags["address"] is None:
        from steersman.ports.mcp import stdio

        await stdio.serve(server)
        return
    from steersman.host.server_token import MCP_TOKEN, own_token
    from steersman.ports import listening as ports
    from steersman.ports.mcp import http

    given = flags["address"] or f":{http.DEFAULT_PORT}"
    host, port = ports.address_from(given, http.DEFAULT_PORT)
    names = ports.names_of(host, flags["public"])
    token = own_token(flags["token_file"], state_folder(os.environ), MCP_TOKEN)
    with ports.listen(host, port) as listening:
        at = f"http://{ports.shown(listening)}{http.PATH}"
        click.echo(f"Serving at {at}", err=True)
        secret = f"Token: {token.text} (shown this once)\n" if token.made else ""
        click.echo(f"{secret}The token is kept in {token.path}", err=True)
        app = http.application(server, token.text, names, port=listening.getsockname()[1])
        await ports.serve(app, listening)
