"""The agent of a token ends with it, for whoever is about to use it as well."""

import asyncio
import os
from pathlib import Path

from steersman.host import Host
from steersman.host.desk import Desk
from steersman.host.token_workplaces import Place, TokenWorkplaces
from steersman.host.tokens import Token, Tokens
from tests.hooks.kit import play


async def entered(places: TokenWorkplaces, host: Host, folder: Path) -> tuple[Place, Token]:
    """Whoever came with a new token; the server has not accepted the connection yet."""
    root = os.path.realpath(folder)
    token, _ = Tokens(host).make("laptop", ("work",), root)
    return await places.enter(token.holder, root), token


async def over(place: Place) -> None:
    assert place.staying is not None
    await asyncio.wait({place.staying})


def test_a_connection_is_not_served_whose_token_was_revoked_while_it_was_accepted(
    environ: dict[str, str], workspace: Path
) -> None:
    async def scenario(host: Host) -> None:
        said = asyncio.Queue[str]()

        async def receive() -> bytes:
            await said.put("listens")
            return await asyncio.Future[bytes]()

        async def send(_: bytes) -> None:
            await said.put("answers")

        async def end() -> None:
            await said.put("ends")

        places = TokenWorkplaces(Desk(host, environ, {}))
        place, token = await entered(places, host, workspace)
        Tokens(host).revoke(token.id)
        await over(place)
        serving = asyncio.create_task(places.serve(place, receive, send, end))
        assert await said.get() == "ends"
        await serving

    play(environ, scenario)
