"""`/rewind` and `/redo`: back to a message, with files or without, and forward again."""

import asyncio
import threading

import pytest

from steersman.views.blocks import Person
from steersman.views.story import Story
from steersman.views.text import words
from tests.cli.kit import DONE
from tests.views.commands.recording import at_desk
from tests.world import call

BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
FIX = call(
    "workspace_edit_files",
    files=[{"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}],
)
WRITE = call("workspace_write_file", path="new.txt", content="new\n")
NONE_LEFT = "There is nothing to redo.\nNothing was undone, or something else was done since."


@pytest.fixture
def desk(environ, workspace):
    """Play a scenario at a desk."""

    def play(scenario, **settings):
        return at_desk(environ, workspace, scenario, **settings)

    return play


def newest(rows):
    """Choose the last message."""
    return rows[0].key


def said(desk):
    """The user's messages of the thread one is at."""
    return [message.body.text for message in desk.messages("user")]


def causes(desk, thread):
    """What was done to files, as a thread's log has it."""
    return [m.body.cause for m in desk.host.messages(thread, kinds={"checkpoint"})]


def fixing(script, *more):
    """A model that says hello, and then fixes the program."""
    return script({"text": "Hello."}, {"tool_calls": [FIX]}, {"text": "Fixed."}, *more)


def test_redo_reverses_a_rewind_with_its_files(desk, script, workspace):
    file = workspace / "calc.py"

    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        first = desk.seat.id
        await desk.type("/rewind", newest, "y")
        fork = desk.seat.id
        assert (file.read_text(), said(desk)) == (BROKEN, ["hello"])
        (note,) = desk.messages("rewind")
        assert await desk.type("/redo", False) != []
        assert (file.read_text(), desk.seat.id) == (BROKEN, fork)
        happened = await desk.type("/redo", True)
        assert (file.read_text(), said(desk)) == (FIXED, ["hello", "fix it"])
        assert desk.seat.id == first
        assert note.body.source == first
        return first, happened, causes(desk, first)

    first, happened, log = desk(scenario, model=fixing(script))

    assert happened[0][1][0] == "Undo the rewind, with 1 file change?"
    assert "+    return a + b" in happened[0][1][1]
    assert happened[-1] == ("tell", f"The rewind is undone: this is thread {first} again.")
    assert log == ["effect", "undo", "redo"]


def test_the_files_alone_are_rewound_and_the_conversation_stays(desk, script, workspace):
    file = workspace / "calc.py"

    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        first = desk.seat.id
        happened = await desk.type("/rewind", newest, "f")
        assert (desk.seat.id, said(desk)) == (first, ["hello", "fix it"])
        assert file.read_text() == BROKEN
        await desk.type("/redo", True)
        assert (desk.seat.id, file.read_text()) == (first, FIXED)
        return happened, causes(desk, first)

    happened, log = desk(scenario, model=fixing(script))

    assert happened[1][1][0] == "Go back to before “fix it”, undoing 1 file change?"
    assert happened[-1] == ("tell", "/redo reverses this.")
    assert log == ["effect", "undo", "redo"]


def test_the_conversation_alone_is_rewound_and_the_files_stay(desk, script, workspace):
    """The model learns of it, and what stays can be undone in the new thread."""
    file = workspace / "calc.py"

    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        first = desk.seat.id
        happened = await desk.type("/rewind", newest, "c")
        assert (file.read_text(), said(desk)) == (FIXED, ["hello"])
        assert happened[-1] == ("compose", "fix it")
        await desk.type("/redo")
        assert (desk.seat.id, file.read_text()) == (first, FIXED)
        await desk.type("/rewind", newest, "c")
        await desk.type("/undo", True)
        assert file.read_text() == BROKEN
        await desk.type("/redo", True)  # first what was done last
        assert (desk.seat.id != first, file.read_text()) == (True, FIXED)
        await desk.type("go on")
        told = [message.body.text for message in desk.messages("meanwhile")]
        happened = await desk.type("/redo")  # something was said since
        return told, happened, causes(desk, first)

    (told,), happened, log = desk(scenario, model=fixing(script, {"text": "Well."}))

    kept = "- The user went back to this point of the conversation, but kept later changes"
    assert f'{kept}: "calc.py".' in told
    assert happened == [("tell", NONE_LEFT)]
    assert log == ["effect"]


def test_a_rewind_keeps_what_i_changed_in_the_same_lines(desk, script, workspace):
    """It asks as an undo does; what stays can be undone in the new thread."""
    file, new = workspace / "calc.py", workspace / "new.txt"
    mine = FIXED.replace("a + b", "a + b + 0")

    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        first = desk.seat.id
        file.write_text(mine)
        refused = await desk.type("/rewind", newest, "y", "n")
        assert (desk.seat.id, file.read_text(), new.exists()) == (first, mine, True)
        happened = await desk.type("/rewind", newest, "y", "m")
        assert (file.read_text(), new.exists(), said(desk)) == (mine, False, ["hello"])
        await desk.type("/redo", True)
        assert (desk.seat.id, file.read_text(), new.exists()) == (first, mine, True)
        await desk.type("/rewind", newest, "f", "m")
        assert (desk.seat.id, file.read_text(), new.exists()) == (first, mine, False)
        await desk.type("/redo", True)
        await desk.type("/rewind", newest, "y", "m")
        await desk.type("/undo", "o")
        assert (file.read_text(), new.exists()) == (BROKEN, False)
        return refused, happened

    model = script({"text": "Hello."}, {"tool_calls": [FIX, WRITE]}, {"text": "Fixed."})
    refused, happened = desk(scenario, model=model)

    assert refused[-1] == ("tell", "Nothing was done.")
    how, (title, body) = [about for kind, about in happened if kind == "read"]
    assert how == (title, body)
    assert title == "Go back to before “fix it”, undoing 2 file changes?"
    assert body.startswith("**This overwrites later changes in: calc.py:**")
    assert ("done", "Undone: 1 change.") in happened


def test_the_way_back_reads_the_log_beside_the_event_loop(desk, script, monkeypatch):
    """And what is changed in it, no more than once to show it and once to check it."""

    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        here, read = threading.get_ident(), desk.host.store.read
        reads = list[tuple[bool, frozenset[str]]]()

        def noted(*arguments, kinds=None, **places):
            reads.append((threading.get_ident() == here, frozenset(kinds or ())))
            return read(*arguments, kinds=kinds, **places)

        monkeypatch.setattr(desk.host.store, "read", noted)
        await desk.type("/undo", True)
        undo = [kinds for _, kinds in reads]
        await desk.type("/redo", True)
        await desk.type("/rewind", newest, "f")
        return undo, [kinds for on_loop, kinds in reads if on_loop]

    undo, on_loop = desk(scenario, model=fixing(script))

    assert on_loop == []
    assert undo.count(frozenset({"checkpoint"})) == 2
    assert len([kinds for kinds in undo if "tool_result" in kinds]) == 1


def test_a_job_of_the_thread_that_was_copied_did_not_end_unexpectedly(desk, script):
    """It stays there and ends with it; the copy says so to the user and to the model."""
    job = call("workspace_run_command", command="sleep 600", background=True, wait_timeout=0.1)
    model = script({"tool_calls": [job]}, {"text": "Started."}, {"text": "Well."}, {"text": "Ok."})

    async def scenario(desk):
        await desk.type("start it")
        await desk.type("well?")
        first = desk.seat.id
        await desk.type("/rewind", newest, True)
        await desk.type("and now?")
        kinds = {"job_end", "session_end"}
        there = [m.body for m in desk.host.messages(first, kinds=kinds)]
        here = [words(message.body) for message in desk.messages("job_end", "session_end")]
        return there, here, desk.messages("meanwhile")[-1].body.text

    there, here, told = desk(scenario, model=model)

    assert [getattr(body, "left", None) for body in there] == [True, None]
    stayed = "stayed with the thread that this one is a copy of."
    assert here == [
        f"Background job p1 (sleep 600) {stayed}",
        "interrupted (exit -) the rest is in the thread that this one continues",
    ]
    assert f'- The background job p1 ("sleep 600") {stayed}' in told


def test_a_rewind_is_not_reversed_over_what_was_done_in_its_thread_since(desk, script, workspace):
    async def scenario(desk):
        await desk.type("hello")
        await desk.type("fix it")
        first = desk.seat.id
        await desk.type("/rewind", newest, "y")
        fork = desk.seat.id
        await desk.type(f"/resume {first}")
        await desk.type("/redo", True)
        await desk.type(f"/resume {fork}")
        return first, await desk.type("/redo"), desk.seat.id == fork

    first, happened, stayed = desk(scenario, model=fixing(script))

    assert stayed
    assert happened == [
        (
            "tell",
            "The rewind cannot be reversed.\n"
            f"Something else was done in thread {first} since.\nContinue in thread {first}.",
        )
    ]


@pytest.mark.parametrize("how", ["queue", "steer"])
def test_before_a_queued_message_it_was_not_delivered(desk, script, gate, how):
    """It is in the composer again, and neither delivered nor queued in the new thread."""
    wait = {"tool_calls": [gate.wait]}

    async def scenario(desk):
        await desk.seat.say("hello")
        await asyncio.to_thread(gate.waiting)
        await getattr(desk.seat.handle, how)("second")
        await asyncio.to_thread(gate.open)
        await desk.seat.handle.wait()
        while said(desk) != ["hello", "second"] or desk.seat.doing == "working":
            await asyncio.sleep(0.01)
        done = await desk.type("/rewind", newest)
        assert ("compose", "second") in done
        story = Story()
        for message in desk.messages():
            story.feed(message)
        people = [one for one in story.blocks if isinstance(one, Person)]
        return said(desk), [(one.text, one.receipt) for one in people], story.queued()

    told, shown, queued = desk(scenario, model=script(wait, DONE, DONE))
    assert told == ["hello"]
    assert shown == [("hello", ""), ("second", "withdrawn")]
    assert queued == []


def test_what_i_withdrew_stays_withdrawn_wherever_i_go_back_to(desk, script, gate):
    """Also where it was still queued; and a turn that goes on elsewhere was not cut off."""
    wait = {"tool_calls": [gate.wait]}

    async def scenario(desk):
        await desk.seat.say("hello")
        await asyncio.to_thread(gate.waiting)
        await desk.seat.handle.queue("first")
        second = await desk.seat.handle.queue("second")
        await desk.seat.handle.withdraw(second)
        await asyncio.to_thread(gate.open)
        while said(desk) != ["hello", "first"] or desk.seat.doing == "working":
            await asyncio.sleep(0.01)
        source = desk.seat.id
        (queued,) = (m.seq for m in desk.messages("steer") if m.body.text == "second")
        await desk.type(f"/rewind {queued}")
        story = Story()
        for message in desk.messages():
            story.feed(message)
        left = [one.text for one in story.queued()]
        ends = [words(m.body) for m in desk.messages("turn_end")]
        copy = desk.seat.id
        await desk.type("go on")
        return left, ends, said(desk), [*desk.host.verify(copy), *desk.host.verify(source)]

    left, (end,), told, flaws = desk(scenario, model=script(wait, DONE, DONE, DONE, DONE))
    assert left == ["first"]
    assert end.endswith("the rest is in the thread that this one continues")
    assert sorted(told) == ["first", "go on", "hello"]
    assert flaws == []
