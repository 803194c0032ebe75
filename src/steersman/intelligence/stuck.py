"""Notices when a turn goes round in circles. It only notices: a person decides what follows."""

from collections import deque
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from steersman.dialogue import Call
from steersman.message import Message, ToolResult

NOTE_AT = 3
ASK_AT = 6
LONGEST_CYCLE = 3


def _of_call(call: Call) -> bytes:
    return msgspec.json.encode((call.name, call.arguments, call.malformed), order="sorted")


def _of_result(body: ToolResult) -> bytes:
    return msgspec.json.encode((body.status, body.output, body.message), order="sorted")


class Stuck:
    """Remembers the latest steps of a turn as signatures of their calls and results."""

    def __init__(self) -> None:
        self._steps: deque[tuple[bytes, bytes]] = deque(maxlen=ASK_AT * LONGEST_CYCLE)
        self._asked_at = 0
        self._round = 0

    def observe(self, calls: Sequence[Call], results: Sequence[Message]) -> None:
        """Take in a finished step."""
        asked = b"".join(_of_call(call) for call in calls)
        got = b"".join(_of_result(m.body) for m in results if isinstance(m.body, ToolResult))
        self._steps.append((sha256(asked).digest(), sha256(got).digest()))
        self._round = self._round + 1 if self.repeats() >= NOTE_AT else 0
        if self._round == 0:
            self._asked_at = 0

    def repeats(self) -> int:
        """How often the latest cycle of one to three steps has come round without a change."""
        steps = list(self._steps)
        best = 0
        for size in range(1, LONGEST_CYCLE + 1):
            cycle = steps[-size:]
            count = 0
            while len(steps) >= (count + 1) * size:
                end = len(steps) - count * size
                if steps[end - size : end] != cycle:
                    break
                count += 1
            best = max(best, count if len(cycle) == size else 0)
        return best

    def note(self, call: Call) -> str:
        """What the model should be told with the result of this call, if anything."""
        if self.repeats() < NOTE_AT:
            return ""
        digest = sha256(_of_call(call)).digest()
        if all(asked != digest for asked, _ in self._steps):
            return ""
        return (
            f"this same call gave this same result the last {self.repeats()} times; "
            "do something else, or say what stands in the way"
        )

    def wants_to_ask(self) -> bool:
        """True at the sixth idle round, and then each time that number has doubled."""
        due = max(ASK_AT - NOTE_AT + 1, self._asked_at * 2)
        if self._round < due:
            return False
        self._asked_at = self._round
        return True
