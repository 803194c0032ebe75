"""What must be said about a session that was cut off: pure, from the messages it left behind."""

from collections.abc import Iterable

from msgspec import Struct

from steersman.records.action import Verdict
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    Question,
    SessionEnd,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
)
from steersman.store.log import Draft

UNKNOWN = "interrupted: outcome unknown"
NOT_BEGUN = "interrupted: it had not begun"


class Resumption(Struct, frozen=True):
    """A turn that waited for an answer when its process died, and can go on from there.

    `calls` have not begun; `asked` are the requests and questions without an answer.
    """

    turn: int
    began: int
    calls: tuple[Message, ...]
    asked: tuple[Message, ...]


def resumption(messages: Iterable[Message], root: str) -> Resumption | None:
    """How the last turn of a session that was cut off can go on; None when it cannot.

    It can when something waits for an answer. Calls that may have had an effect are closed, those
    that had not begun are carried out. Only the agent at `root` can go on; one that works for
    another cannot.
    """
    turn = OpenTurn()
    for message in messages:
        turn.observe(message)
    calls = turn.calls.values()
    own = all(message.path.startswith(f"{root}/operations/") for message in calls)
    if turn.start is None or not turn.asked or turn.agents or not own:
        return None
    left = tuple(call for call in calls if call.corr not in turn.begun.calls)
    return Resumption(turn.start.turn, turn.start.seq, left, tuple(turn.asked.values()))


class OpenTurn:
    """What is open in a turn: its calls, the requests without an answer, agents at work."""

    def __init__(self) -> None:
        self.start: Message | None = None
        self.calls: dict[str | None, Message] = {}
        self.asked: dict[str | None, Message] = {}
        self.agents = 0
        self.begun = Begun()

    def observe(self, message: Message) -> None:
        """Take in a message."""
        self.begun.observe(message)
        match message.body:
            case TurnStart():
                self.start, self.calls, self.asked = message, {}, {}
            case TurnEnd():
                self.start = None
            case ToolCall():
                self.calls[message.corr] = message
            case ToolResult():
                self.calls.pop(message.corr, None)
            case AgentSpawn():
                self.agents += 1
            case AgentDone():
                self.agents -= 1
            case _:
                self._observe_asking(message)

    def _observe_asking(self, message: Message) -> None:
        match message.body:
            case ConfirmRequest(call=call):
                self.asked = {c: m for c, m in self.asked.items() if _call_of(m) != call}
                self.asked[message.corr] = message
            case Question():
                self.asked[message.corr] = message
            case ConfirmResponse() | Answer():
                self.asked.pop(message.corr, None)


def _call_of(message: Message) -> str | None:
    return message.body.call if isinstance(message.body, ConfirmRequest) else None


CLOSED_BY = {
    "session_start": "session_end",
    "turn_start": "turn_end",
    "tool_call": "tool_result",
    "agent_spawn": "agent_done",
}


def closing(messages: Iterable[Message], kept: Resumption | None = None) -> list[Draft]:
    """The messages that close a session: its open calls, agents, turn, and itself.

    `messages` are those of the session in order. Nothing is returned for a session that ended.
    What is `kept` stays open: it goes on in the next session.
    """
    stays: set[tuple[str, str | None]] = set()
    if kept is not None:
        stays = {("turn_end", None), *(("tool_result", call.corr) for call in kept.calls)}
    left: dict[tuple[str, str | None], Message] = {}
    begun = Begun()
    for message in messages:
        if message.kind in CLOSED_BY:
            left[CLOSED_BY[message.kind], message.corr] = message
        left.pop((message.kind, message.corr), None)
        begun.observe(message)
    # Calls and agents were opened after their turn, and that after its session.
    return [_close(opened, begun) for key, opened in reversed(left.items()) if key not in stays]


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
