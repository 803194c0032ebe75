"""The agent of a token ends with it, for whoever is about to use it as well."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

from steersman.host import Host
from steersman.host.desk import Desk
from steersman.host.token_workplaces import Place, TokenWorkplaces
from steersman.host.tokens import Token, Tokens
from tests.hooks.kit import play

PATIENCE = 20


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


class Held(dict[str, str]):
    """An environment that is read as slowly as a test wants, the first time."""

    def __init__(self, environ: dict[str, str]) -> None:
        super().__init__(environ)
        self.read, self.go_on = threading.Event(), threading.Event()

    def get(self, name: str, default: Any = None) -> Any:
        if name == "HOME" and not self.read.is_set():
            self.read.set()
            assert self.go_on.wait(PATIENCE)
        return super().get(name, default)


def test_a_token_does_not_wait_for_the_agent_of_another(
    environ: dict[str, str], workspace: Path
) -> None:
    async def scenario(host: Host) -> None:
        held = Held(environ)
        places = TokenWorkplaces(Desk(host, held, {}))
        slow = asyncio.create_task(entered(places, host, workspace))
        assert await asyncio.to_thread(held.read.wait, PATIENCE)
        place, _ = await entered(places, host, workspace)
        assert not slow.done()
        held.go_on.set()
        assert (await slow)[0] is not place
        await places.close()

    play(environ, scenario)


def test_an_agent_whose_folder_is_gone_says_so(environ: dict[str, str], tmp_path: Path) -> None:
    async def scenario(host: Host) -> None:
        folder = tmp_path / "gone"
        folder.mkdir()
        place, _ = await entered(TokenWorkplaces(Desk(host, environ, {})), host, folder)
        folder.rmdir()
        await over(place)
        assert place.over == "The folder of the workspace is gone."

    play(environ, scenario)
