"""What happens in a round, decided by its seed alone: who says what, and who is struck when."""

from random import Random
from typing import Literal

from msgspec import Struct

StoreKind = Literal["sqlite", "postgres"]
Blow = Literal[
    "kill owner", "stop owner", "kill sender", "stop sender", "restart", "crash", "cut", "stall"
]
Verb = Literal[
    "send", "steer", "queue", "withdraw", "allow", "deny", "cancel", "set", "compact", "close"
]

LEASE = 1.0  # seconds without a sign of life, after which another process may take over
STOPPED = LEASE * 2.5  # long enough for another process to start and take over
_VERBS: dict[Verb, int] = {
    "send": 5, "steer": 4, "queue": 4, "withdraw": 2, "allow": 9, "deny": 2, "cancel": 2,
    "set": 2, "compact": 1, "close": 1,
}  # fmt: skip
_BLOWS: dict[StoreKind, dict[Blow, int]] = {
    "sqlite": {"kill owner": 4, "stop owner": 4, "kill sender": 2, "stop sender": 1},
    "postgres": {
        "kill owner": 3, "stop owner": 3, "kill sender": 1, "stop sender": 1,
        "restart": 1, "crash": 1, "cut": 3, "stall": 2,
    },
}  # fmt: skip


class Deed(Struct, frozen=True):
    """One thing a sender asks; `text` is found nowhere else in the round."""

    verb: Verb
    text: str
    pause: float


class Fault(Struct, frozen=True):
    """A blow, struck `delay` seconds after the log holds `head` messages."""

    blow: Blow
    head: int
    delay: float
    sender: int = 0
    seconds: float = STOPPED


class Plan(Struct, frozen=True):
    """A round."""

    seed: int
    store: StoreKind
    senders: tuple[tuple[Deed, ...], ...]
    faults: tuple[Fault, ...]


def plan_for(seed: int, store: StoreKind) -> Plan:
    """The round of a seed."""
    dice = Random(f"{store} {seed}")
    senders = tuple(
        tuple(_deed(dice, f"word-{seed}-{sender}-{n}") for n in range(dice.randint(4, 7)))
        for sender in range(dice.choice((2, 2, 3)))
    )
    weights = _BLOWS[store]
    head, faults = 0, []
    for _ in range(dice.randint(2, 4)):
        head += dice.randint(2, 16)
        (blow,) = dice.choices(list(weights), list(weights.values()))
        delay, sender = dice.uniform(0, 0.08), dice.randrange(len(senders))
        faults.append(Fault(blow, head, delay, sender, dice.uniform(0.9, 1.3) * STOPPED))
    return Plan(seed, store, senders, tuple(faults))


def _deed(dice: Random, text: str) -> Deed:
    (verb,) = dice.choices(list(_VERBS), list(_VERBS.values()))
    return Deed(verb, text, dice.uniform(0, 0.15))


def script(effects: str) -> dict[str, object]:
    """What the model does, over and over: ask before a command, run two at once, only talk.

    Every command leaves its call's name in the file `effects`, once.
    """
    leave_name = f'echo "$STEERSMAN_CALL" >> "{effects}"'
    asking = {"command": leave_name, "outside_sandbox": True}
    slow = {"command": f"sleep 0.3; {leave_name}", "outside_sandbox": True}
    run = "workspace_run_command"
    return {
        "turns": [
            {
                "text": "I ask first.",
                "chunk": 4,
                "tool_calls": [{"name": run, "arguments": asking}],
            },
            {"text": "That is done.", "chunk": 3, "delay_ms": 20},
            {
                "text": "Two at once.",
                "tool_calls": [
                    {"name": run, "arguments": asking},
                    {"name": run, "arguments": slow},
                ],
            },
            {"text": "One more.", "tool_calls": [{"name": run, "arguments": asking}]},
            {"text": "Both are done."},
            {"text": "I only talk now, for a while.", "chunk": 2, "delay_ms": 30},
        ]
    }
