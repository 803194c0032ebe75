"""Notices when a turn goes round in circles. It only notices: a person decides what follows."""

from collections import deque
from collections.abc import Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from steersman.records.counting import counted
from steersman.records.dialogue import Call
from steersman.records.message import Message, ToolResult

NOTE_AT = 3
ASK_AT = 6
LONGEST_CYCLE = 3


def _of_call(call: Call) -> bytes:
    said = (call.name, call.arguments, call.malformed)
    return sha256(msgspec.json.encode(said, order="sorted")).digest()


def _of_result(body: ToolResult) -> bytes:
    return msgspec.json.encode((body.status, body.output, body.message), order="sorted")


class Step(Struct, frozen=True):
    """What was called in one step, and what came of it, as signatures."""

    calls: tuple[bytes, ...]
    results: bytes


class Stuck:
    """Counts how often the latest one to three steps of a turn have come round."""

    def __init__(self) -> None:
        self._latest: deque[Step] = deque(maxlen=LONGEST_CYCLE)
        self._same = dict.fromkeys(range(1, LONGEST_CYCLE + 1), 0)
        self._seen = 0
        self._ask_at = ASK_AT

    def observe(self, calls: Sequence[Call], results: Sequence[Message]) -> None:
        """Take in a finished step."""
        got = b"".join(_of_result(m.body) for m in results if isinstance(m.body, ToolResult))
        step = Step(tuple(_of_call(call) for call in calls), sha256(got).digest())
        for size in self._same:
            came_round = len(self._latest) >= size and self._latest[-size] == step
            self._same[size] = self._same[size] + 1 if came_round else 0
        self._latest.append(step)
        self._seen += 1
        if self.repeats() < NOTE_AT:
            self._ask_at = ASK_AT

    def repeats(self) -> int:
        """How often the latest cycle of one to three steps has come round without a change."""
        return max(
            ((same + size) // size for size, same in self._same.items() if self._seen >= size),
            default=0,
        )

    def note(self, call: Call) -> str:
        """What the model should get with the result of this call, if anything."""
        if self.repeats() < NOTE_AT or all(_of_call(call) not in s.calls for s in self._latest):
            return ""
        return (
            f"this same call gave this same result the last {counted(self.repeats(), 'time')}; "
            "do something else, or say what is blocking you"
        )

    def wants_to_ask(self) -> bool:
        """True at the sixth idle round, and then each time that number has doubled."""
        if self.repeats() < self._ask_at:
            return False
        self._ask_at *= 2
        return True
