"""A conversation as the lines of a transcript of Claude Code, for hooks that read it. Pure."""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

import msgspec

from steersman.records.in_context import typed
from steersman.records.message import (
    Assistant,
    Compaction,
    Message,
    SettingsChanged,
    ToolCall,
    ToolResult,
    TurnStart,
    User,
)
from steersman.records.tool_names import outward

SHAPE = "2.1.0"  # the version of Claude Code whose lines these are
BODIES = (User, Assistant, ToolCall, ToolResult, Compaction, TurnStart, SettingsChanged)
KINDS = frozenset(body.kind for body in BODIES)


class Transcript:
    """Feed it messages in order; each gives the lines of it, every line naming the one before."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._model = ""
        self._last: str | None = None

    def feed(self, message: Message) -> list[bytes]:
        """The lines of a message, without their ends."""
        match message.body:
            case TurnStart(model=model) | SettingsChanged(model=model):
                self._model = model or self._model
            case User(text=text):
                return [self._line(message, "user", {"role": "user", "content": typed(text)})]
            case Assistant(text=text, reasoning=reasoning):
                thought = {"type": "thinking", "thinking": reasoning, "signature": ""}
                said = [thought] if reasoning else []
                said += [{"type": "text", "text": text}] if text else []
                return [self._said(message, said)] if said else []
            case ToolCall(tool=tool, arguments=arguments):
                name, given = outward(tool, arguments, self._root)
                use = {"type": "tool_use", "id": message.corr, "name": name, "input": given}
                return [self._said(message, [use])]
            case ToolResult() as result:
                return [self._result(message, result)]
            case Compaction(digest=digest, undone=False):
                summary = {"role": "user", "content": digest}
                return [self._line(message, "user", summary, isCompactSummary=True)]
        return []

    def _said(self, message: Message, content: list[dict[str, Any]]) -> bytes:
        name = f"msg_{message.thread}_{message.seq}"
        about = {"id": name, "type": "message", "role": "assistant", "model": self._model}
        ended: dict[str, Any] = {
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {},
        }
        return self._line(message, "assistant", about | ended)

    def _result(self, message: Message, result: ToolResult) -> bytes:
        told = result_text(result)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": message.corr}
        block |= {"content": told} | ({"is_error": True} if result.status != "ok" else {})
        content = {"role": "user", "content": [block]}
        return self._line(message, "user", content, toolUseResult=result.output or told)

    def _line(self, of: Message, kind: str, content: dict[str, Any], **more: Any) -> bytes:
        before, self._last = self._last, str(uuid5(NAMESPACE_URL, f"{of.thread}:{of.seq}"))
        line = {
            "parentUuid": before, "isSidechain": False, "userType": "external", "cwd": self._root,
            "sessionId": of.thread, "version": SHAPE, "gitBranch": "", "type": kind,
            "message": content, "uuid": self._last, "timestamp": of.time, **more,
        }  # fmt: skip
        return msgspec.json.encode(line)


def result_text(result: ToolResult) -> str:
    """What a call came to, as text: what a command printed, or the whole of it as JSON."""
    if result.status != "ok":
        return result.message
    match result.output:
        case str() as text:
            return text
        case {"output": str(printed), **rest} if not rest.get("exit_code"):
            note = rest.get("note")
            return f"{printed}\n({note})" if note else printed
    return msgspec.json.encode(result.output).decode()
