"""What must hold after a round, whatever happened in it: pure, from the evidence it left.

Every rule gives sentences about what is wrong; none means that the round passed.
"""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from steersman.coordination.recovery import NOT_BEGUN, UNKNOWN, Begun
from steersman.records.message import (
    ConfirmResponse,
    Message,
    RequestReceipt,
    SettingsChanged,
    Steer,
    ToolResult,
    User,
)
from tests.faults.sender import Note

PAIRS = {"session_start": "session_end", "turn_start": "turn_end"}
CERTAIN = ("taken", "refused", "too_late", "expired")


class RequestRow(Struct, frozen=True):
    """A request as the store has it; `outcome` is empty while it waits."""

    id: str
    outcome: str
    logged: bool


class Written(Struct, frozen=True):
    """Who wrote some messages, by which right."""

    first: int
    last: int
    fence: int
    process: str


class Evidence(Struct, frozen=True):
    """What a round left behind; `restless` tells why it did not come to rest, if so."""

    messages: tuple[Message, ...]
    flaws: tuple[str, ...]
    requests: tuple[RequestRow, ...]
    written: tuple[Written, ...]
    notes: tuple[Note, ...]
    effects: tuple[str, ...]
    restless: str = ""


def violations(evidence: Evidence) -> list[str]:
    """Everything that is wrong."""
    rules = (_at_rest, _chain, _closed, _receipts, _promises, _words, _answers, _writers, _effects)
    return [what for rule in rules for what in rule(evidence)]


def _at_rest(evidence: Evidence) -> Iterator[str]:
    if evidence.restless:
        yield f"it did not come to rest: {evidence.restless}"


def _chain(evidence: Evidence) -> Iterator[str]:
    yield from (f"the chain is broken: {flaw}" for flaw in evidence.flaws)


def _closed(evidence: Evidence) -> Iterator[str]:
    kinds = Counter(message.kind for message in evidence.messages)
    for opened, closed in PAIRS.items():
        if kinds[opened] != kinds[closed]:
            yield f"{kinds[opened]} {opened}, but {kinds[closed]} {closed}"
    calls = Counter(m.corr for m in evidence.messages if m.kind == "tool_call")
    results = Counter(m.corr for m in evidence.messages if m.kind == "tool_result")
    for call in calls.keys() | results.keys():
        if (calls[call], results[call]) != (1, 1):
            yield f"call {call} was made {calls[call]} times and has {results[call]} results"


def _receipts(evidence: Evidence) -> Iterator[str]:
    """Every request has one receipt, or was given up by its sender."""
    found: dict[str, list[str]] = {}
    for message in evidence.messages:
        if isinstance(message.body, RequestReceipt):
            found.setdefault(message.corr or "", []).append(message.body.outcome)
    for request in evidence.requests:
        receipts = found.pop(request.id, [])
        if len(receipts) > 1:
            yield f"request {request.id} has {len(receipts)} receipts"
        elif request.logged != bool(receipts):
            yield f"request {request.id} counts as logged: {request.logged}, receipts: {receipts}"
        elif receipts and receipts != [request.outcome]:
            yield f"request {request.id} is {request.outcome}, its receipt says {receipts[0]}"
        elif not request.outcome:
            yield f"request {request.id} was never taken"
    yield from (f"receipt of an unknown request {corr}" for corr in found)


def _promises(evidence: Evidence) -> Iterator[str]:
    """What a sender posted is there, and what it heard is true."""
    rows = {request.id: request for request in evidence.requests}
    for note in evidence.notes:
        if note.request and note.request not in rows:
            yield f"request {note.request} ({note.verb}) is lost"
        elif note.request and note.heard in CERTAIN:
            outcome = rows[note.request].outcome
            if outcome != note.heard:
                yield f"the sender of {note.request} heard {note.heard}, but it is {outcome}"


def _words(evidence: Evidence) -> Iterator[str]:
    """Words stand in the log once if they were taken, and not at all if they were refused."""
    users = Counter(m.body.text for m in evidence.messages if isinstance(m.body, User))
    titles = Counter(m.body.title for m in evidence.messages if isinstance(m.body, SettingsChanged))
    admitted = _admitted(evidence)
    outcomes = {request.id: request.outcome for request in evidence.requests}
    for note in _latest(evidence.notes):
        outcome = outcomes.get(note.request, "")
        match note.verb:
            case "send":
                yield from _once("words", note, users[note.text], outcome)
            case "set":
                yield from _once("title", note, titles[note.text], outcome)
            case "steer" | "queue":
                yield from _once("words", note, len(admitted.get(note.text, [])), outcome)
                for states in admitted.get(note.text, []):
                    yield from _delivery(note.text, states, users[note.text])


