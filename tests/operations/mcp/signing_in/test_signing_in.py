"""A server that needs a sign-in: what is said, how somebody signs in, and how long it lasts."""

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.signing_in import sign_in, sign_out
from steersman.operations.mcp.tokens import SignIn, SignIns, SignInWanted
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import ServerProblem
from tests.operations.mcp.connection.kit import World
from tests.operations.mcp.signing_in.house import House, browser, house, listening, visit

WANTED = "The MCP server “house” needs you to sign in.\nRun `steer mcp login house`. "
ASKED = {"text": "hello"}


@pytest.fixture
def at() -> Iterator[House]:
    with house() as made:
        yield made


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def sign_ins(tmp_path: Path) -> SignIns:
    return SignIns(tmp_path / "state")


def connect(world: World, server: Server, sign_ins: SignIns) -> Connection:
    return world.connection(server, sign_ins=sign_ins)


def kept(sign_ins: SignIns, server: Server) -> SignIn:
    found = sign_ins.of(server)
    assert found is not None
    return found


def test_who_has_not_signed_in_is_told_how_and_who_has_comes_in(at, world, sign_ins, tmp_path):
    async def use(world: World) -> None:
        server = at.server()
        connection = connect(world, server, sign_ins)
        for _ in range(4):  # however often: it is not the server that fails
            with pytest.raises(SignInWanted) as told:
                await connection.tools()
            assert str(told.value) == WANTED + "You have not signed in there yet."
        assert at.clients == {}  # nothing happens behind anybody's back

        made = await sign_in(server, sign_ins, browser())
        assert (await connection.call("echo", ASKED)).text == "hello"  # without a new start
        again = connect(world, server, SignIns(tmp_path / "state"))
        assert {tool.name for tool in await again.tools()} == {"echo", "tell_token"}
        said = await again.call("tell_token", {})
        assert said.text == "The token is [redacted]."
        assert repr(made) == "SignIn(valid)"

    world.run(use)
    (file,) = (tmp_path / "state" / "sign-ins").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_by_either_way_a_closed_door_is_told(world, sign_ins, transport):
    async def use(world: World) -> None:
        with listening({"/door": (401, {})}) as (address, _):
            server = Server("house", transport, url=f"{address}/door", timeout=30.0)
            with pytest.raises(SignInWanted) as told:
                await connect(world, server, sign_ins).tools()
        assert str(told.value) == WANTED + "You have not signed in there yet."

    world.run(use)


def test_a_sign_in_is_for_one_name_at_one_address(at, world, sign_ins):
    async def use(world: World) -> None:
        await sign_in(at.server(), sign_ins, browser())
        other = msgspec.structs.replace(at.server(), name="other")
        with pytest.raises(SignInWanted):
            await connect(world, other, sign_ins).tools()

    world.run(use)


@pytest.mark.parametrize("how", ["its time is over", "the server says so"])
def test_a_token_that_has_expired_is_renewed(at, world, sign_ins, how):
    async def use(world: World) -> None:
        server = at.server()
        first = await sign_in(server, sign_ins, browser())
        at.forget_access()
        if how == "its time is over":
            sign_ins.keep(server, msgspec.structs.replace(first, expires=1.0))
        connection = connect(world, server, sign_ins)
        assert (await connection.call("echo", ASKED)).text == "hello"
        assert at.renewals == 1
        now = kept(sign_ins, server)
        assert now.tokens != first.tokens
        assert now.expires > first.expires
        assert (now.client, now.metadata) == (first.client, first.metadata)

    world.run(use)


def test_of_many_who_need_a_token_one_renews_it(at, world, sign_ins, tmp_path):
    async def use(world: World) -> None:
        server = at.server()
        await sign_in(server, sign_ins, browser())
        each = [connect(world, server, SignIns(tmp_path / "state")) for _ in range(3)]
        await asyncio.gather(*(one.start() for one in each))
        at.forget_access()
        said = await asyncio.gather(*(one.call("echo", ASKED) for one in [*each, *each]))
        assert [one.text for one in said] == ["hello"] * 6
        assert at.renewals == 1

    world.run(use)


def test_a_sign_in_that_was_taken_back_is_told(at, world, sign_ins):
    async def use(world: World) -> None:
        server = at.server()
        await sign_in(server, sign_ins, browser())
        connection = connect(world, server, sign_ins)
        await connection.start()
        at.forget_all()
        for _ in range(2):
            with pytest.raises(SignInWanted) as told:
                await connection.call("echo", ASKED)
            reason = "The sign-in has ended: it expired, or it was revoked."
            assert str(told.value) == WANTED + reason
        assert kept(sign_ins, server).tokens == {}
        await sign_in(server, sign_ins, browser())
        assert (await connection.call("echo", ASKED)).text == "hello"

    world.run(use)


def test_a_door_that_is_busy_ends_no_sign_in(at, world, sign_ins):
    async def use(world: World) -> None:
        server = at.server()
        await sign_in(server, sign_ins, browser())
        connection = connect(world, server, sign_ins)
        await connection.start()
        at.forget_access()
        at.busy = True
        with pytest.raises(SignInWanted, match=r"could not be renewed \(500\)"):
            await connection.call("echo", ASKED)
        at.busy = False
        assert (await connection.call("echo", ASKED)).text == "hello"

    world.run(use)


