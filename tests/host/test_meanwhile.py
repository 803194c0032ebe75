"""What people do between two turns is known to the model in the next one, once, from the log."""

import asyncio
import json
from pathlib import Path

from steersman.host import Host
from steersman.intelligence.shortening import MEANWHILE
from steersman.records.message import JobEnd, Meanwhile
from steersman.records.settings import Settings
from steersman.records.undo import Part
from tests.host.wires import Line, Waits
from tests.world import call

LINES = [f"line {number}\n" for number in range(1, 21)]
EDIT = call(
    "workspace_edit_files",
    files=[
        {
            "path": "big.txt",
            "edits": [
                {"search": "line 2\n", "replace": "LINE 2\n"},
                {"search": "line 18\n", "replace": "LINE 18\n"},
            ],
        }
    ],
)
WRITE = call("workspace_write_file", path="new.txt", content="new\n")
JOB = call("workspace_run_command", command="sleep 600", background=True, wait_timeout=0.1)
GIT = "git -c user.name=a -c user.email=a@example.org"
COMMIT = f"git add calc.py; {GIT} commit -m 'Add calc'"
BOTH = f"echo made > made.txt; {GIT} commit --allow-empty -m First; exit 3"
RUN = "workspace_run_command"


async def in_person(line):
    """Undo a hunk, a file, and redo that; run commands, commit, look, stop a job."""
    thread = line.handle
    await thread.undo(await thread.plan_undo(parts=[Part("big.txt", (2,))]))
    await thread.undo(await thread.plan_undo(parts=[Part("new.txt")]))
    await thread.undo(await thread.plan_redo())
    ran = [await thread.call(RUN, {"command": one}) for one in (BOTH, COMMIT)]
    await thread.call(RUN, {"command": "git status"}, name="look_1")
    await thread.call("workspace_signal_process", {"process_id": "p1", "signal": "TERM"})
    return [one.body.output["output"].split("]")[0].split()[-1] for one in ran]


def test_the_next_turn_begins_with_what_people_did_and_later_ones_do_not(online, workspace, stage):
    (workspace / "big.txt").write_text("".join(LINES))
    stage.play(
        {"tool_calls": [EDIT, WRITE]},
        {"tool_calls": [JOB, JOB]},
        {"text": "Done."},
        {"text": "-"},
        {"text": "-"},
    )
    home = Path(online["STEERSMAN_HOME"])
    chosen = Settings(model="openai-chat:gpt-5", approvals="never")

    async def first():
        async with Host.at(home, online, pause=Waits()) as host:
            line = Line(host, await host.start(str(workspace), "a task", chosen))
            await line.say("change both")
            assert line.bodies("meanwhile") == []
            return line.thread, await in_person(line)

    async def again(thread):
        async with Host.at(home, online, pause=Waits()) as host:
            line = Line(host, await host.open(thread, chosen))
            await line.say("and now?")
            await line.say("and then?")
            return line.bodies("meanwhile"), line.bodies("job_end")

    thread, (first_commit, commit) = asyncio.run(first())
    told, ends = asyncio.run(again(thread))
    note = f"""{MEANWHILE}, this happened. Files may differ from what you saw: read them again.]
- The user undid your changes: big.txt (only line 18).
- The user undid your changes: new.txt (no longer exists).
- The user restored undone changes: new.txt (exists again).
- The user ran `{BOTH}`: exit 3; it changed made.txt.
- The user committed {first_commit}: First.
- The user committed {commit}: Add calc.
- The user stopped the background job p1 (`sleep 600`).
- The background job p2 (`sleep 600`) was ended when the thread was closed."""
    assert told == [Meanwhile(note)]
    assert ends == [JobEnd("p1", "sleep 600", 143), JobEnd("p2", "sleep 600", 137, left=True)]
    words = [[m["content"] for m in json.loads(body)["messages"]] for body in stage.bodies]
    assert [note in said for said in words] == [False, False, False, True, True]
    assert words[-2][-2:] == [note, "and now?"]
    assert words[-1].count(note) == 1
