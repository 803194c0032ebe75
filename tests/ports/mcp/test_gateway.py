"""`steer mcp serve --gateway`: the tools of configured servers, through the gate."""

import asyncio
import json
from pathlib import Path

import pytest

from steersman.ports.mcp.words import ONCE
from tests import provision
from tests.ports.mcp.conftest import ERAS, Serving
from tests.ports.mcp.test_serve import Person, bodies


def configure(serving: Serving, **servers: list[str]) -> None:
    """Write down servers as the person's own."""
    path = Path(serving.steer.environ["XDG_CONFIG_HOME"], "steersman", "mcp.json")
    path.parent.mkdir(parents=True)
    entries = {name: {"command": argv[0], "args": argv[1:]} for name, argv in servers.items()}
    path.write_text(json.dumps({"mcpServers": entries}))


@pytest.mark.parametrize("era", ERAS)
def test_a_server_behind_the_gate(serving: Serving, era: str) -> None:
    """What only reads is done, what writes is asked about, and the log has both."""
    folder = serving.steer.folder
    configure(serving, files=provision.filesystem(folder))
    person = Person(ONCE)

    async def work() -> None:
        async with serving.client("stdio", era, "--gateway", elicit=person) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"read_text_file", "write_file"} <= set(names)
            read = await client.call_tool("read_text_file", {"path": str(folder / "README.md")})
            assert read.content[0].text == "# Calc\n"
            assert person.asked == []
            change = {"path": str(folder / "new.txt"), "content": "new\n"}
            written = await client.call_tool("write_file", change)
            assert not written.is_error, written.content

    asyncio.run(work())
    assert len(person.asked) == 1
    assert "write_file" in person.asked[0]
    assert (folder / "new.txt").read_text() == "new\n"
    judged = [one["body"]["action"] for one in bodies(serving.steer, {"policy"})]
    assert [(one["action"], one["tool"]) for one in judged] == [
        ("mcp_call", "read_text_file"),
        ("mcp_call", "write_file"),
    ]


def test_the_tools_of_several_servers_have_their_servers_names(serving: Serving) -> None:
    folder = serving.steer.folder
    configure(serving, files=provision.filesystem(folder), every=provision.everything())

    async def work() -> None:
        async with serving.client("stdio", "legacy", "--gateway", "--yes") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"files__read_text_file", "every__echo", "every__get-tiny-image"} <= names
            said = await client.call_tool("every__echo", {"message": "hello"})
            assert said.content[0].text == "Echo: hello"
            image = await client.call_tool("every__get-tiny-image", {})
            assert "image" in [block.type for block in image.content]

    asyncio.run(work())


def test_without_servers_there_are_no_tools(serving: Serving) -> None:
    async def work() -> None:
        async with serving.client("stdio", "auto", "--gateway") as client:
            assert (await client.list_tools()).tools == []

    asyncio.run(work())
