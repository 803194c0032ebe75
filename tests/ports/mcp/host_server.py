"""What `steer mcp serve` serves, for the suite: `python -m …host_server WHAT FOLDER`.

WHAT is `tools`, for those of a workspace, or `gateway`, for those of its MCP servers. Prints its
address. Permissions are given.
"""

import asyncio
import sys

from steersman.ports.cli.options import folder_from, open_host, settings_from
from steersman.ports.mcp.calls import Workbench
from steersman.ports.mcp.relay import Relay
from tests.ports.mcp.fixture_server import serve

KINDS = {"tools": Workbench, "gateway": Relay}


async def main(what: str, folder: str) -> None:
    async with open_host() as host:
        settings = settings_from({}, host.permissions.settings_file(folder))
        bench = KINDS[what](host, folder, settings, yes=True)
        try:
            await serve(bench)
        finally:
            await bench.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], folder_from(sys.argv[2])))
