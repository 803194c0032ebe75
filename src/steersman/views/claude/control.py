"""What is said both ways over `--input-format stream-json`: prompts, requests and answers. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from steersman.records.action import Execute, Network
from steersman.records.dialogue import Image
from steersman.records.errors import UsageProblem
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Question,
    Scope,
    ToolCall,
)
from steersman.records.tool_names import inward, outward
from steersman.views.requests import can_be_changed, title

Line = dict[str, Any]
DEEPEST = 100  # levels of what comes in
_DEEP = f"It is nested more than {DEEPEST} levels deep."
# How long an answer holds that goes where Claude Code would keep a rule; never longer than offered.
_KEPT: Mapping[str, Scope] = {
    "session": "thread", "localSettings": "here", "projectSettings": "here", "userSettings": "here",
}  # fmt: skip


def object_of(line: bytes) -> Line:
    """A line of the input; raises UsageProblem when it is not an object or is nested too deep."""
    what = "A line of the input is not a JSON object."
    try:
        made: Line = msgspec.json.decode(line, type=dict[str, Any])
    except UnicodeDecodeError as error:
        raise UsageProblem(what, "It is not text in UTF-8.") from error
    except RecursionError as error:
        raise UsageProblem(what, _DEEP) from error
    except msgspec.DecodeError as error:
        raise UsageProblem(what, "Each line is one object.") from error
    level: list[Any] = [made]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
    if level:
        raise UsageProblem(what, _DEEP)
    return made


def _inside(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
    return ()


def prompt_of(line: Mapping[str, Any]) -> tuple[str, tuple[Image, ...]]:
    """The words and pictures of a `user` line."""
    match line.get("message"):
        case {"content": str(text)}:
            return text, ()
        case {"content": list(blocks)}:
            texts = [b["text"] for b in blocks if _has(b, "text")]
            sources = [b["source"] for b in blocks if isinstance(b, dict) and "source" in b]
            images = tuple(
                Image(str(source["media_type"]), str(source["data"]))
                for source in sources
                if isinstance(source, dict) and {"media_type", "data"} <= source.keys()
            )
            return "\n".join(texts), images
    raise UsageProblem("A line of the input has no message.", "A `user` line needs one.")


def _has(block: object, name: str) -> bool:
    return isinstance(block, dict) and isinstance(block.get(name), str)


def may_use(corr: str, request: ConfirmRequest, call: ToolCall | None, root: str) -> Line:
    """The question whether a tool may be used, as a program that answers for a person gets it."""
    name, shown = _asked_about(request, call, root)
    asked: Line = {
        "subtype": "can_use_tool",
        "tool_name": name,
        "input": shown,
        "tool_use_id": request.call,
        "permission_suggestions": _suggestions(name, request),
        "title": title(request),
        "description": request.reason,
        "decision_reason": request.reason,
    }
    return {"type": "control_request", "request_id": corr, "request": asked}


def may_ask(corr: str, question: Question, call: ToolCall, root: str) -> Line:
    """All questions of a call, as a program gets them that answers for a person."""
    name, shown = outward(call.tool, call.arguments, root)
    asked: Line = {
        "subtype": "can_use_tool",
        "tool_name": name,
        "input": shown,
        "tool_use_id": question.call,
    }
    return {"type": "control_request", "request_id": corr, "request": asked}


def reply_of(response: Mapping[str, Any], question: Question) -> Answer:
    """What a program answered to one of the questions; all but an answer declines it."""
    match response:
        case {"behavior": "allow", "updatedInput": {"answers": {question.text: said}}} if said:
            return Answer(", ".join(map(str, said)) if isinstance(said, list) else str(said))
        case {"behavior": "deny", "message": str(why)}:
            return Answer(why, by="declined")
    return Answer("", by="declined")


def _asked_about(request: ConfirmRequest, call: ToolCall | None, root: str) -> tuple[str, Line]:
    """The tool and its input; what a call turned out to need has a name of its own.

    Whoever allows a command has not allowed a host, a file outside, or what the command destroyed.
    """
    tool, given = (call.tool, call.arguments) if call else (request.tool, {})
    name, shown = outward(tool, given, root)
    for action in request.actions:
        match action:
            case Network(url=url) if url:
                return name, shown
            case Network(host=host, port=port, registries=named):
                return "NetworkAccess", {"hosts": list(named) or [f"{host}:{port}"], **shown}
            case Execute(wants=True):
                wants = {"writes": list(action.writes), "reaches": list(action.reaches),
                         "online": action.online, "outside": action.outside}  # fmt: skip
                more = {key: value for key, value in wants.items() if value}
                return "LeaveSandbox", {**shown, **more}
    if can_be_changed(request):
        return name, shown
    return "KeepEffects", {"effects": title(request), **shown}


def _suggestions(name: str, request: ConfirmRequest) -> list[Line]:
    """The answers that hold longer; which rule they make is the host's own."""
    scopes = {scope for one in request.lasting for scope in one.scopes if one.name == "same"}
    places = {"thread": "session", "here": "localSettings"}
    return [
        {
            "type": "addRules",
            "rules": [{"toolName": name}],
            "behavior": "allow",
            "destination": place,
        }
        for scope, place in places.items()
        if scope in scopes
    ]


def answer_of(
    response: Mapping[str, Any], request: ConfirmRequest, call: ToolCall | None, root: str
) -> ConfirmResponse:
    """What a program answered to `may_use`; all but a clear yes is a no."""
    if response.get("behavior") != "allow":
        return ConfirmResponse("deny", str(response.get("message") or ""))
    changed, given = None, response.get("updatedInput")
    name, shown = _asked_about(request, call, root)
    if isinstance(given, dict) and given != shown:
        if call is None or name not in (call.tool, outward(call.tool, call.arguments, root)[0]):
            return ConfirmResponse("deny", "The input of this call can no longer be changed.")
        changed = inward(call.tool, call.arguments, given, root)
    scope = _scope(response.get("updatedPermissions"), name, request)
    return ConfirmResponse("allow", scope=scope, arguments=changed)


def _scope(updates: object, name: str, request: ConfirmRequest) -> Scope:
    """How long an answer holds: as long as a rule does that was suggested with the question."""
    offered = {scope for one in request.lasting for scope in one.scopes if one.name == "same"}
    for one in updates if isinstance(updates, list) else []:
        match one:
            case {
                "type": "addRules",
                "behavior": "allow",
                "destination": str(place),
                "rules": [{"toolName": tool, **rest}],
            } if tool == name and not any(rest.values()) and _KEPT.get(place) in offered:
                return _KEPT[place]
    return "once"


def succeeded(request_id: str, response: Mapping[str, Any]) -> Line:
    """The answer to a control request."""
    return _response(request_id, {"subtype": "success", "response": dict(response)})


def refused(request_id: str, why: str) -> Line:
    """The answer to a control request that cannot be carried out."""
    return _response(request_id, {"subtype": "error", "error": why})


def _response(request_id: str, response: Line) -> Line:
    return {"type": "control_response", "response": {**response, "request_id": request_id}}
