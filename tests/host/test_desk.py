"""A server's desk: threads that nobody uses are left, and what runs in them is not.

What a thread is and does is looked up once, as long as nothing is written.
"""

import asyncio

import pytest

from steersman.host.desk import IDLE, Desk, NoSuchThread
from steersman.host.tokens import Holder
from steersman.records.settings import Settings
from tests.hooks.kit import play
from tests.store.elsewhere import open_store, start

OWNER = Holder("owner")


async def started(host, workspace):
    """A thread of calls that nobody is asked about."""
    settings = Settings(approvals="never")
    return await host.start(str(workspace), "http", settings, origin="call", attended=True)


def test_a_thread_in_which_nothing_happens_is_left(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        thread = await started(host, workspace)
        for _ in range(IDLE):
            assert host.running() == [thread.id]
            await desk.sweep_once()
        return host.running()

    assert play(environ, scenario) == []


def test_a_thread_with_a_command_in_the_background_is_kept(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        thread = await started(host, workspace)
        command = {"command": "sleep 600", "background": True}
        await thread.call("workspace_run_command", command, "call_one")
        for _ in range(2 * IDLE):
            await desk.sweep_once()
        kept = host.running()
        ended = {"process_id": "p1", "signal": "KILL"}
        await thread.call("workspace_signal_process", ended, "call_two")
        for _ in range(IDLE):
            await desk.sweep_once()
        return kept == [thread.id], host.running()

    assert play(environ, scenario) == (True, [])


def test_a_thread_of_calls_is_opened_again_without_a_model(environ, workspace):
    """There is none in these settings; an answer to a call must not need one."""

    async def scenario(host):
        thread = await started(host, workspace)
        await thread.close()
        handle = await Desk(host, environ, {}).speak(thread.id, OWNER)
        return handle.here

    assert play(environ, scenario)


def test_a_thread_is_looked_up_once_while_nothing_is_written(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        thread = host.create(str(workspace), "owned here")
        host.store.lease(thread.id)
        first = await desk.known(thread.id, OWNER)
        statements = []
        host.store._file.connection.set_trace_callback(statements.append)
        again = [await desk.known(thread.id, OWNER) for _ in range(3)]
        host.store._file.connection.set_trace_callback(None)
        return again == [first] * 3, {one.partition(" ")[0] for one in statements}

    assert play(environ, scenario) == (True, {"PRAGMA"})


def test_what_anyone_writes_is_known_at_once(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        made = host.create(str(workspace), "first")
        titles = [(await desk.known(made.id, OWNER))[0].title]
        host.store.describe(made.id, title="second", workspace=None)
        titles.append((await desk.known(made.id, OWNER))[0].title)
        other = open_store(f"sqlite:{environ['STEERSMAN_HOME']}")
        other.describe(made.id, title="third", workspace=None)
        titles.append((await desk.known(made.id, OWNER))[0].title)
        other.delete_thread(made.id)
        other.close()
        with pytest.raises(NoSuchThread):
            await desk.known(made.id, OWNER)
        return titles

    assert play(environ, scenario) == ["first", "second", "third"]


def test_that_a_process_has_died_is_known_although_it_wrote_nothing(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        made = host.create(str(workspace), "elsewhere")
        elsewhere = start(f"sqlite:{environ['STEERSMAN_HOME']}", "own", made.id)
        assert await asyncio.to_thread(elsewhere.stdout.readline) == "ready\n"
        owners = [(await desk.known(made.id, OWNER))[1].owner.pid == elsewhere.pid]
        elsewhere.kill()
        await asyncio.to_thread(elsewhere.communicate)
        return [*owners, (await desk.known(made.id, OWNER))[1].owner]

    assert play(environ, scenario) == [True, None]


def test_a_token_for_another_folder_does_not_see_what_is_known(environ, workspace):
    async def scenario(host):
        desk = Desk(host, environ, {})
        made = host.create(str(workspace), "mine")
        assert (await desk.known(made.id, OWNER))[0] == made
        with pytest.raises(NoSuchThread):
            await desk.known(made.id, Holder("robot", workspace="/elsewhere"))
        return True

    assert play(environ, scenario)
