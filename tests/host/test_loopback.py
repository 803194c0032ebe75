"""The loopback of a thread: its commands reach one another's servers, and nobody else does."""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path

from msgspec.structs import replace

from steersman.host import Host
from steersman.identity.settings import Settings
from steersman.operations.running.forwarding import Forward, forwards
from steersman.operations.running.guardian import Handed
from steersman.operations.running.loopback import Loopback
from steersman.operations.running.overlay import Overlay
from steersman.operations.running.processes import Processes
from steersman.records.message import ToolResult
from tests.operations.network.kit import saying, server
from tests.operations.sandbox.kit import EVERYBODY, PATIENCE, SHELL, as_somebody
from tests.world import call

RUN = "workspace_run_command"
CURL = "curl -sS -m 60 --retry 60 --retry-connrefused --retry-delay 1"
OURS = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nmachine\n"


def serve(port: int) -> dict[str, object]:
    """A server in the background."""
    line = f"python3 -m http.server {port} --bind 127.0.0.1"
    return call(RUN, command=line, background=True, wait_timeout=0.01)


def run(command: str) -> dict[str, object]:
    return call(RUN, command=command)


def test_commands_share_a_loopback_that_is_not_the_machines(environ, workspace, script):
    """The same port is another server outside; what is allowed of the machine is passed on."""
    (workspace / "note").write_text("ours\n")

    async def scenario(host: Host, busy: int, open_: int, shut: int) -> list[ToolResult]:
        ours, unknown = f"{CURL} http://localhost:{busy}/note", "curl -sS http://unknown.invalid/"
        machine = [f"curl -sS http://127.0.0.1:{port}/" for port in (open_, shut)]
        reach = [ours, *machine, unknown]
        first = script(
            {"tool_calls": [serve(busy)]}, *({"tool_calls": [run(one)]} for one in reach),
            {"text": "Done."}, name="first.json",
        )  # fmt: skip
        again = script({"tool_calls": [run(f"curl -sS http://localhost:{busy}/note")]},
                       {"text": "Done."}, name="again.json")  # fmt: skip
        settings = Settings(model=first, approvals="never", domains=(f"127.0.0.1:{open_}",))
        thread = await host.start(str(workspace), "a task", settings)
        await thread.send("go")
        await thread.wait()
        other = await host.start(
            str(workspace), "another", Settings(model=again, approvals="never")
        )
        await other.send("go")
        await other.wait()
        await thread.set(mode="plan", model=again)
        await thread.send("look")
        await thread.wait()
        found = [*host.messages(thread.id), *host.messages(other.id)]
        return [message.body for message in found if isinstance(message.body, ToolResult)]

    async def whole() -> list[ToolResult]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(asyncio.timeout(120))
            outside = server(saying(OURS)), server(saying(OURS)), server(saying(OURS))
            ports = [await stack.enter_async_context(one) for one in outside]
            opening = Host.at(Path(environ["STEERSMAN_HOME"]), environ)
            return await scenario(await stack.enter_async_context(opening), *ports)

    _, ours, allowed, shut, unknown, plan, other = asyncio.run(whole())
    assert ours.output["output"].endswith("ours\n"), ours
    assert allowed.output["output"] == "machine\n", allowed
    assert shut.output["exit_code"] == 7, shut
    assert "is not allowed" in unknown.output["output"], unknown
    assert plan.output["exit_code"] == 7, plan
    assert other.output["exit_code"] == 7, other


def test_a_loopback_is_joined_by_everybody_and_kept_by_no_process():
    """A command over a view finds itself in it, with no more powers than in one of its own."""
    for who in EVERYBODY:
        as_somebody(who, _joined)


def _joined(world):
    loopback = Loopback()
    loopback.open(world.bubblewrap())
    loopback.open(world.bubblewrap())
    assert len(loopback.spaces) == (1 if os.geteuid() == 0 else 2)
    names = [os.readlink(f"/proc/self/fd/{space}") for space in loopback.spaces]
    assert os.readlink("/proc/self/ns/net") not in names
    assert not any(_in_network(pid, names[-1]) for pid in filter(str.isdigit, os.listdir("/proc")))
    look = "readlink /proc/self/ns/net; id -u; ip link add x type dummy 2>/dev/null || echo no"
    said, code = asyncio.run(_over_a_view(world, loopback.spaces, f"{look}; echo x > made"))
    assert said.split() == [names[-1], str(os.getuid()), "no"], said
    assert code == 0
    loopback.close()
    assert loopback.spaces == ()


async def _over_a_view(world, spaces, command):
    processes = Processes(world.folder / "spool")
    with Overlay(world.bubblewrap()).begin(str(world.root), str(world.scratch)) as view:
        profile = replace(world.profile, shared=True)
        line = view.argv([*SHELL, command], str(world.root), profile)
        try:
            running = await processes.start(
                line, str(world.root), {}, call="c", handed=Handed(view.descriptors, spaces)
            )
            assert await running.wait(PATIENCE)
            changed = view.changes(world.objects).changes
            assert [change.path for change in changed] == ["made"]
            return running.output.text(), running.state.exit_code
        finally:
            await processes.close()


def _in_network(pid: str, name: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/ns/net") == name
    except OSError:
        return False


def test_only_ports_of_this_machine_are_passed_on():
    near = ("localhost:8000", "127.0.0.1:8000", "::1:9", "10.0.0.1:80", "127.0.0.2:5")
    assert forwards(near) == (
        Forward("127.0.0.1", 8000, "localhost"),
        Forward("::1", 8000, "localhost"),
        Forward("::1", 9, "::1"),
        Forward("127.0.0.2", 5, "127.0.0.2"),
    )
