"""Messages of a thread as lines of `--output-format json` and `stream-json`. Pure."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from steersman import __version__
from steersman.records.in_context import typed
from steersman.records.message import (
    Assistant,
    AssistantDelta,
    Body,
    Compaction,
    ConfirmRequest,
    ConfirmResponse,
    Error,
    Message,
    ReasoningDelta,
    SessionStart,
    SettingsChanged,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageReport,
    User,
)
from steersman.records.tool_names import outward
from steersman.records.transcript import SHAPE, result_text
from steersman.views.claude.modes import Answering, mode_name

Line = dict[str, Any]
MAIN = 1  # slashes in the lane of the one that the user talks to
ERRORS = {
    "needs_answer": "error_during_execution",
    "cancelled": "error_during_execution",
    "interrupted": "error_during_execution",
    "blocked": "error_during_execution",
}
REASONS = {"done": "completed", "cancelled": "aborted", "limit": "max_turns", "failed": "api_error"}


class Spent:
    """What a turn used."""

    def __init__(self) -> None:
        self.tokens = {
            "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": 0,
        }  # fmt: skip
        self.cost = 0.0
        self.ms = 0

    def add(self, used: UsageReport) -> None:
        """Count one request to a model."""
        self.tokens["input_tokens"] += used.input - used.cached
        self.tokens["cache_read_input_tokens"] += used.cached
        self.tokens["output_tokens"] += used.output
        self.cost += used.cost
        self.ms += used.ms

    def of_model(self) -> Line:
        """The same as an entry of `modelUsage`, which has its own names."""
        names = "inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens"
        return dict(zip(names, self.tokens.values(), strict=True)) | {"costUSD": self.cost}


class Lines:
    """Feed it every message in order; each gives the lines it comes to.

    `partial`: also what is on its way. `replay`: also the words of the user. `tools` are the names
    of the tools there are, as the first line lists them. `answers` is what becomes of questions.
    """

    answers: Answering = "ask"

    def __init__(
        self,
        thread: str,
        root: str,
        *,
        tools: tuple[str, ...] = (),
        partial: bool = False,
        replay: bool = False,
    ) -> None:
        self._thread = thread
        self._root = root
        self._tools = list(dict.fromkeys(outward(name, {}, root)[0] for name in tools))
        self._partial = partial
        self._replay = replay
        self._settings: dict[str, str] = {}
        self._calls: dict[str | None, ToolCall] = {}
        self._asked: dict[str | None, str] = {}  # the calls that requests are about
        self._denied: list[Line] = []
        self._began: Message | None = None
        self._spent = Spent()
        self._by_model: dict[str, Spent] = {}
        self._words = ""
        self._problem = ""
        self._count = 0
        self._response = 0  # the message that began the model's last response
        self._of_response = Spent()
        self._held: list[Line] = []  # of an answer, until the message with what it used

    def feed(self, message: Message) -> list[Line]:
        """The lines of a message; none for what Claude Code says nothing of."""
        taker = _TAKERS.get(type(message.body))
        held: list[Line] = []
        if message.seq and not isinstance(message.body, UsageReport):
            held, self._held = self._held, []  # an answer that was cut off has none
        return held + (taker(self, message, message.body) if taker else [])

    def call(self, corr: str | None) -> ToolCall | None:
        """A call that was seen, as answers have changed it."""
        return self._calls.get(corr)

    # What each kind comes to

    def _session(self, _: Message, body: SessionStart) -> list[Line]:
        self._settings |= {"model": body.model}
        return []

    def _set(self, _: Message, body: SettingsChanged) -> list[Line]:
        self._settings |= {
            name: value for name in ("mode", "model", "approvals") if (value := getattr(body, name))
        }
        return []

    def _begin(self, message: Message, body: TurnStart) -> list[Line]:
        self._set(message, SettingsChanged(body.mode, body.model, approvals=body.approvals))
        self._began, self._spent, self._words, self._problem = message, Spent(), "", ""
        self._denied, self._by_model = [], {}
        return [
            self._line(message, "system", subtype="init")
            | {
                "cwd": self._root,
                "tools": self._tools,
                "mcp_servers": [],
                "model": self._settings.get("model", ""),
                "permissionMode": mode_name(self._settings, self.answers),
                "slash_commands": [],
                "apiKeySource": "none",
                "claude_code_version": SHAPE,
                "steersman_version": __version__,
                "output_style": "default",
                "agents": [],
                "skills": [],
            }
        ]

    def _user(self, message: Message, body: User) -> list[Line]:
        if not self._replay:
            return []
        content = [{"type": "text", "text": typed(body.text)}]
        return [self._line(message, "user", message={"role": "user", "content": content})]

    def _answer(self, message: Message, body: Assistant) -> list[Line]:
        self._response, self._of_response = message.seq, Spent()
        blocks: list[Line] = []
        if body.reasoning:
            blocks.append({"type": "thinking", "thinking": body.reasoning, "signature": ""})
        if body.text:
            blocks.append({"type": "text", "text": body.text})
            if _main(message):
                self._words = body.text
        self._held = [self._said(message, block) for block in blocks]
        return []

    def _use(self, message: Message, body: ToolCall) -> list[Line]:
        self._calls[message.corr] = body
        name, given = outward(body.tool, body.arguments, self._root)
        block = {"type": "tool_use", "id": message.corr, "name": name, "input": given}
        return [self._said(message, block)]

    def _ask(self, message: Message, body: ConfirmRequest) -> list[Line]:
        self._asked[message.corr] = body.call
        return []

    def _decided(self, message: Message, body: ConfirmResponse) -> list[Line]:
        corr = self._asked.pop(message.corr, None)
        if body.arguments is not None and corr in self._calls:
            self._calls[corr] = replace(self._calls[corr], arguments=body.arguments)
        if body.decision == "deny":
            self._deny(corr)
        return []

    def _result(self, message: Message, body: ToolResult) -> list[Line]:
        if body.status == "denied":
            self._deny(message.corr)
        told = result_text(body)
        block: Line = {"type": "tool_result", "tool_use_id": message.corr, "content": told}
        if body.status != "ok":
            block["is_error"] = True
        line = self._line(message, "user", message={"role": "user", "content": [block]})
        return [line | {"parent_tool_use_id": None, "tool_use_result": body.output or told}]

    def _deny(self, corr: str | None) -> None:
        """List a call that was denied, or to which something was: a host, for one."""
        asked = self.call(corr)
        if asked is None or any(one["tool_use_id"] == corr for one in self._denied):
            return
        name, given = outward(asked.tool, asked.arguments, self._root)
        self._denied.append({"tool_name": name, "tool_use_id": corr, "tool_input": given})

    def _piece(self, message: Message, body: AssistantDelta | ReasoningDelta) -> list[Line]:
        if not self._partial:
            return []
        thinks = isinstance(body, ReasoningDelta)
        delta = {"type": "thinking_delta", "thinking": body.text} if thinks else {
            "type": "text_delta", "text": body.text,
        }  # fmt: skip
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        return [self._line(message, "stream_event", event=event) | {"parent_tool_use_id": None}]

    def _used(self, _: Message, body: UsageReport) -> list[Line]:
        self._spent.add(body)
        self._by_model.setdefault(body.model, Spent()).add(body)
        if body.aside:
            return []
        self._of_response.add(body)
        held, self._held = self._held, []
        for line in held:
            line["message"]["usage"] = dict(self._of_response.tokens)
        return held

    def _compacted(self, message: Message, body: Compaction) -> list[Line]:
        trigger = "manual" if body.cause == "user" else "auto"
        about = {"trigger": trigger, "pre_tokens": body.tokens_before}
        boundary = self._line(message, "system", subtype="compact_boundary")
        return [] if body.undone else [boundary | {"compact_metadata": about}]

    def _failed(self, message: Message, body: Error) -> list[Line]:
        if body.retry_in is None:
            self._problem = " ".join(part for part in (body.what, body.why) if part)
            return []
        retry = self._line(message, "system", subtype="api_retry")
        return [retry | {"retry_delay_ms": int(body.retry_in * 1000), "error": body.what}]

    def _end(self, message: Message, body: TurnEnd) -> list[Line]:
        began = self._began.time if self._began else message.time
        failed = body.ending != "done"
        told = self._words if not failed else self._problem or body.reason or self._words
        line = self._line(message, "result", subtype=_subtype(body)) | {
            "is_error": failed,
            "duration_ms": int((message.time - began).total_seconds() * 1000),
            "duration_api_ms": self._spent.ms,
            "num_turns": body.steps,
            "result": told,
            "stop_reason": None if failed else "end_turn",
            "total_cost_usd": self._spent.cost,
            "usage": dict(self._spent.tokens),
            "modelUsage": {model: spent.of_model() for model, spent in self._by_model.items()},
            "permission_denials": self._denied,
            "terminal_reason": REASONS.get(body.ending, body.ending),
            "errors": [told] if failed and told else [],
        }
        return [line]

    # What lines have in common

    def _said(self, message: Message, block: Line) -> Line:
        content = {
            "id": f"msg_{message.thread}_{self._response}", "type": "message", "role": "assistant",
            "model": self._settings.get("model", ""), "content": [block], "stop_reason": None,
            "stop_sequence": None, "usage": dict(self._of_response.tokens),
        }  # fmt: skip
        line = self._line(message, "assistant", message=content)
        return line | {"parent_tool_use_id": None}

    def _line(self, about: Message, kind: str, **more: Any) -> Line:
        self._count += 1
        name = f"steersman:{self._thread}:{about.seq}:{self._count}"
        same = {"session_id": self._thread, "uuid": str(uuid5(NAMESPACE_URL, name))}
        return {"type": kind, **more, **same}


def _subtype(end: TurnEnd) -> str:
    if end.ending != "limit":
        return ERRORS.get(end.ending, "success")
    spent = {"step": "error_max_turns", "$": "error_max_budget_usd"}
    return next((kind for sign, kind in spent.items() if sign in end.reason), ERRORS["blocked"])


def _main(message: Message) -> bool:
    return message.path.count("/") <= MAIN


_TAKERS: Mapping[type[Body], Callable[[Lines, Message, Any], list[Line]]] = {
    SessionStart: Lines._session, SettingsChanged: Lines._set, TurnStart: Lines._begin,
    User: Lines._user, Assistant: Lines._answer, ToolCall: Lines._use, ToolResult: Lines._result,
    ConfirmRequest: Lines._ask, ConfirmResponse: Lines._decided,
    AssistantDelta: Lines._piece, ReasoningDelta: Lines._piece, UsageReport: Lines._used,
    Compaction: Lines._compacted, Error: Lines._failed, TurnEnd: Lines._end,
}  # fmt: skip
