"""Threads that the event loop hands work to."""

import asyncio
import threading
from functools import wraps

import pytest

from steersman.hands import Hands, serve
from tests.operations.workshop import Workshop


@pytest.fixture
def hands():
    made = Hands(2, "test")
    yield made
    made.shutdown()


def plainly(test):
    """A test that is a coroutine."""

    @wraps(test)
    def run(hands):
        asyncio.run(test(hands))

    return run


async def given(hands, work, *args):
    return await asyncio.get_running_loop().run_in_executor(hands, work, *args)


@plainly
async def test_what_came_of_it_comes_back(hands):
    assert await given(hands, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await given(hands, divmod, 7, 0)
    hands.shutdown()
    with pytest.raises(RuntimeError):
        await given(hands, divmod, 7, 2)


@plainly
async def test_as_many_work_at_once_as_there_may_be_threads_and_the_rest_waits(hands):
    meeting = threading.Barrier(2)
    names = set()

    def meet():
        names.add(threading.current_thread().name)
        return meeting.wait(10)

    met = await asyncio.gather(*(given(hands, meet) for _ in range(6)))

    assert sorted(met) == [0, 0, 0, 1, 1, 1]
    assert names == {"test-0", "test-1"}


@plainly
async def test_work_one_after_the_other_needs_one_thread(hands):
    names = {(await given(hands, threading.current_thread)).name for _ in range(20)}

    assert names == {"test-0"}


@plainly
async def test_what_is_cancelled_before_it_began_is_not_done(hands):
    begun, over, done = [threading.Event() for _ in range(2)], threading.Event(), []

    def hold(one):
        one.set()
        over.wait(10)

    holding = [asyncio.ensure_future(given(hands, hold, one)) for one in begun]
    for one in begun:
        await asyncio.to_thread(one.wait, 10)
    late = asyncio.ensure_future(given(hands, done.append, 1))
    await asyncio.sleep(0)
    late.cancel()
    holding[0].cancel()  # this one continues, and nobody waits for it
    over.set()
    await asyncio.gather(late, *holding, return_exceptions=True)
    await given(hands, int)

    assert done == []


def test_a_loop_is_served_once_and_its_threads_end_with_it():
    async def main():
        serve()
        serve()
        return await asyncio.to_thread(threading.current_thread)

    thread = asyncio.run(main())

    assert thread.name == "hand-0"
    assert not thread.is_alive()


def test_a_plain_command_is_handed_to_threads_a_few_times(tmp_path, monkeypatch):
    """Each time costs as much as a small piece of the work; what belongs together goes together."""
    handed = []
    submit = Hands.submit

    def noted(hands, work, *args, **named):
        handed.append(work)
        return submit(hands, work, *args, **named)

    monkeypatch.setattr(Hands, "submit", noted)

    def times(commands):
        handed.clear()
        calls = [
            ("workspace_run_command", {"command": f"echo {n} >> out"}) for n in range(commands)
        ]
        results = Workshop(tmp_path).do(*calls)
        assert [result.status for result in results] == ["ok"] * commands
        return len(handed)

    assert times(10) - times(2) <= 8 * 13
