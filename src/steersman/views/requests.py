"""A request for permission as every port shows it: what is wanted, by whom, and the answers there
are. Pure; how its lines look is a port's own."""

import re

import msgspec
from msgspec import Struct

from steersman.records import validation
from steersman.records.action import (
    ChangeMany,
    Delete,
    Execute,
    McpCall,
    Network,
    Setting,
    SpawnAgent,
    Write,
)
from steersman.records.counting import counted
from steersman.records.hunks import parts_of
from steersman.records.message import (
    MASK,
    ConfirmRequest,
    ConfirmResponse,
    Lasting,
    Scope,
    ToolCall,
)
from steersman.records.wording import APPROVAL, requested
from steersman.views.blocks import Asked, Request
from steersman.views.text import flat, safe, safe_json

ROOT = "steersman"


class Offered(Struct, frozen=True):
    """An answer as a line of a list, its key, and all that it covers where the line is shorter."""

    key: str
    words: str
    covers: str = ""
    lasts: bool = False


def title(request: ConfirmRequest) -> str:
    """What is wanted, in a few words."""
    return flat(requested(request.actions, request.facts))


def wish(block: Request) -> str:
    """Who wants what, as a sentence."""
    return f"{who(block.request, asker(block))} {title(block.request)}"


def headline(block: Request) -> str:
    """The same above what is wanted: a command that stands below it is not said twice."""
    request = block.request
    told = flat(requested(request.actions, request.facts, "this command"))
    return f"{who(request, asker(block))} {told}"


# What a verdict says of something to be asked about, and a headline as well.
_SAID = re.compile(
    r"a change of a file|a change elsewhere \([^()]*\)( outside the sandbox)?"
    r"|a command outside the sandbox|a connection to \S+|reading a page of \S+"
    r"|letting package managers reach the registries that this project names \([^()]*\)"
    r"|\S+ of the MCP server \S+, which may change things,"
    r"|(deleting|discarding) (un\w+ work in )?[\d,]+ (\w+ )?files?( and \d[\d,]* files?)?"
    r"( with uncommitted changes)? \(.*\)"
)


def why(request: ConfirmRequest) -> str:
    """Why it is asked, as far as its headline does not say it."""
    what, _, more = flat(request.reason).partition(APPROVAL)
    return more.lstrip(":; ") if _SAID.fullmatch(what) else flat(request.reason)


def who(request: ConfirmRequest, name: str = "") -> str:
    """Whose wish it is: `name` is that of an agent that works for another."""
    return "You want to" if request.own else f"{name or 'The agent'} wants to"


def asker(block: Request | Asked) -> str:
    """Whose request it is; empty for the one that the user talks to."""
    return flat(block.lane.removeprefix(ROOT).strip("/"))


def can_be_changed(request: ConfirmRequest) -> bool:
    """Whether the call itself is asked about, and not what it turned out to do."""
    return not request.whole and not any(
        isinstance(action, Network) or getattr(action, "origin", "tool") != "tool"
        for action in request.actions
    )


_LETTERS: dict[tuple[str, Scope], str] = {
    ("same", "turn"): "u", ("edits", "turn"): "u", ("same", "thread"): "t", ("same", "here"): "A",
    ("edits", "thread"): "w", ("edits", "here"): "W",
}  # fmt: skip
_LASTS = {
    "u": "this and the like in this turn", "t": "in this thread", "A": "always here",
    "w": "all edits in this thread", "W": "all edits here",
}  # fmt: skip
_HOLD = {"turn": "in this turn", "thread": "in this thread", "here": "always here"}


def lasting_keys(request: ConfirmRequest) -> dict[str, tuple[str, Scope, str]]:
    """The keys for answers that hold longer: which answer, for how long, and the words for it."""
    keys: dict[str, tuple[str, Scope, str]] = {}
    for lasting in request.lasting:
        for scope in lasting.scopes:
            key = _LETTERS.get((lasting.name, scope))
            if key:
                keys[key] = (lasting.name, scope, _LASTS[key])
    return {key: keys[key] for key in _LASTS if key in keys}


def keys_of(request: ConfirmRequest, lasting: Lasting) -> list[str]:
    """The keys of one answer that holds longer."""
    return [key for key, (name, _, _) in lasting_keys(request).items() if name == lasting.name]


