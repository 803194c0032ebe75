"""Capsules within capsules: lanes, correlation, and the end of a whole tree."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steersman.governance.approvals import Desk
from steersman.governance.gate import Gate
from steersman.governance.policy import Circumstances
from steersman.host import Host
from steersman.identity.persona import Persona
from steersman.intelligence.context import Context
from steersman.intelligence.loop import NativeLoop
from steersman.intelligence.models import open_driver
from steersman.operations.executor import Toolbox
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.processes import Processes
from steersman.operations.tools import standard_tools
from steersman.operations.workspace import Workspace
from steersman.records.message import AgentDone, AgentSpawn, ToolProgress, ToolResult, User
from steersman.store.log import Lane, ThreadLog
from steersman.store.redactor import Redactor
from steersman.threads.capsule import Capsule, CapsuleTool, Unsteered
from tests.world import call


class Tree:
    """A chief with a mate, and the mate with a hand, in one thread."""

    def __init__(self, environ, folder, script, hand_turns):
        self.host = Host.at(Path(environ["STEERSMAN_HOME"]), environ)
        self.workspace = Workspace.open(folder)
        thread = self.host.create(self.workspace.root, "a tree")
        self.log = ThreadLog(
            self.host.store,
            self.host.bus,
            thread,
            redactor=Redactor(),
            executor=ThreadPoolExecutor(1),
        )
        self.gate = Gate(
            Circumstances(self.workspace.root, approvals="never"), Desk(attended=False)
        )
        self.environ = environ
        objects = Objects(Path(environ["STEERSMAN_HOME"]) / "objects")
        self.journal = Journal(self.workspace.root, objects)
        self.processes = Processes(Path(environ["STEERSMAN_HOME"]) / "output")
        self.runs = CommandRuns(self.journal, environ["STEERSMAN_HOME"])
        hand = self.capsule("hand", script(*hand_turns, name="hand.json"))
        mate = self.capsule(
            "mate",
            script(
                {"tool_calls": [call("hand", task="look")]}, {"text": "mate: ok"}, name="mate.json"
            ),
            CapsuleTool(hand, "Does small things."),
        )
        self.chief = self.capsule(
            "chief",
            script(
                {"tool_calls": [call("mate", task="see to it")]},
                {"expect": "mate: ok", "text": "chief: ok"},
                name="chief.json",
            ),
            CapsuleTool(mate, "Does things."),
        )

    def capsule(self, name, model, *children):
        tools = [*standard_tools(self.environ, self.processes, self.runs), *children]
        return Capsule(
            identity=Persona(name, f"You are the {name}."),
            governance=self.gate,
            coordination=Unsteered(),
            intelligence=NativeLoop(open_driver(model), 50),
            operations=Toolbox(tools, self.workspace, self.journal, self.gate),
        )

    async def turn(self):
        lane = Lane(self.log, "chief", 1)
        context = Context("chief")
        try:
            with self.log.watched_by(context.observe):
                await lane.at("coordination").append(User("go"))
                return await self.chief.turn(lane, context)
        finally:
            await self.processes.close()

    def messages(self):
        return list(self.host.messages(self.log.thread))


HAND = "chief/operations/mate/operations/hand"


def test_three_levels_each_in_its_own_lane(environ, workspace, script):
    tree = Tree(
        environ, workspace, script,
        [{"tool_calls": [call("workspace_read_file", path="calc.py")]}, {"text": "hand: ok"}],
    )  # fmt: skip
    assert asyncio.run(tree.turn()).ending == "done"

    messages = tree.messages()
    said = {m.path: m.body.text for m in messages if m.kind == "assistant" and m.body.text}
    assert said == {
        f"{HAND}/intelligence": "hand: ok",
        "chief/operations/mate/intelligence": "mate: ok",
        "chief/intelligence": "chief: ok",
    }
    results = {m.path: m.body for m in messages if m.kind == "tool_result"}
    assert results[f"{HAND}/operations/workspace_read_file"].status == "ok"
    assert results[HAND].output == "hand: ok"
    assert results["chief/operations/mate"].output == "mate: ok"


def test_a_call_its_agent_and_its_result_share_one_correlation(environ, workspace, script):
    tree = Tree(environ, workspace, script, [{"text": "hand: ok"}])
    asyncio.run(tree.turn())

    for agent in ("mate", "hand"):
        joined = [m for m in tree.messages() if m.path.endswith(agent) and m.corr]
        assert len({m.corr for m in joined}) == 1
        assert [m.kind for m in joined] == [
            "tool_call", "policy", "agent_spawn", "agent_done", "tool_result",
        ]  # fmt: skip
    calls = [m.corr for m in tree.messages() if m.kind == "tool_call"]
    assert len(calls) == len(set(calls))


def test_cancelling_the_top_ends_the_whole_tree(environ, workspace, script):
    sleep = call("workspace_run_command", command="echo begun; sleep 600", wait_timeout=600)
    tree = Tree(environ, workspace, script, [{"tool_calls": [sleep]}])

    async def scenario():
        news = tree.host.bus.subscribe(tree.log.thread)
        turn = asyncio.create_task(tree.turn())
        while not isinstance((await news.next()).body, ToolProgress):
            pass
        turn.cancel()
        await asyncio.wait({turn})
        assert turn.cancelled()

    asyncio.run(scenario())
    messages = tree.messages()
    assert [m.body.status for m in messages if isinstance(m.body, ToolResult)] == ["cancelled"] * 3
    assert [m.body.ending for m in messages if isinstance(m.body, AgentDone)] == ["cancelled"] * 2
    assert len([m for m in messages if isinstance(m.body, AgentSpawn)]) == 2
