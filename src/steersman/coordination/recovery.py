"""What must be said about a session that was cut off: pure, from the messages it left behind."""

from collections.abc import Iterable

from steersman.records.action import Verdict
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    SessionEnd,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from steersman.store.log import Draft

UNKNOWN = "interrupted: outcome unknown"
NOT_BEGUN = "interrupted: it had not begun"

CLOSED_BY = {
    "session_start": "session_end",
    "turn_start": "turn_end",
    "tool_call": "tool_result",
    "agent_spawn": "agent_done",
}


def closing(messages: Iterable[Message]) -> list[Draft]:
    """The messages that close a session: its open calls, agents, turn, and itself.

    `messages` are those of the session in order. Nothing is returned for a session that ended.
    """
    left: dict[tuple[str, str | None], Message] = {}
    begun = Begun()
    for message in messages:
        if message.kind in CLOSED_BY:
            left[CLOSED_BY[message.kind], message.corr] = message
        left.pop((message.kind, message.corr), None)
        begun.observe(message)
    # Calls and agents were opened after their turn, and that after its session.
    return [_close(opened, begun) for opened in reversed(left.values())]


class Begun:
    """Which calls the gate let go ahead, and so may have had an effect."""

    def __init__(self) -> None:
        self.calls: set[str | None] = set()
        self._barred: set[str | None] = set()
        self._asked: dict[str | None, str] = {}

    def observe(self, message: Message) -> None:
        """Take in a verdict, a request or an answer."""
        match message.body:
            case Policy(verdict=Verdict(decision="allow")):
                self.calls |= {message.corr} - self._barred
            case Policy():
                self._barred.add(message.corr)
                self.calls.discard(message.corr)
            case ConfirmRequest(call=call):
                self._asked[message.corr] = call
            case ConfirmResponse(decision="allow"):
                self.calls.add(self._asked.get(message.corr))
            case _:
                pass


def _close(opened: Message, begun: Begun) -> Draft:
    return Draft(_last_word(opened, begun), opened.path, opened.turn, opened.corr)


def _last_word(opened: Message, begun: Begun) -> Body:
    match opened.body:
        case ToolCall(tool=tool):
            text = UNKNOWN if opened.corr in begun.calls else NOT_BEGUN
            return ToolResult(tool, "interrupted", message=text)
        case AgentSpawn(agent=agent, lane=lane):
            return AgentDone(agent, lane, "interrupted")
        case TurnStart():
            return TurnEnd("interrupted")
        case _:
            return SessionEnd("interrupted", reason="the process ended without a word")
