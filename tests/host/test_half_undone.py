"""An undo that fails or is stopped half-way: the log says that it never happened."""

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from steersman.host import Host
from steersman.operations.journal import performing
from steersman.records.errors import StorageProblem, ToolProblem
from steersman.records.settings import Settings
from steersman.store.sql_store import SqlStore
from tests.world import call

FILES = ("one.txt", "two.txt")
WRITES = [call("workspace_write_file", path=name, content="new\n") for name in FILES]


@pytest.fixture
def play(environ, workspace, script):
    """Play a scenario with a thread that made two files."""

    def played(scenario):
        async def play():
            async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
                settings = Settings(
                    model=script({"tool_calls": WRITES}, {"text": "-"}), approvals="never"
                )
                thread = await host.start(str(workspace), "write", settings)
                await thread.send("write")
                await thread.wait()
                return await scenario(thread)

        return asyncio.run(play())

    return played


@pytest.fixture
def there(workspace):
    """Which of the files are there."""
    return lambda: [name for name in FILES if (workspace / name).exists()]


def fill_disk(patch):
    """From now on only the first file can be moved."""
    real, left = os.rename, iter([True, False])

    def rename(*args, **kwargs):
        if not next(left, True):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*args, **kwargs)

    patch.setattr(os, "rename", rename)


async def bring_to_both(thread, there):
    """Undo, then redo."""
    await thread.undo(await thread.plan_undo())
    assert there() == []
    await thread.undo(await thread.plan_redo())
    assert there() == list(FILES)


def test_a_cancel_while_an_undo_fails_does_not_hide_that_it_failed(play, there, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def fails(*_):
        begun.set()
        assert go_on.wait(60)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    async def scenario(thread):
        plan = await thread.plan_undo()
        with monkeypatch.context() as patch:
            patch.setattr(performing.Performance, "run", fails)
            undoing = asyncio.create_task(thread.undo(plan))
            await asyncio.to_thread(begun.wait, 60)
            undoing.cancel()
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await undoing
        assert there() == list(FILES)
        await bring_to_both(thread, there)

    play(scenario)


def test_an_undo_that_is_cancelled_as_it_is_noted_is_made(play, there, monkeypatch):
    async def scenario(thread):
        plan = await thread.plan_undo()
        real, noted = SqlStore.append, threading.Event()

        def notes(self, thread_id, rows, **how):
            real(self, thread_id, rows, **how)
            if any(row.kind == "checkpoint" for row in rows):
                noted.set()

        monkeypatch.setattr(SqlStore, "append", notes)
        undoing = asyncio.create_task(thread.undo(plan))
        while not noted.is_set():
            await asyncio.sleep(0)
        undoing.cancel()
        await asyncio.wait([undoing])
        assert there() == []
        await thread.undo(await thread.plan_redo())
        assert there() == list(FILES)

    play(scenario)


def test_what_a_full_disk_keeps_out_of_the_log_is_said_before_the_next_plan(
    play, there, monkeypatch
):
    def no_void(self, thread_id, rows, **how):
        if any(b'"void"' in row.body for row in rows):
            raise StorageProblem("The disk is full.")
        real(self, thread_id, rows, **how)

    real = SqlStore.append

    async def scenario(thread):
        plan = await thread.plan_undo()
        with monkeypatch.context() as patch:
            fill_disk(patch)
            patch.setattr(SqlStore, "append", no_void)
            with pytest.raises(StorageProblem):
                await thread.undo(plan)
        assert there() == list(FILES)
        await bring_to_both(thread, there)

    play(scenario)


def test_an_undo_that_cannot_be_reverted_stands_and_is_redone(play, there, monkeypatch):
    async def scenario(thread):
        plan = await thread.plan_undo()
        with monkeypatch.context() as patch:
            fill_disk(patch)
            patch.setattr(performing.Performance, "roll_back", lambda _: ["one.txt"])
            with pytest.raises(ToolProblem, match="if this was an undo, `steer redo`"):
                await thread.undo(plan)
        assert there() == ["two.txt"]
        await thread.undo(await thread.plan_redo())
        assert there() == list(FILES)
        await bring_to_both(thread, there)

    play(scenario)


def test_one_undo_is_not_done_twice(play, there):
    """Two people look at the same changes; whoever comes second looks again."""

    async def scenario(thread):
        first = second = await thread.plan_undo()
        await thread.undo(first)
        with pytest.raises(ToolProblem, match="out of date"):
            await thread.undo(second, force=True)
        redo = await thread.plan_redo()
        await thread.undo(redo)
        with pytest.raises(ToolProblem, match="out of date"):
            await thread.undo(redo, force=True)
        assert there() == list(FILES)
        with pytest.raises(ToolProblem, match="nothing to redo"):
            await thread.plan_redo()

    play(scenario)
