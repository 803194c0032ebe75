"""What was sent once is sent again in the same bytes, or providers could not find it in a cache."""

import asyncio
from hashlib import sha256
from pathlib import Path

from steersman.host import Host
from steersman.records.settings import Settings
from tests.host.wires import Line, Waits, conversation
from tests.world import call

READ = call("workspace_read_file", path="src/deep/a.py")
LIST = call("workspace_list_files", path=".")
SCRIPT = (
    {"reasoning": "Hmm.", "text": "Looking.", "tool_calls": [READ, LIST]},
    {"text": "Seen.", "error": {"status": 429, "retry_after": 0}},
)


def furnish(workspace, environ):
    """Instruction files at the root and below, and a skill."""
    (workspace / "AGENTS.md").write_text("Say it plainly.\n")
    (workspace / "src" / "deep").mkdir(parents=True)
    (workspace / "src" / "AGENTS.md").write_text("Tabs here.\n")
    (workspace / "src" / "deep" / "a.py").write_text("a = 1\n")
    skill = Path(environ["XDG_CONFIG_HOME"]) / "steersman" / "skills" / "leap"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: leap\ndescription: Leaps.\n---\nLook first.\n")


def talk(environ, workspace, prompts, thread=None, **settings):
    """Say something in a thread, in a host of its own; the answer is the thread's id."""

    async def whole():
        home = Path(environ["STEERSMAN_HOME"])
        async with Host.at(home, environ, pause=Waits()) as host:
            chosen = Settings(approvals="never", **settings)
            if thread is None:
                opened = await host.start(str(workspace), "a task", chosen)
            else:
                opened = await host.open(thread, chosen)
            line = Line(host, opened)
            for prompt in prompts:
                assert (await line.say(prompt)).ending == "done"
            return opened.id

    return asyncio.run(whole())


def grown(wire, bodies):
    """Assert that each request begins with all of the one before it; gives what none begins."""
    heads, hashes = set(), []
    before: list[bytes] = []
    for body in bodies:
        head, pieces = conversation(wire, body)
        heads.add(head)
        assert pieces[: len(before)] == before
        beginning = head + b",".join(pieces[: len(before)])
        hashes.append(sha256(beginning).hexdigest())
        before = pieces
    assert len(heads) == 1, "the model, the instructions and the tools are the same bytes"
    return heads.pop(), hashes


def test_every_request_begins_with_the_one_before(online, workspace, stage, wire):
    furnish(workspace, online)
    stage.play(*SCRIPT)
    model = f"{wire}:m-1"
    thread = talk(online, workspace, ["use $leap", "again", "and again"], model=model)
    thread = talk(online, workspace, ["once more", "the last"], thread, model=model)

    assert len(stage.bodies) == 5 * 3
    head, hashes = grown(wire, stage.bodies)
    assert b"Say it plainly." in (head if wire != "openai-chat" else stage.bodies[0])
    assert b"Look first." in stage.bodies[0]
    assert b"Tabs here." in stage.bodies[1]
    again = [
        sha256(b"".join([head, b",".join(conversation(wire, body)[1])])).hexdigest()
        for body in stage.bodies
    ]
    assert hashes[1:] == again[:-1], "the hash of a request is that of the next one's beginning"


def test_two_threads_begin_with_the_same_bytes(online, workspace, stage, wire):
    furnish(workspace, online)
    stage.play(*SCRIPT)
    for _ in range(2):
        talk(online, workspace, ["go"], model=f"{wire}:m-1")
    first, second = (body for body in (stage.bodies[0], stage.bodies[3]))
    assert first == second


def test_after_a_compaction_the_new_beginning_stays(online, workspace, stage, wire):
    stage.play({"text": "It is as I said, and I say it again. " * 40})

    async def whole():
        home = Path(online["STEERSMAN_HOME"])
        async with Host.at(home, online, pause=Waits()) as host:
            chosen = Settings(approvals="never", model=f"{wire}:m-1")
            line = Line(host, await host.start(str(workspace), "a task", chosen))
            for _ in range(20):
                await line.say("more")
            assert await line.handle.compact()
            stage.bodies.clear()
            for _ in range(2):
                await line.say("more")
            return line.thread

    thread = asyncio.run(whole())
    talk(online, workspace, ["more"], thread, model=f"{wire}:m-1")
    assert len(stage.bodies) == 3
    grown(wire, stage.bodies)
