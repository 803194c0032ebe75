"""What an undo leaves as it is: commands that pushed, reached the network or left the workspace.

Only what the log shows is said: an undo restores files, and nothing else.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from steersman.operations.journal.journal import Journal
from steersman.operations.running.push_places import pushes
from steersman.records.action import Action, Execute, McpCall, Network
from steersman.records.message import (
    Checkpoint,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    ToolCall,
    ToolResult,
)
from steersman.records.names import shown

KINDS = frozenset(
    {"checkpoint", "confirm_request", "confirm_response", "policy", "tool_call", "tool_result"}
)
MOST = 5
_REMOTE = re.compile(r"(?:.*/)?\.git/refs/remotes/([^/]+)/(.+)")
_SENT = re.compile(r"^ [ +*] (?:\[new [a-z]+\]|\w+\.\.\.?(\w+)) +\S+ -> (\S+)", re.MULTILINE)
_TO = re.compile(r"^To (\S+)", re.MULTILINE)


class _Call(Struct):
    """One call: what it was allowed to do, what it changed, and what came of it."""

    tool: str = ""
    command: str = ""
    actions: list[Action] = []
    asked: list[Action] = []
    checkpoint: Checkpoint | None = None
    result: ToolResult | None = None


def what_stands(messages: Iterable[Message], undone: Collection[int], journal: Journal) -> str:
    """A sentence about what the undo of checkpoints does not change; "" when there is nothing."""
    told: dict[str, bool] = {}  # whether it is only a push
    for call in _calls(messages, undone):
        sent = _pushed(call, journal)
        told |= dict.fromkeys(sent, True)
        if not sent:
            told |= dict.fromkeys(_outside(call), False)
    if not told:
        return ""
    more = f"; {len(told) - MOST} more" if len(told) > MOST else ""
    what = "the remote" if all(told.values()) else "that"
    return f"{'; '.join([*told][:MOST])}{more}; undo does not change {what}."


def _calls(messages: Iterable[Message], undone: Collection[int]) -> list[_Call]:
    """The calls of the turns of checkpoints; outside a turn, those that made them."""
    found: dict[tuple[int, str | None], _Call] = {}
    asked: dict[str | None, tuple[int, str | None]] = {}
    wanted: set[tuple[int, str | None]] = set()
    turns: set[int] = set()
    for message in messages:
        key = message.turn, message.corr
        call = found.setdefault(key, _Call())
        match message.body:
            case ToolCall(tool=tool, arguments=arguments):
                call.tool, call.command = tool, str(arguments.get("command", ""))
            case ToolResult() as result:
                call.result = result
            case Policy(action=action, verdict=verdict):
                (call.actions if verdict.decision == "allow" else call.asked).append(action)
            case ConfirmRequest(call=name):
                asked[message.corr] = message.turn, name
            case ConfirmResponse(decision="allow") if message.corr in asked:
                agreed = found.setdefault(asked[message.corr], _Call())
                agreed.actions += agreed.asked
            case Checkpoint() as checkpoint:
                call.checkpoint = checkpoint
                if message.seq in undone:
                    turns |= {message.turn} - {0}
                    wanted.add(key)
    return [call for key, call in found.items() if key[0] in turns or key in wanted]


def _pushed(call: _Call, journal: Journal) -> list[str]:
    """What a command pushed, by what git noted of it, or else by what it printed."""
    if "push" not in call.command or not any(pushes(call.command, "/", "/")):
        return []
    told = []
    for change in journal.changes_of(call.checkpoint) if call.checkpoint else ():
        noted = _REMOTE.fullmatch(change.path)
        content = journal.content(change.after) if noted else None
        if noted and content and noted[2] != "HEAD":
            told.append(_sentence(noted[2], noted[1], content.decode(errors="replace")))
    output = call.result.output if call.result is not None else None
    printed = str(output.get("output", "")) if isinstance(output, dict) else ""
    places = _TO.findall(printed)
    if not told and places:
        told = [_sentence(sent[2], places[0], sent[1] or "") for sent in _SENT.finditer(printed)]
    went_well = isinstance(output, dict) and output.get("exit_code") == 0
    return told or ([f"{_quoted(call.command)} was run, which pushes"] if went_well else [])


def _sentence(branch: str, remote: str, digest: str) -> str:
    at = f" ({digest.strip()[:7]})" if digest.strip() else ""
    return f"`{shown(branch)}` was pushed to `{shown(remote)}`{at}"


def _outside(call: _Call) -> list[str]:
    """What else of a call no file of the workspace shows."""
    hosts, told = dict[str, None](), list[str]()
    for action in call.actions:
        match action:
            case Network(host=host, url="", query="", registries=()):
                hosts[shown(host)] = None
            case Execute(outside=True):
                told.append(f"{_quoted(call.command)} ran outside the sandbox")
            case Execute(writes=(_, *_) as writes):
                places = ", ".join(map(shown, writes[:MOST]))
                told.append(f"{_quoted(call.command)} could change {places}")
            case McpCall(server=server, tool=tool, effect="writes"):
                told.append(f"`{shown(tool)}` of the server {shown(server)} was called")
    if hosts:
        told.append(f"{_quoted(call.command)} reached {_listed([*hosts])}")
    return told


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"{', '.join(names[:MOST])}{more}"


def _quoted(command: str) -> str:
    line = shown(" ".join(command.split()).replace("`", "'"))
    return f"`{line if len(line) <= 60 else line[:59] + '…'}`"