def _latest(notes: tuple[Note, ...]) -> list[Note]:
    """The newest note about each deed: its text names it."""
    return list({note.text: note for note in notes}.values())


def _once(what: str, note: Note, times: int, outcome: str) -> Iterator[str]:
    if note.request:
        if times != (outcome == "taken"):
            yield f"the {what} of {note.request} ({note.verb}, {outcome}) are there {times} times"
    elif times > 1:
        yield f"the {what} {note.text} are there {times} times"


def _admitted(evidence: Evidence) -> dict[str, list[list[str]]]:
    """By their text: the states that words went through, each time they were taken in."""
    states: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for message in evidence.messages:
        if isinstance(message.body, Steer) and message.corr:
            states.setdefault(message.corr, []).append(message.body.state)
            if message.body.text:
                texts[message.corr] = message.body.text
    by_text: dict[str, list[list[str]]] = {}
    for corr, text in texts.items():
        by_text.setdefault(text, []).append(states[corr])
    return by_text


def _delivery(text: str, states: list[str], heard: int) -> Iterator[str]:
    ends = [state for state in states if state in ("delivered", "withdrawn")]
    if len(ends) != 1 or states[-1] != ends[0]:
        yield f"the words {text} went through {states}"
    elif heard != (ends == ["delivered"]):
        yield f"the words {text} are {ends[0]}, and the model heard them {heard} times"


def _answers(evidence: Evidence) -> Iterator[str]:
    """A question has at most one answer, and that of a sender who was taken is it."""
    answers: dict[str, list[str]] = {}
    for message in evidence.messages:
        if isinstance(message.body, ConfirmResponse):
            answers.setdefault(message.corr or "", []).append(message.body.guidance)
    for corr, given in answers.items():
        if len(given) > 1:
            yield f"{corr} was answered {len(given)} times"
    outcomes = {request.id: request.outcome for request in evidence.requests}
    for note in _latest(evidence.notes):
        if note.verb in ("allow", "deny") and note.request:
            stands = answers.get(note.about) == [note.text]
            if stands != (outcomes.get(note.request) == "taken"):
                outcome = outcomes.get(note.request)
                yield f"the answer of {note.request} is {outcome}; the log has it: {stands}"


def _writers(evidence: Evidence) -> Iterator[str]:
    """Nobody writes after another has taken over; every message has one writer."""
    processes: dict[int, str] = {}
    expected, fence = 1, 0
    for one in sorted(evidence.written, key=lambda one: one.first):
        if one.first != expected:
            yield f"messages from {one.first} on were written where {expected} was due"
        if one.fence < fence:
            yield f"message {one.first} was written under fence {one.fence} after {fence}"
        if processes.setdefault(one.fence, one.process) != one.process:
            yield f"two processes wrote under fence {one.fence}"
        expected, fence = one.last + 1, max(fence, one.fence)
    if expected != len(evidence.messages) + 1:
        yield f"{expected - 1} messages have a writer, of {len(evidence.messages)}"


def _effects(evidence: Evidence) -> Iterator[str]:
    """A command ran once if the log says it did, and not at all if the log says it did not."""
    begun = Begun()
    for message in evidence.messages:
        begun.observe(message)
    ran = Counter(evidence.effects)
    results = {m.corr: m.body for m in evidence.messages if isinstance(m.body, ToolResult)}
    for call, times in ran.items():
        if call not in results:
            yield f"{call} ran, but the log does not know it"
        elif times > 1:
            yield f"{call} ran {times} times"
        elif call not in begun.calls:
            yield f"{call} ran without permission"
    for call, result in results.items():
        times = ran[call or ""]
        if result.status == "ok" and times != 1:
            yield f"{call} is done, but ran {times} times"
        elif times and (result.status == "denied" or result.message == NOT_BEGUN):
            yield f"{call} ran, but the log says: {result.status} {result.message}"
        elif times == 0 and result.status not in ("ok", "denied", "cancelled", "interrupted"):
            yield f"{call} ended as {result.status}: {result.message}"
        elif result.status == "interrupted" and result.message not in (NOT_BEGUN, UNKNOWN):
            yield f"{call} was interrupted without a word: {result.message}"