def test_a_server_that_wants_more_rights_gets_them_with_the_next_sign_in(at, world, sign_ins):
    async def use(world: World) -> None:
        server = at.server()
        await sign_in(server, sign_ins, browser())
        connection = connect(world, server, sign_ins)
        await connection.start()
        at.wanted.append("change")
        with pytest.raises(SignInWanted) as told:
            await connection.call("echo", ASKED)
        assert "It needs more rights than the sign-in gave" in str(told.value)
        made = await sign_in(server, sign_ins, browser())
        assert set(made.tokens["scope"].split()) == {"use", "change"}
        assert (await connection.call("echo", ASKED)).text == "hello"

    world.run(use)


def test_who_signs_out_is_forgotten_here_and_there(at, world, sign_ins, tmp_path):
    async def use(world: World) -> None:
        server = at.server()
        await sign_in(server, sign_ins, browser())
        assert at.refresh
        assert await sign_out(server, sign_ins)
        assert (at.access, at.refresh) == ({}, {})
        assert not await sign_out(server, sign_ins)
        assert list((tmp_path / "state").rglob("*.json")) == []

    world.run(use)


def forged(address: str) -> None:
    """Somebody who does not know the state comes first."""
    back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
    for query in ("code=stolen&state=guessed", "code=stolen", "error=access_denied", ""):
        assert visit(f"{back}?{query}") == 400
    assert visit(back.replace("/callback", "/")) == 404


def test_an_answer_to_another_question_is_refused_and_the_right_one_is_awaited(at, world, sign_ins):
    made = asyncio.run(sign_in(at.server(), sign_ins, browser(forged)))
    assert made.tokens["access_token"] in at.access


async def nobody(address: str) -> None:
    """A person who has gone for a walk."""


def test_why_a_sign_in_fails_is_told(at, sign_ins):
    at.refuses = True
    with pytest.raises(ServerProblem) as told:
        asyncio.run(sign_in(at.server(), sign_ins, browser()))
    assert told.value.why == "It was refused there (access_denied)."
    with pytest.raises(ServerProblem) as told:
        asyncio.run(sign_in(at.server(), sign_ins, nobody, patience=1.5))
    assert told.value.why == "The browser did not return within 1.5 s."
    assert sign_ins.of(at.server()) is None


def test_where_nobody_signs_in_nothing_is_tried(at, sign_ins, world):
    shown = at.server(headers={"Authorization": "Bearer configured-token-1"})
    with pytest.raises(UsageProblem, match="needs no sign-in"):
        asyncio.run(sign_in(shown, sign_ins, nobody))

    async def use(world: World) -> None:
        with pytest.raises(ServerProblem) as told:
            await connect(world, shown, sign_ins).tools()
        assert "See the headers of its entry" in told.value.try_this

    world.run(use)
    with pytest.raises(UsageProblem, match="needs no sign-in"):
        asyncio.run(sign_in(Server("here", "stdio", command="true"), sign_ins, nobody))


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (200, "It does not ask for a sign-in."),
        (401, "It offers no way to sign in; it may need a header in its entry."),
    ],
)
def test_a_server_without_a_door_says_so(sign_ins, status, why):
    with listening({"/mcp": (status, {})}) as (address, _), pytest.raises(ServerProblem) as told:
        asyncio.run(sign_in(Server("web", "http", url=f"{address}/mcp"), sign_ins, nobody))
    assert told.value.why == why


def test_nothing_follows_a_redirect_to_another_place(at, world, sign_ins):
    """What is secret goes where it was meant to go, and a redirect leads nowhere else."""
    with listening({}) as (elsewhere, heard), listening({}) as (address, seen):
        server = Server("web", "http", url=f"{address}/mcp", headers={"X-Key": "secret-key-123"})
        made = SignIn(tokens={"access_token": "secret-token-1", "token_type": "Bearer"})
        sign_ins.keep(server, made)

        async def use(world: World) -> None:
            with pytest.raises(ServerProblem):
                await connect(world, server, sign_ins).tools()

        for status in (301, 302, 307, 308):
            seen.pages["/mcp"] = (status, {"location": f"{elsewhere}/mcp"})
            world.run(use)
        assert heard.requests == []
        for one in seen.requests:
            assert one["authorization"] == "Bearer secret-token-1"
            assert one["x-key"] == "secret-key-123"
        assert seen.requests

        seen.requests.clear()
        seen.pages["/mcp"] = (307, {"location": "/other"})
        world.run(use)
        assert {one["path"] for one in seen.requests} >= {
            "/mcp",
            "/other",
        }  # that is the same place
        assert {one["authorization"] for one in seen.requests} == {"Bearer secret-token-1"}


def test_headers_of_an_entry_do_not_go_to_the_door(at, sign_ins):
    """Where to sign in says the server; what an entry shows it is for the server alone."""
    with listening({}) as (door, heard), listening({}) as (address, seen):
        where = {"resource": f"{address}/mcp", "authorization_servers": [door]}
        seen.pages["/mcp"] = (401, {})
        seen.pages["/.well-known/oauth-protected-resource/mcp"] = (200, {}, where)
        server = Server("web", "http", url=f"{address}/mcp", headers={"X-Key": "secret-key-123"})
        with pytest.raises(ServerProblem):
            asyncio.run(sign_in(server, sign_ins, nobody))
        assert heard.requests
        assert not any("x-key" in one for one in heard.requests)
