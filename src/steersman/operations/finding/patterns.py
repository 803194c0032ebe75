"""Patterns in ripgrep's dialect: made from literal text, checked, and explained when invalid."""

import re
from collections.abc import Iterator

from steersman.records.errors import ToolProblem
from steersman.records.patterns import pattern

NEWLINE = r"(?:\r?\n)"
_META = pattern(r"[\\.^$*+?{}\[\]|()#&~-]")
# How Python holds a byte that is not UTF-8; ripgrep's wildcards pass such bytes over.
_STRAY = "\udc80-\udcff"
_PYTHON = {"(?<": "(?P<", "\\z": "\\Z"} | {
    wildcard: f"(?:(?![{_STRAY}]){wildcard})" for wildcard in (".", r"\W", r"\S", r"\D")
}
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
_CARETS = pattern(r"^    ( *)\^+\s*$", re.MULTILINE)
_MESSAGE = pattern(r"^error: (.+)$", re.MULTILINE)


def literal(text: str) -> str:
    """A pattern for exactly this text; a line break in it is any line break."""
    _check_characters(text)
    escaped = _META.sub(r"\\\g<0>", text)
    return escaped.replace("\r\n", "\n").replace("\n", NEWLINE)


def prepared(pattern: str, multiline: bool) -> str:
    """A model's pattern with line breaks that fit every file, or why it cannot be searched for."""
    _check_characters(pattern)
    out: list[str] = []
    for at, token, in_class in _tokens(pattern):
        if not in_class and (token in _LOOKS or re.fullmatch(r"\\[1-9]", token)):
            what = "back-references are" if token[0] == "\\" else "look-around is"
            raise invalid(pattern, f"{what} not supported", at)
        if token in ("\\n", "\n") and not in_class:
            if not multiline:
                raise ToolProblem(
                    f"The pattern has a line break at position {at + 1}.",
                    "Without multiline, each line is searched separately.",
                    "Set multiline, or search for one line.",
                )
            token = NEWLINE
        out.append(token)
    return "".join(out)


def for_python(pattern: str) -> str:
    """The same pattern as Python's `re` writes it; stray bytes match only what names them."""
    out: list[str] = []
    for _, token, in_class in _tokens(pattern):
        if token.startswith("[^"):
            token = "[^" + _STRAY + token[2:].replace("]", r"\]")
        elif not in_class:
            token = _PYTHON.get(token, token)
        out.append(token)
    return "".join(out)


def invalid(pattern: str, message: str, at: int | None) -> ToolProblem:
    """The sentence about an invalid pattern, with the position if there is one."""
    where = "" if at is None else f" at position {at + 1}"
    return ToolProblem(
        f"The pattern {pattern!r} is not valid{where}: {message}.",
        try_this="The dialect is Rust's regex, without look-around and back-references. "
        "Escape ( ) [ ] { } . * + ? | ^ $ with a backslash to mean the character, "
        "or use workspace_search_files for literal text.",
    )


def from_ripgrep(pattern: str, complaint: str) -> ToolProblem:
    """What ripgrep says about a pattern, as our sentence."""
    message = _MESSAGE.search(complaint)
    carets = _CARETS.search(complaint)
    text = message[1] if message else complaint.strip().removeprefix("rg: ")[:300]
    # ripgrep shows the pattern inside (?:…).
    at = max(len(carets[1]) - 3, 0) if carets else None
    return invalid(pattern, text.rstrip("."), at)


def _check_characters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolProblem("The text to search for contains half a surrogate pair.") from error
    if "\0" in text:
        raise ToolProblem(
            "The text to search for contains a NUL character.",
            "Only text files are searched, and they have none.",
        )


def _tokens(pattern: str) -> Iterator[tuple[int, str, bool]]:
    """Place, text and whether it is in a character class, of each piece of a pattern."""
    at = depth = 0
    while at < len(pattern):
        token = pattern[at]
        if token == "\\":
            token = pattern[at : at + 2]
        elif depth == 0 and token == "(":
            token = next((look for look in _LOOKS if pattern.startswith(look, at)), "(")
            if token == "(" and pattern.startswith("(?<", at):
                token = "(?<"
        inside = depth > 0
        if token == "[":
            depth += 1
            # A bracket that closes right after the opening one is a member.
            lead = re.match(r"\[\^?\]?", pattern[at:])
            token = lead[0] if lead else token
        elif token == "]" and depth:
            depth -= 1
        yield at, token, inside
        at += len(token)
