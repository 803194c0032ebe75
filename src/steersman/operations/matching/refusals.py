"""What a refused caller gets: what is wrong, the lines nearest to the search, the next step.

Nothing here decides a match; a guess that would be wrong to apply is still right to mention.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from steersman.operations.matching.document import MANY, Document
from steersman.operations.matching.folding import fold, line_keys
from steersman.operations.matching.lines import is_blank, single_carriage_returns
from steersman.operations.matching.placeholders import is_placeholder
from steersman.operations.matching.records import Refusal
from steersman.records.counting import counted

WIDTH = 120
WINDOW = 3
SHORTEST_TELLING = 4
WORDS, HITS = 6, 12
REPEATS = 3
LISTED = 8

_MORE = "add neighbouring lines until it names one place, or ask for all of them to be replaced"
_VISIBLE = str.maketrans({" ": "·", "\t": "→", "\r": "␍", "\u00a0": "⍽", "\n": "⏎"})
_WORD = re.compile(r"\w+")
_ESCAPES = (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'), ("\\'", "'"), ("\\\\", "\\"))


def ambiguous(lines: Sequence[int], what: str = "The search text", advice: str = _MORE) -> Refusal:
    """Several places match and nothing says which one is meant."""
    count = f"at least {MANY} matches" if len(lines) >= MANY else counted(len(lines), "match")
    places = ", ".join(map(str, lines[:LISTED])) + (", …" if len(lines) > LISTED else "")
    return Refusal(
        "ambiguous",
        f"{what} has {count}, at lines {places}; {advice}.",
    )


def no_change() -> Refusal:
    """The edit would leave the file as it is."""
    return Refusal(
        "no-change",
        "Search and replace come to the same text, so nothing would change; "
        "send the text you want instead.",
    )


def not_found(document: Document, search: list[str], replace: list[str]) -> Refusal:
    """The refusal for a block that is nowhere in the file."""
    there = _already_there(document, replace)
    if there is not None:
        return Refusal(
            "already-applied",
            f"The search text is not in the file, but the replacement is already there at line "
            f"{there + 1}: the edit was already applied, or search and replace are swapped; "
            "leave the edit out, or exchange the two.",
        )
    reason = next(_reasons(document, "\n".join(search)), None) or _leaves_out(search)
    advice = reason or "read the file again and copy the lines as they are"
    return Refusal(
        "not-found", f"The search text is not in the file; {advice}.{_nearest(document, search)}"
    )


def visible(line: str) -> str:
    """A line with its blanks made visible, cut to a readable width."""
    cut = line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
    return cut.translate(_VISIBLE)


def _already_there(document: Document, replace: list[str]) -> int | None:
    text = "\n".join(replace)
    if len(text.strip()) < SHORTEST_TELLING:
        return None
    at = document.lf.find(single_carriage_returns(text))
    if at >= 0:
        return document.line_at(at)
    return next(iter(document.find_block(replace, document.widest)), None)


def _reasons(document: Document, search: str) -> Iterator[str]:
    """What the search would have to be for it to be found, where one simple slip explains it."""
    import html

    slips: tuple[tuple[str, Callable[[str], str], str], ...] = (
        (search, str, "it is there only inside a longer line: complete that line"),
        (_unescaped(search), str, "it looks escaped twice: send real line breaks and quotes"),
        (html.unescape(search), str, "it carries HTML entities: send the characters themselves"),
        (fold(search), fold, "the file has typographic characters there: copy them"),
        (search.lower(), str.lower, "upper and lower case differ: copy the file's spelling"),
    )
    for wanted, form, advice in slips:
        text = form(document.lf)
        at = text.find(wanted)
        if at >= 0:
            yield f"{advice} (line {text.count(chr(10), 0, at) + 1})"
    if "".join(search.split()) in "".join(document.lf.split()):
        yield "only blanks or blank lines differ: copy them as the file has them"


def _unescaped(text: str) -> str:
    for escaped, plain in _ESCAPES:
        text = text.replace(escaped, plain)
    return text


def _leaves_out(search: Sequence[str]) -> str | None:
    if any(map(is_placeholder, search)):
        return "it leaves lines out: name all lines in between, or make two edits"
    return None


def _nearest(document: Document, search: list[str]) -> str:
    """The lines where the search comes closest, next to the line of the search that differs."""
    place = _by_equal_lines(document, search)
    if place is None:
        place = _by_words(document, search)
    if place is None:
        return ""
    start, at = place
    bodies = document.lines.bodies
    line = min(max(start + at, 0), len(bodies) - 1)
    first = max(line - WINDOW + 1, 0)
    shown = [
        f"\n  line {number + 1}: {visible(bodies[number])}"
        for number in range(first, min(line + WINDOW, len(bodies)))
    ]
    return (
        " Nearest lines (· is a space, → a tab):"
        + "".join(shown)
        + f"\n  where the search has: {visible(search[at])}"
    )


def _by_equal_lines(document: Document, search: list[str]) -> tuple[int, int] | None:
    """The place with the most equal lines, and the first line of the search that differs there."""
    keys = document.keys(document.widest)
    ours = line_keys(search, document.widest)
    wanted: dict[str, list[int]] = {}
    for at, key in enumerate(ours):
        if len(key) >= SHORTEST_TELLING and len(wanted.setdefault(key, [])) < REPEATS:
            wanted[key].append(at)
    votes = Counter(
        line - at for line, key in enumerate(keys) if key in wanted for at in wanted[key]
    )
    if not votes:
        return None
    start = min(votes, key=lambda place: (-votes[place], place))
    for at, key in enumerate(ours):
        if not 0 <= start + at < len(keys) or keys[start + at] != key:
            return start, at
    return start, 0


def _by_words(document: Document, search: list[str]) -> tuple[int, int] | None:
    """The line most like the search's first telling line, among lines that share a word with it."""
    at, line = next(((at, own) for at, own in enumerate(search) if _WORD.search(own)), (0, ""))
    words = sorted(set(_WORD.findall(line.lower())), key=lambda word: (-len(word), word))[:WORDS]
    text = document.lf.lower()
    candidates = {text.count("\n", 0, hit) for word in words for hit in _hits(text, word)}
    bodies = document.lines.bodies
    likeness = {
        number: SequenceMatcher(None, bodies[number][:WIDTH], line[:WIDTH]).ratio()
        for number in candidates
        if number < len(bodies) and not is_blank(bodies[number])
    }
    best = min(likeness, key=lambda number: (-likeness[number], number), default=None)
    return None if best is None else (best - at, at)


def _hits(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    for _ in range(HITS):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))
