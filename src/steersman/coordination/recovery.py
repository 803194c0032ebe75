"""What must be said about a session that was cut off: pure, from the messages it left behind."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from steersman.records.action import List, Read, Search, Verdict
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Assistant,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    JobEnd,
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
CUT_OFF = "the process ended unexpectedly"
COPIED = "the rest is in the thread that this one continues"


class Resumption(Struct, frozen=True):
    """A turn that waited for an answer when its process died, and can continue from there.

    `calls` have not begun; `asked` are the requests and questions without an answer, and those
    about such calls that a person `denied`, with what they said.
    """

    turn: int
    began: int
    calls: tuple[Message, ...]
    asked: tuple[Message, ...]
    denied: dict[str | None, ConfirmResponse] = {}


def resumption(messages: Iterable[Message], root: str) -> Resumption | None:
    """How the last turn of a session that was cut off can continue; None when it cannot.

    It can when something waits for an answer. Calls that may have had an effect are closed, those
    that had not begun are carried out. Only the agent at `root` can continue; one that works for
    another cannot.
    """
    turn = OpenTurn()
    for message in messages:
        turn.observe(message)
    calls = turn.calls.values()
    own = all(message.path.startswith(f"{root}/operations/") for message in calls)
    if turn.start is None or not turn.asked or turn.agents or not own:
        return None
    begun = turn.begun.calls
    left = tuple(call for call in calls if call.corr not in begun)
    asked = tuple(one for one in turn.asked.values() if _call_of(one) not in begun)
    if not asked:
        return None
    of = {call.corr for call in left}
    nos = {corr: no for corr, no in turn.denied.items() if _call_of(no[0]) in of}
    asked = (*asked, *(request for request, _ in nos.values()))
    denied = {corr: response for corr, (_, response) in nos.items()}
    return Resumption(turn.start.turn, turn.start.seq, left, asked, denied)


class OpenTurn:
    """What is open in a turn: its calls, the requests without an answer, agents at work."""

    def __init__(self) -> None:
        self.start: Message | None = None
        self.calls: dict[str | None, Message] = {}
        self.asked: dict[str | None, Message] = {}
        self.denied: dict[str | None, tuple[Message, ConfirmResponse]] = {}
        self.agents = 0
        self.begun = Begun()

    def observe(self, message: Message) -> None:
        """Take in a message."""
        self.begun.observe(message)
        match message.body:
            case TurnStart():
                self.start, self.calls, self.asked, self.denied = message, {}, {}, {}
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
            case ConfirmResponse() | Answer() as said:
                request = self.asked.pop(message.corr, None)
                if request and isinstance(said, ConfirmResponse) and said.decision == "deny":
                    self.denied[message.corr] = request, said


def _call_of(message: Message) -> str | None:
    return getattr(message.body, "call", None) or None


CLOSED_BY = {
    "session_start": "session_end",
    "turn_start": "turn_end",
    "tool_call": "tool_result",
    "agent_spawn": "agent_done",
}


def closing(
    messages: Iterable[Message], kept: Resumption | None = None, *, copied: bool = False
) -> list[Draft]:
    """The messages that close a session: its open calls, agents, turn, and itself.

    `messages` are those of the session in order. Nothing is returned for a session that ended.
    What is `kept` stays open: it continues in the next session. A session that was only `copied`
    from another thread was not cut off there.
    """
    stays: set[tuple[str, str | None]] = set()
    if kept is not None:
        stays = {("turn_end", None), *(("tool_result", call.corr) for call in kept.calls)}
    left: dict[tuple[str, str | None], Message] = {}
    begun = Begun()
    steps = Counter[int]()  # of the turns, by their numbers
    for message in messages:
        steps[message.turn] += isinstance(message.body, Assistant) and message.path.count("/") == 1
        if message.kind in CLOSED_BY:
            left[CLOSED_BY[message.kind], message.corr] = message
        left.pop((message.kind, message.corr), None)
        begun.observe(message)
    # Calls and agents were opened after their turn, and that after its session.
    why = COPIED if copied else CUT_OFF
    return [
        Draft(
            _last_word(opened, begun, why, steps[opened.turn]),
            opened.path,
            opened.turn,
            opened.corr,
        )
        for key, opened in reversed(left.items())
        if key not in stays
    ]


def jobs_ended(messages: Iterable[Message], *, copied: bool = False) -> list[Draft]:
    """The ends of background jobs of a session that was cut off: none outlives its process.

    Those of a session that was only `copied` from another thread are there.
    """
    commands: dict[str | None, str] = {}
    left: dict[str | None, Draft] = {}
    for message in messages:
        match message.body:
            case ToolCall(arguments={"command": str(command)}):
                commands[message.corr] = command
            case ToolResult(output={"background_process_id": str(name)}):
                end = JobEnd(name, commands.get(message.corr, ""), lost=not copied, copied=copied)
                left[message.corr] = Draft(end, message.path, message.turn, message.corr)
            case JobEnd():
                left.pop(message.corr, None)
    return list(left.values())


class Begun:
    """Which calls the gate let go ahead, and so may have had an effect; never fewer than before.

    The verdicts on one plan are stored together, at one time: only if all of them allow it, it goes
    ahead. What is asked about later, such as what a command changed, does not make it undone;
    only what was looked at for a plan is no effect.
    """

    def __init__(self) -> None:
        self._gone_ahead: set[str | None] = set()
        self._plans: dict[str | None, tuple[datetime, bool, bool]] = {}
        self._asked: dict[str | None, str] = {}
        self._early: set[str | None] = set()  # allowed before their turn had come

    @property
    def calls(self) -> set[str | None]:
        """The calls that may have had an effect."""
        return self._gone_ahead | {call for call, (_, _, all_) in self._plans.items() if all_}

    def observe(self, message: Message) -> None:
        """Take in a verdict, a request or an answer."""
        match message.body:
            case Policy(action=action, verdict=Verdict(decision=decision)):
                effect = not isinstance(action, Read | List | Search)
                self._judged(message, effect, decision == "allow")
            case ConfirmRequest(call=call):
                self._asked[message.corr] = call
            case ConfirmResponse(decision="allow"):
                asked = self._asked.get(message.corr)
                (self._gone_ahead if asked in self._plans else self._early).add(asked)
            case _:
                pass

    def _judged(self, message: Message, effect: bool, allowed: bool) -> None:
        if message.corr in self._early:
            self._gone_ahead.add(message.corr)
        time, before, all_ = self._plans.get(message.corr, (message.time, False, True))
        if time != message.time:
            if before and all_:
                self._gone_ahead.add(message.corr)
            before, all_ = False, True
        self._plans[message.corr] = (message.time, before or effect, all_ and allowed)


def _last_word(opened: Message, begun: Begun, why: str, steps: int) -> Body:
    match opened.body:
        case ToolCall(tool=tool):
            text = UNKNOWN if opened.corr in begun.calls else NOT_BEGUN
            return ToolResult(tool, "interrupted", message=text)
        case AgentSpawn(agent=agent, lane=lane):
            return AgentDone(agent, lane, "interrupted")
        case TurnStart():
            return TurnEnd("interrupted", steps, why if why == COPIED else "")
        case _:
            return SessionEnd("interrupted", reason=why)
