"""A request for permission as every port shows it: what is wanted, by whom, and the answers there
are. Pure; how its lines look is a port's own."""

import msgspec
from msgspec import Struct

from steersman.records import validation
from steersman.records.action import (
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    SpawnAgent,
    Write,
)
from steersman.records.message import MASK, ConfirmRequest, Lasting, Scope, ToolCall
from steersman.views.blocks import Asked, Request
from steersman.views.text import counted, flat, safe, safe_json

ROOT = "steersman"


class Offered(Struct, frozen=True):
    """A key, what it does in a few words, and whether that holds longer than this once."""

    key: str
    words: str
    lasts: bool = False


def title(request: ConfirmRequest) -> str:
    """What is wanted, in a few words."""
    kinds = {type(action) for action in request.actions}
    match request.actions:
        case [Execute(outside=outside)]:
            return "run a command outside the sandbox" if outside else "run a command"
        case [Network(host=host, port=port)]:
            return f"reach {flat(host)}, port {port}"
        case [McpCall(server=server, tool=tool)]:
            return f"call {flat(tool)} of the MCP server {flat(server)}"
        case [SpawnAgent(agent=agent)]:
            return f"start the agent {flat(agent)}"
        case [ChangeMany() as many, *_]:
            return f"change {counted(many.created + many.changed + many.deleted, 'file')} at once"
    if kinds <= {Write, Delete}:
        did = "keep what a command did to" if not can_be_changed(request) else "change"
        return f"{did} {counted(len(request.actions), 'file')}"
    if kinds <= {Read, List, Search}:
        return f"look at {counted(len(request.actions), 'place')}"
    return f"do {counted(len(request.actions), 'thing')}"


def asker(block: Request | Asked) -> str:
    """Whose request it is; empty for the one that the user talks to."""
    return flat(block.lane.removeprefix(ROOT).strip("/"))


def can_be_changed(request: ConfirmRequest) -> bool:
    """Whether the call itself is asked about, and not what it turned out to do."""
    return not request.whole and not any(
        isinstance(action, Network) or getattr(action, "origin", "tool") != "tool"
        for action in request.actions
    )


def lasting_keys(request: ConfirmRequest) -> dict[str, tuple[str, Scope, str]]:
    """The keys for answers that hold longer: which answer, for how long, and the words for it."""
    keys: dict[str, tuple[str, Scope, str]] = {}
    letters = {("same", "thread"): "t", ("same", "here"): "a", ("edits", "thread"): "w",
               ("edits", "here"): "W"}  # fmt: skip
    words = {"t": "in this thread", "a": "always here", "w": "all edits in this thread",
             "W": "all edits here"}  # fmt: skip
    for lasting in request.lasting:
        for scope in lasting.scopes:
            key = letters.get((lasting.name, scope))
            if key:
                keys[key] = (lasting.name, scope, words[key])
    return keys


def keys_of(request: ConfirmRequest, lasting: Lasting) -> list[str]:
    """The keys of one answer that holds longer."""
    return [key for key, (name, _, _) in lasting_keys(request).items() if name == lasting.name]


def offered(request: ConfirmRequest, call: ToolCall | None, *, hunks: bool) -> list[Offered]:
    """The answers there are, and nothing that would not work."""
    made = [Offered("y", "once")]
    made += [Offered(key, told, True) for key, (_, _, told) in lasting_keys(request).items()]
    made += [Offered("n", "deny"), Offered("g", "deny and say why")]
    if editable(request, call):
        made.append(Offered("e", "edit"))
    if any(isinstance(action, Write | Delete) for action in request.actions):
        made.append(Offered("D", "choose hunks" if hunks else "whole diff"))
    return made


def editable(request: ConfirmRequest, call: ToolCall | None) -> bool:
    """Whether the user can change the call: it is what is asked about, and all of it is here."""
    if call is None or call.malformed or not can_be_changed(request):
        return False
    if not all(isinstance(a, Write | Delete | Execute | McpCall | ChangeMany | SpawnAgent)
               for a in request.actions):  # fmt: skip
        return False  # what is only looked at beforehand
    return MASK not in msgspec.json.encode(call.arguments).decode()


def by_command(call: ToolCall) -> bool:
    """Whether a call is edited as a command: it has one, with nothing in it that hides itself."""
    command = call.arguments.get("command")
    return isinstance(command, str) and safe(command) == command


def edited_text(call: ToolCall) -> str:
    """What the user edits: the command, or all arguments as JSON."""
    if by_command(call):
        return str(call.arguments["command"])
    return safe_json(msgspec.json.format(msgspec.json.encode(call.arguments), indent=2).decode())


def edited_arguments(call: ToolCall, text: str) -> dict[str, object] | str:
    """The arguments as the user left them, or what is wrong with them."""
    if by_command(call):
        return {**call.arguments, "command": text} if text.strip() else "The command is empty."
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        return f"That is not a JSON object: {validation.in_words(error)}"