def allowed_by(request: ConfirmRequest, key: str) -> str:
    """What a key that holds longer approves, and for how long, in a sentence without its end."""
    name, scope, _ = lasting_keys(request)[key]
    told = next("; ".join(map(flat, one.sentences)) for one in request.lasting if one.name == name)
    return f"approve {told}, {_HOLD[scope]}"


def of_host(request: ConfirmRequest) -> bool:
    """Whether it is about a host, which can be denied in a thread as well."""
    return any(isinstance(action, Network) for action in request.actions)


def plain(request: ConfirmRequest) -> str:
    """What a plain yes covers, where its words do not say it; empty where they do."""
    hosts = [one for one in request.actions if isinstance(one, Network)]
    if hosts:
        named = " and ".join(f"{flat(one.host)}:{one.port}" for one in hosts)
        if hosts[0].registries:
            return "allows connections to these hosts in this thread"
        return f"allows the connections of this call to {named}"
    if any(isinstance(one, Execute) and one.again for one in request.actions):
        return "allows it for this one run"
    return ""


ANSWERS = "yutAwWndYNgeDo123456789"  # every key that is an answer to something


def not_offered(request: ConfirmRequest | None, key: str) -> str:
    """Why a key that answers other requests does nothing here; None is a question."""
    if request is None:
        return f"“{key}” is not one of the answers here."
    lasts = _LASTS.get(key)
    if lasts and request.only_once and not request.lasting:
        return f"“{key}” ({lasts}) is not possible here: {flat(request.only_once)}."
    if key in "YN":
        return f"“{key}” answers several requests at once, and this is the only one."
    told = f" ({lasts})" if lasts else ""
    return f"“{key}”{told} is not one of the answers here."


def offered(request: ConfirmRequest, count: int = 1) -> list[Offered]:
    """The answers in the order they always have: yes, for longer, no; each says how long it holds.

    `count` is how many requests an answer to all would answer.
    """
    again = any(isinstance(one, Execute) and one.again for one in request.actions)
    installs = any(isinstance(one, Network) and one.registries for one in request.actions)
    once = "Yes, in this thread" if installs else "Yes, this once"
    made = [Offered("y", "Yes, and run it again" if again else once)]
    for key, (name, scope, _) in lasting_keys(request).items():
        if installs and scope == "thread":
            continue  # that is a plain yes
        words = f"Yes, and {_what(request, name)}, {_HOLD[scope]}"
        made.append(Offered(key, words, allowed_by(request, key), True))
    if count > 1:
        made.append(Offered("Y", f"Yes to all {count}", f"approve all {count}", True))
    made.append(Offered("n", "No"))
    if of_host(request):
        made.append(Offered("d", "No, and not again in this thread"))
    if count > 1:
        made.append(Offered("N", f"No to all {count}"))
    return [*made, Offered("g", "No, and say what to do instead")]


def _what(request: ConfirmRequest, name: str) -> str:
    """What an answer that holds longer allows, in the words of a list."""
    if name == "edits":
        return "all edits"
    return next("; ".join(map(flat, one.sentences)) for one in request.lasting if one.name == name)


def others(request: ConfirmRequest, call: ToolCall | None, *, hunks: bool) -> list[tuple[str, str]]:
    """The keys that are no answers yet, where they work."""
    made = [("e", "edit")] if editable(request, call) else []
    if any(isinstance(action, Write | Delete) for action in request.actions):
        made.append(("D", "choose hunks" if hunks else "whole diff"))
    return made


def made_of(request: ConfirmRequest, answer: ConfirmResponse) -> str:
    """What the user made of a call before it ran; empty when it runs as it was asked."""
    if answer.decision != "allow":
        return ""
    if answer.arguments is not None:
        return "changed before it ran"
    changes = [one for one in request.actions if isinstance(one, Write | Delete)]
    asked = sum(parts_of(one.diff) for one in changes)
    kept = sum(len(set(one.numbers)) for one in answer.hunks or ())
    if answer.hunks is None or kept == asked:
        return ""
    return f"{kept} of {counted(asked, 'hunk')} accepted"


def editable(request: ConfirmRequest, call: ToolCall | None) -> bool:
    """Whether the user can change the call: it is what is asked about, and all of it is here."""
    if call is None or call.malformed or not can_be_changed(request):
        return False
    kinds = Write | Delete | Execute | McpCall | ChangeMany | SpawnAgent | Setting
    if not all(isinstance(one, kinds) for one in request.actions):
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
