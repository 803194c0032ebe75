"""Who owns what: threads of a workspace share what knows its files, and a host starts processes."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.identity.settings import Settings
from steersman.operations.running.guardian import PROGRAM
from steersman.records.message import ToolResult
from steersman.threads.resources import HostResources, Machine, Terms
from tests.world import call

SERVER = Path(__file__).parents[1] / "mcp" / "server.py"
DONE = {"text": "Done."}
RUN = call("workspace_run_command", command="echo hi")


def run_in(environ, scenario):
    """Play a scenario against a host of its own."""

    async def whole():
        async with asyncio.timeout(120), Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            return await scenario(host)

    return asyncio.run(whole())


async def worked(host, workspace, model, **settings):
    """A thread that has done one turn and stays open."""
    how = Settings(model=model, approvals="never", **settings)
    thread = await host.start(str(workspace), "a task", how)
    await thread.send("go")
    assert (await thread.wait()).ending == "done"
    return thread


def guardians() -> int:
    """How many guardians this process has started that still run; spare guards are their own."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += int(stat[1]) == os.getpid() and os.fsencode(PROGRAM) in words
    return found


def test_one_guardian_starts_the_commands_of_all_threads(environ, workspace, script):
    model = script({"tool_calls": [RUN]}, DONE)

    async def scenario(host):
        threads = [await worked(host, workspace, model) for _ in range(3)]
        many = guardians()
        await threads[0].close()
        await threads[1].send("again")
        await threads[1].wait()
        results = [m.body for m in host.messages(threads[1].id) if isinstance(m.body, ToolResult)]
        return many, guardians(), [result.status for result in results]

    assert run_in(environ, scenario) == (1, 1, ["ok", "ok"])
    assert guardians() == 0


def test_a_workspace_is_shared_on_the_same_terms_and_ends_with_its_last_user(tmp_path):
    async def scenario():
        host = HostResources(Machine(str(tmp_path / "state"), {}))
        terms = Terms(str(tmp_path), {"PATH": "/bin", "LANG": "C"})
        first = host.enter(terms)
        second = host.enter(Terms(str(tmp_path), {"LANG": "C", "PATH": "/bin"}))
        assert second is first
        others = [
            Terms(str(tmp_path), {"PATH": "/bin"}),
            Terms(str(tmp_path), terms.environ, ("secret/",)),
            Terms(str(tmp_path), terms.environ, trusted=True),
            Terms(str(tmp_path), terms.environ, language_servers={"x": {"command": "x"}}),
            Terms(str(tmp_path / "other"), terms.environ),
        ]
        found = [host.enter(one) for one in others]
        assert len({id(one) for one in (first, *found)}) == 1 + len(others)
        await host.leave(first)
        assert host.enter(terms) is first  # somebody was still there
        await host.leave(first)
        await host.leave(first)
        assert host.enter(terms) is not first
        await host.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("shared", [True, False])
def test_a_server_that_keeps_nothing_of_its_clients_serves_all_threads_of_a_workspace(
    environ, workspace, script, tmp_path, shared
):
    notes = tmp_path / "notes"
    notes.mkdir()
    entry = {
        "command": sys.executable,
        "args": [str(SERVER)],
        "env": {"NOTES": str(notes), "NOTES_TOKEN": "x"},
        "readOnlyTools": ["*"],
        "shared": shared,
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"notes": entry}}))
    environ["STEERSMAN_MCP_CONFIG_FILES"] = str(file)
    model = script({"tool_calls": [call("notes__read_notes")]}, DONE)

    def alive():
        pids = [path.name.partition("-")[2] for path in notes.glob("started-*")]
        return sum(Path("/proc", pid).exists() for pid in pids)

    async def scenario(host):
        first = await worked(host, workspace, model)
        second = await worked(host, workspace, model)
        started = alive()
        await first.close()
        left = alive()
        await second.close()
        return started, left, alive()

    assert run_in(environ, scenario) == ((1, 1, 0) if shared else (2, 1, 0))


@pytest.mark.parametrize(("mode", "tried"), [("code", True), ("ask", False)])
def test_the_sandbox_is_tried_while_a_thread_is_opened_that_may_run_commands(
    online, workspace, tmp_path, monkeypatch, mode, tried
):
    seen = tmp_path / "programs" / "tried"
    program = seen.with_name("bwrap")
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho bubblewrap 0.1\n: > {seen}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    async def scenario(host):
        how = Settings(model="openai:m-1", mode=mode)
        await host.start(str(workspace), "a task", how)

    run_in(online, scenario)
    assert seen.exists() == tried
