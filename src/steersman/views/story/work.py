"""What is done: tool calls with what they show, the gate's words, diffs, results; agents."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.records.call_ids import only_looks
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Body,
    DiffReady,
    Message,
    Policy,
    ToolCall,
    ToolProgress,
    ToolResult,
)
from steersman.views.blocks import Agent, Block, State, Todo, Work
from steersman.views.story.course import TURN_ENDS, remarked
from steersman.views.story.shelf import Shelf
from steersman.views.text import call_words

TAIL = 8_000  # characters kept of what a running tool shows
TODO = "workspace_update_todo"
ENDS: dict[str, State] = {
    "ok": "done", "error": "error", "denied": "denied", "malformed": "error",
    "cancelled": "cancelled", "interrupted": "cancelled",
}  # fmt: skip


def take_call(shelf: Shelf, message: Message, body: ToolCall) -> list[Block]:
    """A tool is asked for; an agent's block shows that it continues."""
    if only_looks(message.corr, message.turn):
        return []  # it only informs what is shown
    lane = shelf.lane(message.path)
    block = Work(shelf.key(message), message.seq, message.turn, lane, body)
    block.corr = message.corr or block.key
    block.command = shelf.jobs.get(str(body.arguments.get("process_id")), "")
    changed = _replaced(shelf, block.corr)
    shelf.known_calls[block.corr] = shelf.open_calls[block.corr] = block
    shelf.progress = ""
    changed.append(shelf.settle(message, block))
    agent = shelf.agents.get(lane)
    if agent is not None and agent.done is None:
        agent.calls += 1
        agent.now = call_words(body.tool, body.arguments)
        agent.touch()
        changed.append(agent)
    return changed


def _replaced(shelf: Shelf, corr: str) -> list[Block]:
    """An open call whose name another one takes: its result can no longer be told apart."""
    earlier = shelf.open_calls.pop(corr, None)
    if earlier is None:
        return []
    earlier.state, earlier.progress = "cancelled", ""
    earlier.touch()
    return [earlier]


def take_progress(shelf: Shelf, message: Message, body: ToolProgress) -> list[Block]:
    """A running tool shows something; only the end of it is kept."""
    block = shelf.open_calls.get(message.corr or "")
    if block is None:
        return []
    block.progress = (block.progress + body.text)[-TAIL:]
    block.touch()
    return [block]


def take_policy(shelf: Shelf, message: Message, body: Policy) -> list[Block]:
    """The gate has spoken."""
    block = shelf.known_calls.get(message.corr or "")
    if block is None:
        return []
    block.verdicts.append((body.action, body.verdict))
    block.touch()
    return [block]


def take_diff(shelf: Shelf, message: Message, body: DiffReady) -> list[Block]:
    """A file was changed by a call, or by nobody we know."""
    block = shelf.known_calls.get(message.corr or "")
    if block is None:
        return [remarked(shelf, message, body, "done")]
    block.diffs.append(body)
    block.touch()
    return [block]


def take_result(shelf: Shelf, message: Message, body: ToolResult) -> list[Block]:
    """What came of a call; one whose call went by unseen is reported anyway."""
    corr = message.corr or ""
    if only_looks(corr, message.turn):
        return shelf.moot(corr)
    block = shelf.known_calls.get(corr)
    if block is None or block.result is not None:
        lane = shelf.lane(message.path)
        call = ToolCall(body.tool)
        block = Work(shelf.key(message), message.seq, message.turn, lane, call)
        block.corr = corr or block.key
        shelf.known_calls[block.corr] = block
        shelf.settle(message, block)
    shelf.open_calls.pop(corr, None)
    block.result = body
    block.progress = ""
    block.state = "error" if _exited_badly(body) else ENDS[body.status]
    block.touch()
    if body.tool == TODO and body.status == "ok":
        _keep_todo(shelf, body.output)
    match body.output:
        case {"background_process_id": str(name)}:
            shelf.jobs[name] = str(block.call.arguments.get("command", ""))
    return [block, *shelf.moot(corr)]


def _exited_badly(body: ToolResult) -> bool:
    """The tool did its part, but the command that it ran failed; one that a signal was to end did
    not."""
    match body.output:
        case {"signal": str()}:
            return False
        case {"exit_code": int(code)} if body.status == "ok":
            return code != 0
    return False


def _keep_todo(shelf: Shelf, output: Any) -> None:
    match output:
        case {"items": list(items)}:
            shelf.todo = tuple(_todo(one) for one in items if isinstance(one, dict))
            shelf.todo_turn = shelf.turn


def _todo(item: dict[str, Any]) -> Todo:
    text = str(item.get("text", ""))
    match item.get("state"):
        case "doing" | "done" | "dropped" as state:
            return Todo(text, state)
    return Todo(text)


def take_spawn(shelf: Shelf, message: Message, body: AgentSpawn) -> list[Block]:
    """An agent begins in a lane of its own."""
    lane = shelf.lane(message.path)
    block = Agent(shelf.key(message), message.seq, message.turn, lane, body)
    shelf.agents[body.lane] = block
    changed = [shelf.settle(message, block)]
    work = shelf.known_calls.get(message.corr or "")
    if work is not None:
        work.by_agent = True
        work.touch()
        changed.append(work)
    return changed


def take_done(shelf: Shelf, message: Message, body: AgentDone) -> list[Block]:
    """An agent has ended."""
    shelf.drop_words(body.lane)
    block = shelf.agents.get(body.lane)
    if block is None or block.done is not None:
        return []
    block.done = body
    block.state = TURN_ENDS[body.ending]
    block.now = ""
    block.touch()
    return [block]


TAKERS: Mapping[type[Body], Callable[[Shelf, Message, Any], list[Block]]] = {
    ToolCall: take_call, ToolProgress: take_progress, Policy: take_policy, DiffReady: take_diff,
    ToolResult: take_result, AgentSpawn: take_spawn, AgentDone: take_done,
}  # fmt: skip
