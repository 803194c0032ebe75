"""Tools, results and permissions in the protocol's words. Pure."""

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from steersman.ports.cli.views import request_words
from steersman.ports.mcp.offer import Ended, OfferedTool
from steersman.records.dialogue import ToolSpec
from steersman.records.escapes import uncoloured
from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolResult

ONCE = "allow once"
WHILE = "allow while this server runs"
NO = "deny"
HOW_TO_ALLOW = (
    "This client cannot be asked: it does not support elicitation. Allow it in advance with a rule "
    "(`steer policy explain` shows which), or start the server with --yes."
)
_HINTS: dict[str, dict[str, bool]] = {
    "read": {"readOnlyHint": True, "openWorldHint": False},
    "edit": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    "run": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    "agents": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}


def offered(spec: ToolSpec) -> OfferedTool:
    """A tool for a client. What is not known to only read is not said to."""
    return OfferedTool(
        name=spec.name,
        description=spec.description,
        parameters={**spec.parameters, "type": "object"},
        hints=_HINTS.get(spec.family, {}),
    )


def ended(result: ToolResult) -> Ended:
    """What came of a call."""
    if result.status != "ok":
        return failure(result.message or f"{result.tool} did not end: {result.status}.")
    output = uncoloured(result.output)
    blocks = [text_block(output if isinstance(output, str) else as_json(output))]
    if result.note:
        blocks.append(text_block(result.note))
    return Ended(blocks, output if isinstance(output, dict) else {"result": output})


def failure(sentence: str) -> Ended:
    """A call that went wrong: the sentence goes to whoever called."""
    return Ended([text_block(sentence)], failed=True)


def text_block(text: str) -> dict[str, Any]:
    """Text as the protocol writes it."""
    return {"type": "text", "text": text}


def as_json(value: Any) -> str:
    """A record as text that a person can read too."""
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def permission_form(request: ConfirmRequest) -> dict[str, Any]:
    """The elicitation for a permission.

    Nothing is chosen beforehand, so that a client which fills in what is missing allows nothing.
    An answer that outlives the server is not offered: those are given where they are shown in full.
    """
    choices = [ONCE, WHILE, NO] if _lasting(request) else [ONCE, NO]
    answer = {
        "type": "string",
        "title": "Your answer",
        "description": "Whether to allow this.",
        "enum": choices,
    }
    instead = {
        "type": "string",
        "title": "Instead",
        "description": "If you deny it: what to do instead.",
    }
    return {
        "mode": "form",
        "message": click.unstyle(request_words(request)),
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": answer, "instead": instead},
            "required": ["answer"],
        },
    }


def permission(request: ConfirmRequest, given: Mapping[str, Any] | None) -> ConfirmResponse:
    """The answer to a permission; whatever is not clearly an approval is a no."""
    content = (given or {}).get("content")
    if given is None or given.get("action") != "accept" or not isinstance(content, Mapping):
        return ConfirmResponse("deny")
    lasting = _lasting(request)
    if content.get("answer") == ONCE:
        return ConfirmResponse("allow")
    if content.get("answer") == WHILE and lasting:
        return ConfirmResponse("allow", scope="thread", lasting=lasting)
    instead = content.get("instead")
    return ConfirmResponse("deny", instead if isinstance(instead, str) else "")


def _lasting(request: ConfirmRequest) -> str:
    """The name of the answer that holds in this thread for the same again, if there is one."""
    for lasting in request.lasting:
        if lasting.name == "same" and "thread" in lasting.scopes:
            return lasting.name
    return ""
