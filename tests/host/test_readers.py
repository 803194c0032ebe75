"""Several readers of a thread: what one still has is not read again, and nobody misses any."""

from contextlib import aclosing

from steersman.bus import Joined
from steersman.records.clock import now
from steersman.records.message import AssistantDelta, Message
from tests.host.test_turn import opened, run_in


async def read(host, thread, count):
    """The first messages of a thread, and the reader, who is not at the end."""
    reader = host.watch(thread.id)
    return [await anext(reader) for _ in range(count)], reader


def test_readers_at_the_same_place_have_the_same_messages(environ, workspace, script):
    async def scenario(host):
        thread = await opened(host, workspace, script({"text": "Done."}))
        await thread.send("go")
        await thread.wait()
        first, one = await read(host, thread, 3)
        second, other = await read(host, thread, 3)
        async with aclosing(one), aclosing(other):
            assert [message.seq for message in first] == [1, 2, 3]
            assert all(mine is yours for mine, yours in zip(first, second, strict=True))

    run_in(environ, scenario)


def test_who_comes_later_gets_what_was_stored_since(environ, workspace, script):
    async def scenario(host):
        thread = await opened(host, workspace, script({"text": "Done."}))
        await thread.send("go")
        await thread.wait()
        _, slow = await read(host, thread, 2)  # still has what there was
        async with aclosing(slow):
            await thread.send("again")
            await thread.wait()
            head = host.find(thread.id).head
            late, reader = await read(host, thread, head)
            async with aclosing(reader):
                assert [message.seq for message in late] == list(range(1, head + 1))
            rest = []
            while head not in rest:
                rest.append(getattr(await anext(slow), "seq", 0))
            assert [seq for seq in rest if seq] == list(range(3, head + 1))

    run_in(environ, scenario)


def test_the_text_so_far_comes_before_what_follows_it(environ, workspace, script):
    """Also where something is stored while the answer is written, and read from the log."""

    async def scenario(host):
        host.bus.keeps = True
        thread = await opened(host, workspace, script({"text": "Done."}))

        def say(text):
            body = AssistantDelta(text)
            host.bus.publish(Message(thread.id, 0, now(), 1, body.kind, "steersman", None, body))

        say("one ")
        say("two ")
        first, reader = await read(host, thread, 1)  # has joined, and not yet read to the end
        async with aclosing(reader):
            say("three ")
            await thread.set(mode="ask")
            say("four")
            head, seen = host.find(thread.id).head, []
            while not seen or seen[-1] != "four":
                match await anext(reader):
                    case Joined(partial=partial):
                        seen += [one.body.text for one in partial]
                    case Message(seq=0, body=body):
                        seen.append(body.text)
                    case message:
                        seen.append(message.seq)
        stored = range(first[0].seq + 1, head)
        assert seen == [*stored, "one two ", "three ", head, "four"]

    run_in(environ, scenario)
