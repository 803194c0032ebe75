"""The simple commands of a shell line and their words, read once from left to right. Pure.

Only what is written out is read. A word that the shell would replace by something else is marked as
open, and whoever reads it must not claim to know it. The guard has the whole grammar.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(
    r"""(?P<blank>(?:[ \t\r]|\\\n)++|(?<![^\s;&|()])\#[^\n]*+)
    |(?P<redirect>(?:\d++(?=[<>])|&(?=>))?+(?:>>|>\||>&|<<<|<<-?|<>|<&|>|<))
    |(?P<end>&&|\|\||[;&|()\n`]|\Z)
    |(?P<word>(?:[^\s;&|()<>`'"\\]|\\.|'[^']*+'|"(?:[^"\\]|\\.)*+"|[\\'"])++)
    |.""",
    re.VERBOSE | re.DOTALL,
)
_PART = re.compile(r"""'(?P<raw>[^']*+)'|"(?P<text>(?:[^"\\]|\\.)*+)"|\\(?P<one>.)|[^'"\\]++|.""",
                   re.DOTALL)  # fmt: skip
_OPEN = re.compile(r"[$*?\[]")
_SUMS = re.compile(
    r"\(\(.*?\)\)|\[\[.*?\]\]", re.DOTALL
)  # arithmetic and conditions have their own &
_ESCAPED = re.compile(r"\\([$`\"\\])|\\\n")


class Word(Struct, frozen=True):
    """A word without its quotes; `open` where the shell makes something else of it."""

    text: str
    start: int
    end: int
    open: bool = False


class Simple(Struct, frozen=True):
    """A command without those around it, and what ends it: `;`, `&&`, `(`, or the end of all."""

    words: tuple[Word, ...]
    ended_by: str


def simple_commands(line: str, home: str = "") -> Iterator[Simple]:
    """The simple commands of a line in order; where redirects lead is none of their words."""
    words: list[Word] = []
    target = False
    for found in _TOKEN.finditer(line):
        if found.lastgroup == "word" and not target:
            words.append(_word(found, home))
        elif found.lastgroup == "end":
            yield Simple(tuple(words), found[0])
            words = []
        if found.lastgroup != "blank":
            target = found.lastgroup == "redirect"


def without_ampersand(line: str) -> str:
    """A line as one that is waited for, where a `&` at its end says otherwise; else nothing."""
    jobs = background_jobs(line)
    if not jobs or line[jobs[-1] + 1 :].strip():
        return ""
    return line[: jobs[0]].rstrip() if len(jobs) == 1 else f"{line.rstrip()} wait"


def leaves_behind(line: str) -> bool:
    """Whether a line starts something with `&` and does not wait for it, as far as it shows."""
    if not background_jobs(line):
        return False
    return all(one.words[0].text != "wait" for one in simple_commands(line) if one.words)


def background_jobs(line: str) -> list[int]:
    """Where a line says `&`: what is before that, the shell starts and does not wait for."""
    found, ready = [], False  # what was read before can be a command
    sums = [sum_.span() for sum_ in _SUMS.finditer(line)]
    for token in _TOKEN.finditer(line):
        if token[0] in ("<<", "<<-"):
            return []  # the text that follows is none of the line's commands
        inside = any(start < token.start() < end for start, end in sums)
        if token[0] == "&" and ready and not inside:
            found.append(token.start())
        if token.lastgroup != "blank":
            ready = token.lastgroup == "word" or token[0] == ")"
    return found


def _word(found: re.Match[str], home: str) -> Word:
    if found[0].isalnum():  # most are, and nothing is to be made of them
        return Word(found[0], found.start(), found.end())
    texts: list[str] = []
    is_open = False
    for part in _PART.finditer(found[0]):
        text = part[0]
        if part["raw"] is not None:
            text = part["raw"]
        elif part["text"] is not None:
            is_open |= any(one in _ESCAPED.sub("", part["text"]) for one in "$`")
            text = _ESCAPED.sub(r"\1", part["text"])
        elif part["one"] is not None:
            text = part["one"].removeprefix("\n")
        elif text in "'\"\\":
            is_open = True  # a quote that nothing closes
        else:
            braces = "{" in text and ("," in text or ".." in text)
            is_open |= braces or _OPEN.search(text) is not None
            if text.startswith("~") and not texts:
                known = home and text[1:2] in ("", "/")
                is_open |= not known
                text = home + text[1:] if known else text
        texts.append(text)
    return Word("".join(texts), found.start(), found.end(), is_open)
