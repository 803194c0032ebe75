"""Letters that stand for what a text does not say: unknown values, live globs, tainted content.

Words and streams are plain strings; a part nobody can know is one private-use letter that says
where it would come from. Input never contains these letters: the reader refuses them first.
"""

import itertools
import re

from steersman.records.patterns import pattern

UNSET = "\ue000"  # an unknown variable, perhaps empty
OUT = "\ue001"  # output of a command
FILE = "\ue002"  # unread content of a file
SECRET = "\ue003"  # something that holds credentials
NET = "\ue004"  # content from an unknown host
KNOWN_NET = "\ue005"  # content from a well-known installer's host
EVERY = "\ue006"  # everything a listing command lists
RANDOM = "\ue007"  # endless noise: /dev/zero, yes
TEMP = "\ue008"  # a name made by mktemp
SHELL = "\ue009"  # what a shell prints that someone else commands
TOKEN = "\ue00a"  # an unknown variable whose name says it holds a credential

STAR = "\ue010"
QUERY = "\ue011"
SET = "\ue012"
DEEP = "\ue013"  # any path below
OPEN = "\ue014"
COMMA = "\ue015"
CLOSE = "\ue016"
TILDE = "\ue017"
SPLIT = "\ue018"  # unquoted blank from an expansion
NEXT = "\ue019"  # border between the words of "$@"
EMPTY = "\ue01a"  # quotes around nothing

ANY_MARK = pattern("[\ue000-\ue01a]")
UNKNOWN = pattern("[\ue000-\ue00a\ue013]")
GLOB = pattern("[\ue010-\ue013]")
_BRACES = pattern(f"[{OPEN}{COMMA}{CLOSE}]")
_LIVE = str.maketrans(
    {"*": STAR, "?": QUERY, "[": SET, "{": OPEN, ",": COMMA, "}": CLOSE},
)
_DEAD = str.maketrans(
    {STAR: "*", QUERY: "?", SET: "[", OPEN: "{", COMMA: ",", CLOSE: "}", TILDE: "~", EMPTY: ""}
)
_SHOWN = str.maketrans(
    {
        UNSET: "$?",
        OUT: "$(…)",
        FILE: "<file>",
        SECRET: "<secret>",
        NET: "<download>",
        KNOWN_NET: "<installer>",
        EVERY: "<all>",
        RANDOM: "<endless>",
        TEMP: "tmp",
        SHELL: "<shell>",
        TOKEN: "<credential>",
        STAR: "*",
        QUERY: "?",
        SET: "[",
        DEEP: "**",
        OPEN: "{",
        COMMA: ",",
        CLOSE: "}",
        TILDE: "~",
        SPLIT: " ",
        NEXT: " ",
        EMPTY: "",
    }
)


def live(text: str) -> str:
    """Unquoted text: its globs and braces are live."""
    return text.translate(_LIVE)


def literal(text: str) -> str:
    """The text with live letters taken as ordinary ones; unknown parts stay."""
    return text.translate(_DEAD)


def shown(text: str, limit: int = 160) -> str:
    """The text as a person may read it, on one line."""
    plain = text.translate(_SHOWN).replace("\n", "⏎")
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def unknown(text: str) -> bool:
    """True when some part of the text cannot be known."""
    return UNKNOWN.search(text) is not None


def blur(text: str) -> str:
    """Where a text came from, when its letters are lost."""
    marks = (NET, SECRET, TOKEN, KNOWN_NET, RANDOM, EVERY)
    return next((mark for mark in marks if mark in text), OUT)


def globbed(text: str) -> bool:
    """True when the text has a live glob."""
    return GLOB.search(text) is not None


def glob_pattern(text: str) -> re.Pattern[str]:
    """A regular expression for one segment with live globs.

    All stars but the last keep to the first place where what follows them fits: that is a fixed
    number of letters, and the next star can take what is left. So no name takes long.
    """
    runs = [""]
    at = 0
    while at < len(text):
        letter = text[at]
        end = text.find("]", at + 2) if letter == SET else -1
        if letter in (STAR, DEEP) or UNKNOWN.match(letter):
            runs.append("")
        elif letter == QUERY:
            runs[-1] += "."
        elif end > 0:
            inside = literal(text[at + 1 : end]).replace("\\", "\\\\").replace("[", "\\[")
            runs[-1] += "[^" + inside[1:] + "]" if inside[:1] in "!^" else "[" + inside + "]"
            at = end
        else:
            runs[-1] += re.escape(literal(letter))
        at += 1
    head, *rest = runs
    middle = "".join(f"(?>.*?{run})" for run in rest[:-1] if run)
    try:
        last = f".*{rest[-1]}" if rest else ""
        return re.compile(head + middle + last + r"\Z", re.DOTALL)
    except re.error:
        return re.compile(".*", re.DOTALL)


def braces(text: str) -> list[str]:
    """Brace expansion over live braces; at most 64 words."""
    if OPEN not in text:
        return [text]
    done: list[str] = []
    todo = [text]
    while todo and len(done) + len(todo) < 64:
        word = todo.pop(0)
        split = _brace(word)
        if split is None:
            done.append(word)
        else:
            todo = split + todo
    return done + todo


def _brace(word: str) -> list[str] | None:
    """The words that the first braces make which stand for several."""
    inner: list[tuple[int, list[int]]] = []  # where braces open, and the commas in them
    pairs: list[tuple[int, list[int], int]] = []
    for found in _BRACES.finditer(word):
        at, letter = found.start(), found[0]
        if letter == OPEN:
            inner.append((at, []))
        elif inner and letter == COMMA:
            inner[-1][1].append(at)
        elif inner:
            pairs.append((*inner.pop(), at))
    made = (_parts(word, start, commas, end) for start, commas, end in sorted(pairs))
    return next((words for words in made if words is not None), None)


def _parts(word: str, start: int, commas: list[int], end: int) -> list[str] | None:
    head, tail = word[:start], word[end + 1 :]
    if commas:
        borders = [start, *commas, end]
        return [head + word[a + 1 : b] + tail for a, b in itertools.pairwise(borders)]
    inside = word[start + 1 : end]
    found = re.fullmatch(r"(-?\d+)\.\.(-?\d+)(?:\.\.-?\d+)?", inside)
    if found:
        low, high = sorted((int(found[1]), int(found[2])))
        return [head + str(n) + tail for n in range(low, min(high, low + 32) + 1)]
    found = re.fullmatch(r"(\w)\.\.(\w)", inside)
    if found:
        low, high = sorted((ord(found[1]), ord(found[2])))
        return [head + chr(n) + tail for n in range(low, min(high, low + 32) + 1)]
    return None
