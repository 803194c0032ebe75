"""A server's desk: threads that nobody uses are left, and what runs in them is not."""

from steersman.host.desk import IDLE, Desk
from steersman.records.settings import Settings
from tests.hooks.kit import play


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
        from steersman.host.tokens import Holder

        thread = await started(host, workspace)
        await thread.close()
        handle = await Desk(host, environ, {}).speak(thread.id, Holder("owner"))
        return handle.here

    assert play(environ, scenario)
