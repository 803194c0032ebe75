"""Nothing holds up the event loop: not a thread that begins, not a large workspace."""

import asyncio
import os
import time
from pathlib import Path

import msgspec
import pytest

from steersman.governance.secret_finder import Finder
from steersman.host import Host
from steersman.records.clock import now
from steersman.records.message import Assistant, encode_body
from steersman.records.settings import Settings
from steersman.store.chain import GENESIS, link_row
from steersman.store.contract import Row, stamp
from tests.host.loop_watch import LONGEST, LoopWatch, watched
from tests.world import call

FOLDERS = 4000
SKILLS = 1000
THREADS = 10
MESSAGES = 20_000


@pytest.fixture
def large(workspace: Path) -> Path:
    """A workspace of 4,000 folders with a file in each, which brings a thousand skills."""
    for number in range(FOLDERS):
        folder = workspace / f"part{number // 40}" / f"folder{number}"
        folder.mkdir(parents=True)
        (folder / "module.py").touch()
    for number in range(SKILLS):
        folder = workspace / ".claude" / "skills" / f"skill{number}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\ndescription: Does {number}.\n---\nDo it.\n")
    return workspace


async def begin_and_run(host: Host, workspace: Path, model: str) -> None:
    """One thread from its beginning to its end, with a turn that runs a command."""
    settings = Settings(model=model, approvals="never")
    thread = await host.start(str(workspace), "a task", settings)
    await thread.send("go")
    end = await thread.wait()
    assert end is not None
    assert end.ending == "done"
    await thread.close()


async def several_threads(
    environ: dict[str, str], workspace: Path, model: str, threads: int = THREADS
) -> None:
    """Threads that begin at once in one workspace."""
    home = Path(environ["STEERSMAN_HOME"])
    host = await asyncio.to_thread(Host.at, home, environ)
    async with host, asyncio.timeout(120), asyncio.TaskGroup() as group:
        for _ in range(threads):
            group.create_task(begin_and_run(host, workspace, model))


def longest(scenario) -> LoopWatch:
    """Watch a scenario."""
    with watched() as watch:
        asyncio.run(scenario)
    return watch


DONE = {"text": "Done."}
RUN = call("workspace_run_command", command="echo hi")


def test_ten_threads_that_begin_in_a_large_workspace_hold_nobody_up(environ, large, script):
    model = script({"tool_calls": [RUN]}, {"expect": "hi", "text": "Done."})
    watch = longest(several_threads(environ, large, model))
    assert watch.callbacks > 100
    assert not watch.held_up


def test_questions_about_a_large_workspace_hold_nobody_up(environ, large, script):
    questions = [
        call("workspace_ranked_context", question="module"),
        {"name": "workspace_find_symbol", "arguments": {"name": "module"}},
        call("workspace_get_diagnostics", paths=["part0"]),
        call("workspace_list_files"),
    ]
    watch = longest(several_threads(environ, large, script({"tool_calls": questions}, DONE), 2))
    assert not watch.held_up


def long_thread(host: Host, workspace: Path) -> str:
    """A thread of 20,000 messages that nobody runs."""
    thread = host.create(str(workspace), "a long story")
    rows: list[Row] = []
    previous = GENESIS
    body = encode_body(Assistant("word " * 40))
    for seq in range(1, MESSAGES + 1):
        bare = Row(seq, stamp(now()), 1, "assistant", "steersman/intelligence", None, body, b"")
        previous = link_row(previous, bare)
        rows.append(msgspec.structs.replace(bare, hash=previous))
    host.store.append(thread.id, rows, sync=False)
    return thread.id


async def read_to_the_end(host: Host, thread_id: str) -> None:
    """A reader that joins and is caught up."""
    handle = await host.attach(thread_id)
    async for message in handle.events():
        if message.seq == MESSAGES:
            return


def test_readers_that_join_a_long_thread_hold_nobody_up(environ, large, script):
    home = Path(environ["STEERSMAN_HOME"])
    thread_id = long_thread(Host.at(home, environ), large)
    model = script({"tool_calls": [RUN]}, {"expect": "hi", "text": "Done."})

    async def scenario() -> None:
        async with (
            Host.at(home, environ) as host,
            asyncio.timeout(120),
            asyncio.TaskGroup() as all_,
        ):
            for _ in range(5):
                all_.create_task(read_to_the_end(host, thread_id))
            all_.create_task(begin_and_run(host, large, model))

    assert not longest(scenario()).held_up


def test_a_walk_on_the_loop_is_noticed(environ, large, script, monkeypatch):
    async def on_the_loop(self, *, deep):
        return Finder(self._workspace).find(deep=deep)

    monkeypatch.setattr(Finder, "look", on_the_loop)
    model = script({"tool_calls": [RUN]}, {"expect": "hi", "text": "Done."})
    assert longest(several_threads(environ, large, model, 1)).waits.total() > FOLDERS


def test_a_sleep_and_work_on_the_loop_are_noticed_and_waiting_is_not():
    async def sleeps():
        time.sleep(LONGEST * 1.2)

    async def works():
        until = time.thread_time() + LONGEST * 1.2
        while time.thread_time() < until:
            os.getpid()

    async def waits():
        await asyncio.sleep(LONGEST * 1.2)

    assert longest(sleeps()).held_up.startswith("time.sleep")
    assert "seconds of work" in longest(works()).held_up
    assert not longest(waits()).held_up
