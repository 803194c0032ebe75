"""Ids of calls and of what is asked: those the host makes, and how others become a call's own.

An id is all by which the gate knows a call, a view its block and a provider its result. So no two
calls of a thread have the same, and none that a model chose has the form of one that the host made.
"""

from collections.abc import Iterable
from secrets import token_hex

from msgspec.structs import replace

from steersman.records.dialogue import Call
from steersman.records.patterns import pattern

CALL = "call_"  # a call, whoever makes it
LOOK = "look_"  # one that only informs what a person is shown
COMMIT = "commit_"  # one that commits what a person chose; its command is the host's
HOOK = "hook_"  # the run of a hook
ASK = "ask_"  # what someone is asked
INPUT = "in_"  # what a person says
SERVER = "server_"  # what an MCP server asks for
_OURS = pattern(
    # The last one is a call over HTTP: a token, and what its holder calls it.
    r"(?:look|commit|hook|ask|in|server|undo|redo)_|call_(?:owner|[0-9a-f]{8})-"
)


def fresh(kind: str = CALL) -> str:
    """An id that nothing has yet."""
    return f"{kind}{token_hex(5)}"


def only_looks(call: str | None, turn: int) -> bool:
    """Whether a call only informs what a person is shown; a call of a turn is a model's."""
    return not turn and (call or "").startswith(LOOK)


def distinct(calls: Iterable[Call], used: set[str]) -> tuple[Call, ...]:
    """Calls from outside under ids that are theirs alone, and `used` from now on.

    Some servers give none, or the same to all; a model's words may make one choose any.
    """
    made = []
    for call in calls:
        bad = not call.id.isprintable() or _OURS.match(call.id)
        own = replace(call, id=fresh()) if bad or call.id in used or not call.id else call
        used.add(own.id)
        made.append(own)
    return tuple(made)
