"""The text that stands for turns no longer shown: what is kept word for word, and a digest. Pure.

The same record always gives the same bytes, so that a prompt is the same after a restart.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from steersman.intelligence.facts import describe
from steersman.intelligence.shortening import OURS, TOOL, by_message, shorten
from steersman.records.counting import counted
from steersman.records.dialogue import AssistantItem, Item, ResultItem, UserItem
from steersman.records.message import Compaction, Kept, Said

OPENING = (
    f"{OURS} this conversation became too long to show in full. What lies between the request "
    "above and what follows below is summarized here; the user's messages are quoted as written. "
    f"The log has all of it, and {TOOL} can search it.]"
)
LONG_RESULT, LONG_SAYING, LONG_LINE, LONG_RULE = 600, 1_200, 160, 300
PER_WORDS = 6  # units for the number and the lines between
_RULES = re.compile(r"^\W*Rules\W*:(.*)$", re.IGNORECASE | re.MULTILINE)

T = TypeVar("T")


def head_items(body: Compaction) -> list[Item]:
    """The items that take the place of everything up to a message."""
    if not body.until:
        return []
    goal: list[Item] = [UserItem(body.kept.goal, steer=False)] if body.kept.goal else []
    return [*goal, UserItem(render(body.kept, body.digest), steer=True)]


def render(kept: Kept, digest: str) -> str:
    """What is kept, under headings, with nothing said of what there is not."""
    parts = [OPENING]
    words = [f"[{said.message}] {said.text}" if said.message else said.text for said in kept.words]
    if kept.unsaid:
        words.insert(0, f"(Only in the log: {counted(kept.unsaid, 'other message')} of the user.)")
    sections = (
        ("What the user said", "\n\n".join(words)),
        ("Plan", kept.plan),
        ("Todo", kept.todo),
        ("Files touched", "\n".join(f"- {file.path}: {file.what}" for file in kept.files)),
        ("Commands that worked", "\n".join(f"- {command}" for command in kept.commands)),
        ("Last error", kept.error),
        ("Open questions", "\n".join(f"- {question}" for question in kept.questions)),
        ("What was done", digest),
    )
    parts += [f"# {title}\n\n{text}" for title, text in sections if text]
    return "\n\n".join(parts)


def choose(words: Sequence[Said], room: float, size: Callable[[str], float]) -> list[Said]:
    """The words that fit, in their order: rules first, then what was said into running work.

    Where not all rules fit, the first and the last of them do: rules are made at the beginning and
    corrected at the end. Of everything else the newest counts.
    """
    chosen: dict[int, Said] = {}
    for why in ("rule", "steer", ""):
        sort = [index for index, said in enumerate(words) if said.why == why]
        for index in from_both_ends(sort) if why == "rule" else sort[::-1]:
            said = words[index]
            if why == "rule" and size(said.text) > room / 3:
                text = shorten(said.text, LONG_RULE, by_message(said.message))
                said = replace(said, text=text)
            cost = size(said.text) + PER_WORDS
            if cost <= room:
                room -= cost
                chosen[index] = said
            elif why != "rule":
                break
    return [chosen[index] for index in sorted(chosen)]


def from_both_ends(numbers: Sequence[int]) -> list[int]:
    """First, last, second, last but one, and so on."""
    half = (len(numbers) + 1) // 2
    first, last = numbers[:half], numbers[half:][::-1]
    pairs = [one for pair in zip(first, last, strict=False) for one in pair]
    return [*pairs, *first[len(last) :]]


def fitted(kept: Kept, room: float, size: Callable[[str], float]) -> Kept:
    """What is kept, in so much room: what weighs least gives way first."""
    goal = to_size(kept.goal, room * 0.25, size)
    words = choose(kept.words, room * 0.4, size)
    dropped = len(kept.words) - len(words)
    facts = replace(
        kept,
        goal=goal,
        words=tuple(words),
        unsaid=kept.unsaid + dropped,
        plan=to_size(kept.plan, room * 0.08, size),
        todo=to_size(kept.todo, room * 0.08, size),
        error=to_size(kept.error, room * 0.05, size),
        questions=tuple(_some(kept.questions, room * 0.03, size, lambda text: text)),
        commands=tuple(_some(kept.commands, room * 0.05, size, lambda text: text)),
    )
    left = room * 0.06
    return replace(facts, files=tuple(_some(kept.files, left, size, lambda f: f.path + f.what)))


def to_size(text: str, room: float, size: Callable[[str], float]) -> str:
    """A text in so many units, by trial: how long a unit is depends on the text."""
    characters = len(text)
    while text and size(shorten(text, characters)) > room and characters > 200:
        characters = characters * 3 // 4
    return shorten(text, characters, "the log has all of it") if characters < len(text) else text


def _some(
    things: Sequence[T], room: float, size: Callable[[str], float], text: Callable[[T], str]
) -> list[T]:
    """The newest that fit, in order."""
    chosen: list[T] = []
    for thing in reversed(things):
        room -= size(text(thing)) + 3
        if room < 0:
            break
        chosen.append(thing)
    return chosen[::-1]


# What a model is asked


def question(before: str, items: Iterable[tuple[Item, int]], room: int, words: int) -> str:
    """What a model is asked for a digest: the old one, and the notes since, in `room` characters.

    The newest notes are shown; when not all fit, the older of them are one line each.
    """
    numbered = list(items)
    task = Path(__file__).with_name("compaction.md").read_text(encoding="utf-8")
    old = f"\n# Digest of what came before\n\n{shorten(before, room // 4)}\n" if before else ""
    room -= len(task) + len(old)
    notes: list[str] = []
    full = True
    for item, seq in reversed(numbered):
        note = note_of(item, seq) if full else outline_of(item, seq)
        if len(note) > room and full:
            full, note = False, outline_of(item, seq)
        if len(note) > room:
            notes.append("(older notes are left out)")
            break
        room -= len(note) + 2
        notes.append(note)
    body = "\n\n".join(filter(None, reversed(notes)))
    return f"{task.replace('{words}', str(words))}{old}\n# Notes\n\n{body}\n"


def note_of(item: Item, seq: int) -> str:
    """One item as a note."""
    match item:
        case UserItem(text=text):
            return "" if text.startswith(OURS) else f"Person [{seq}]: {shorten(text, LONG_SAYING)}"
        case AssistantItem():
            calls = [f"  calls {describe(call)}" for call in item.calls]
            return "\n".join([f"Agent: {shorten(item.text, LONG_SAYING)}", *calls])
        case _:
            return f"  {'failed' if item.failed else 'got'}: {shorten(item.text, LONG_RESULT)}"


def outline_of(item: Item, seq: int) -> str:
    """One item in one line."""
    match item:
        case UserItem(text=text):
            return "" if text.startswith(OURS) else f"Person [{seq}]: {_line(text)}"
        case AssistantItem():
            done = ", ".join(describe(call) for call in item.calls)
            return _line(f"Agent: {item.text} {f'({done})' if done else ''}")
        case ResultItem() if item.failed:
            return f"  failed: {_line(item.text)}"
        case _:
            return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:LONG_LINE]


def outline(before: str, items: Iterable[tuple[Item, int]], room: int) -> str:
    """A digest without a model: one line for each thing said and done, the newest that fit."""
    lines: list[str] = []
    for item, seq in items:
        if not isinstance(item, UserItem) and (line := outline_of(item, seq)):
            lines.append(f"- {line.strip().removeprefix('Agent: ')}")
    old = [line for line in before.splitlines() if line]
    every = [*old, *lines]
    chosen: list[str] = []
    for line in reversed(every):
        room -= len(line) + 1
        if room < 0:
            chosen.append("(what came before is only in the log)")
            break
        chosen.append(line)
    return "\n".join(reversed(chosen))


def understood(answer: str) -> tuple[str, set[int]]:
    """A model's answer as a digest, and the messages that it says are rules."""
    found = list(_RULES.finditer(answer))
    if not found:
        return answer.strip(), set()
    last = found[-1]
    return (answer[: last.start()] + answer[last.end() :]).strip(), {
        int(number) for number in re.findall(r"\d+", last[1])
    }
