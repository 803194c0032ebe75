"""Long things made short: their beginning, their end, and how to read the whole of them again."""

from typing import Any

from steersman.records.counting import counted
from steersman.records.dialogue import AssistantItem, Call, Item, ResultItem, UserItem

OURS = "[Steersman:"  # how the host's own remarks begin
MEANWHILE = f"{OURS} since your last turn"  # and how the one does about what people did
TOOL = "read_earlier"  # the tool by which a model reads from the log what it no longer sees
SMALLEST = 160
HEAD = 0.6


def by_call(call: str) -> str:
    """How the whole result of a call is read again."""
    return f'{TOOL} with {{"call": "{call}"}} shows all of it'


def by_message(seq: int) -> str:
    """How a whole message is read again; of one whose place is not known, only that it exists."""
    return f'{TOOL} with {{"message": {seq}}} shows all of it' if seq else "the log has all of it"


def shorten(text: str, room: int, handle: str = "") -> str:
    """A text in at most `room` characters, or in the fewest that still say how to get the rest."""
    if len(text) <= max(room, SMALLEST):
        return text
    spare = max(room - len(_note(len(text), len(text), handle)), 0)
    first = _line_end(text, int(spare * HEAD))
    last = _line_start(text, len(text) - (spare - int(spare * HEAD)))
    return text[:first] + _note(last - first, len(text), handle) + text[last:]


def _note(left_out: int, whole: int, handle: str) -> str:
    told = f"{left_out:,} of {counted(whole, 'character')} left out"
    return f"\n[… {told}; {handle} …]\n" if handle else f"\n[… {told} …]\n"


def _line_end(text: str, at: int) -> int:
    """The end of the last line before a place, unless that is far away."""
    found = text.rfind("\n", at - at // 4, at)
    return found if found >= 0 else at


def _line_start(text: str, at: int) -> int:
    found = text.find("\n", at, at + (len(text) - at) // 4)
    return found + 1 if found >= 0 else at


def shorten_item(item: Item, room: int, seq: int = 0) -> Item:
    """An item whose long texts are shortened; one that is short enough stays what it is."""
    match item:
        case UserItem(text=text, steer=steer):
            return UserItem(shorten(text, room, by_message(seq)), steer, item.images)
        case AssistantItem():
            text, calls = (
                shorten(item.text, room),
                tuple(_shorten_call(c, room) for c in item.calls),
            )
            if (text, calls) == (item.text, item.calls):
                return item
            # What a provider signed fits only the whole answer, so it goes with the rest.
            return AssistantItem(text, "", calls)
        case _:
            call = item.call

            def load() -> tuple[str, bool]:
                return shorten(item.text, room, by_call(call)), item.failed

            return ResultItem(call, load=load)


def _shorten_call(call: Call, room: int) -> Call:
    malformed = None if call.malformed is None else shorten(call.malformed, room)
    return Call(call.id, call.name, _shorten_value(call.arguments, room), malformed)


def _shorten_value(value: Any, room: int) -> Any:
    match value:
        case str():
            return shorten(value, room)
        case dict():
            return {name: _shorten_value(inner, room) for name, inner in value.items()}
        case list():
            return [_shorten_value(inner, room) for inner in value]
        case _:
            return value
