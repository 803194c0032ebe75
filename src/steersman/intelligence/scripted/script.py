"""A scripted model's file: what it may say, and which turn of it answers a conversation.

Pure: nothing here streams, serves or waits. The position is a function of the conversation alone,
so that retries, title requests and restarts use no turn up.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from steersman.records import validation
from steersman.records.counting import counted
from steersman.records.dialogue import AssistantItem, Call, Item, ResultItem, Tokens, UserItem
from steersman.records.errors import ScriptProblem
from steersman.records.plain_files import whole_plain

Count = Annotated[int, Meta(ge=0)]


class ScriptedCall(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call to make. Arguments given as a string are sent as they are, valid JSON or not.

    `id` is what the model calls it; without one it gets its own.
    """

    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """An error answer of the provider; without `times` it comes once, then the turn continues."""

    status: Annotated[int, Meta(ge=400, le=599)]
    message: str = "scripted error"
    retry_after: Annotated[float, Meta(ge=0)] | None = None
    times: Annotated[int, Meta(ge=1)] = 1


class ScriptedTurn(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer of the model."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    expect: str | None = None
    usage: Tokens | None = None
    delay_ms: Count = 0
    chunk: Count = 0
    error: Fault | None = None
    stall_ms: Count = 0
    drop: bool | Count = False
    do: Literal["shell", "read", "write", "edit"] | None = None
    command: str = ""
    path: str = ""
    content: str = ""
    search: str = ""
    replace: str = ""

    @property
    def results(self) -> int:
        """How many tool results come before the next turn."""
        return len(self.tool_calls) + (1 if self.do else 0)

    @property
    def only_fault(self) -> bool:
        """True when the turn is nothing but a fault: after it the next turn answers."""
        faulty = self.error is not None or bool(self.drop) or bool(self.stall_ms)
        return faulty and not (self.text or self.reasoning or self.results)


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole file; `aside` answers requests beside the conversation, which offer no tools."""

    turns: tuple[ScriptedTurn, ...]
    aside: str = ""


LARGEST = 256 << 20


def load(path: str | Path) -> Script:
    """Read a script file."""
    try:
        data = whole_plain(path, LARGEST)
    except OSError as error:
        raise ScriptProblem(
            f"The script file {path} cannot be read.",
            error.strerror or str(error),
            "Pass the path of a JSON file; docs/scripted-model.md describes it.",
        ) from error
    try:
        script = msgspec.json.decode(data, type=Script)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ScriptProblem(
            f"The script file {path} is not a valid script.",
            validation.sentence(error),
            'It should look like {"turns": [{"text": "Done."}]}; see docs/scripted-model.md.',
        ) from error
    if not script.turns:
        raise ScriptProblem(f"The script file {path} has no turns.", try_this="Add one turn.")
    return script


class Standing:
    """How far a conversation has come: prompts so far, and tool results since the last of them.

    Where an item does not tell, words right after tool results steer the running prompt; `doubt`
    counts the results since such words, should they turn out to ask again.
    """

    def __init__(self) -> None:
        self.prompts = 0
        self.results = 0
        self.doubt: int | None = None
        self.seen = 0
        self._turn_over = True

    def follow(self, items: Sequence[Item]) -> None:
        """Take in the items that came since the last call; a conversation grows at its end."""
        for index in range(self.seen, len(items)):
            match items[index]:
                case UserItem(steer=steer):
                    self._hear(steer)
                case AssistantItem(acts=acts):
                    self._turn_over = not acts
                case ResultItem():
                    self.results += 1
                    self._turn_over = False
                    self.doubt = None if self.doubt is None else self.doubt + 1
        self.seen = len(items)

    def _hear(self, steer: bool | None) -> None:
        if steer is False or (steer is None and self._turn_over):
            self.prompts += 1
            self.results = 0
            self.doubt = None
        elif steer is None and self.results:
            self.doubt = 0
        self._turn_over = False


class Segment(Struct, frozen=True):
    """The turns that answer one prompt; `before` counts the tool results that precede each."""

    turns: tuple[int, ...]
    before: tuple[int, ...]


class Player:
    """Finds the turn of a script that answers a conversation."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._segments = list(_segments(script))

    def turn(self, standing: Standing) -> int:
        """The index of the turn.

        Prompts choose the segment, in order and beginning again after the last one; tool results
        choose the turn within it.
        """
        found = self._find(standing.prompts, standing.results)
        if found is None and standing.doubt is not None:
            found = self._find(standing.prompts + 1, standing.doubt)
        if found is None:
            raise ScriptProblem(
                "The script has no turn left for this conversation.",
                f"{counted(standing.results, 'tool result')} came since prompt {standing.prompts}.",
                "Add turns to the script, the last one without tool calls.",
            )
        return found

    def _find(self, prompts: int, results: int) -> int | None:
        segment = self._segments[(max(prompts, 1) - 1) % len(self._segments)]
        place = bisect_right(segment.before, results) - 1
        return segment.turns[place] if segment.before[place] == results else None


def _segments(script: Script) -> Iterator[Segment]:
    """A segment ends with a turn that calls no tool."""
    turns: list[int] = []
    before: list[int] = []
    results = 0
    last = len(script.turns) - 1
    for index, turn in enumerate(script.turns):
        if turn.only_fault and index < last:
            continue
        turns.append(index)
        before.append(results)
        results += turn.results
        if turn.results == 0 or index == last:
            yield Segment(tuple(turns), tuple(before))
            turns, before, results = [], [], 0


class Faults:
    """Which faults have been played: each comes its number of times, then the turn continues."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._played: Counter[tuple[object, int]] = Counter()

    def due(self, turn: int, key: object) -> ScriptedTurn | None:
        """The fault to play instead of `turn` now, for the conversation that `key` names."""
        turns = self._script.turns
        first = turn
        while first > 0 and turns[first - 1].only_fault:
            first -= 1
        for index in range(first, turn + 1):
            nothing_follows = index == turn and turns[index].only_fault
            if nothing_follows or self._played[key, index] < _times(turns[index]):
                self._played[key, index] += 1
                return turns[index]
        return None


def _times(turn: ScriptedTurn) -> int:
    if turn.error is not None:
        return turn.error.times
    return 1 if turn.drop or turn.stall_ms else 0


def check_expectation(script: Script, turn: int, items: Sequence[Item]) -> None:
    """Raise unless what the turn expects occurs in the latest tool results."""
    expected = script.turns[turn].expect
    if expected is None:
        return
    latest: list[str] = []
    for item in reversed(items):
        if isinstance(item, AssistantItem):
            break
        if isinstance(item, ResultItem):
            latest.append(item.text)
    text = "\n".join(reversed(latest))
    if expected not in text:
        raise ScriptProblem(
            f"Turn {turn + 1} of the script expected {expected!r} in the latest tool results.",
            f"They were: {text[:2000]!r}" if latest else "There were no tool results.",
            "Fix the script, or the code it runs against.",
        )


def calls_of(turn: ScriptedTurn, tag: str) -> tuple[Call, ...]:
    """The exact tool calls of a turn; `tag` makes their ids unique."""
    made = []
    for index, call in enumerate(turn.tool_calls):
        name = call.id or f"call_{tag}_{index + 1}"
        if isinstance(call.arguments, str):
            made.append(parse_call(name, call.name, call.arguments))
        else:
            made.append(Call(name, call.name, call.arguments))
    return tuple(made)


def parse_call(call_id: str, name: str, arguments: str) -> Call:
    """A call whose arguments came as text; text that is not a JSON object is kept as malformed."""
    try:
        return Call(call_id, name, msgspec.json.decode(arguments or "{}", type=dict[str, Any]))
    except (msgspec.DecodeError, RecursionError):
        return Call(call_id, name, malformed=arguments)
