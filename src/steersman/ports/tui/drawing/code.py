"""Code in colours: a handful of styles for what the lexers of Pygments tell apart.

Pygments is imported when the first code is drawn. Long code is coloured piece by piece, so that
what streams in costs the same at its thousandth line as at its tenth.
"""

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

from rich.style import Style
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean_line
from steersman.ports.tui.drawing.look import Palette

PIECE = 40  # lines that are coloured together
WIDEST = 400  # characters; a longer line, and what is coloured with it, stays plain
_NAMES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "jsx": "jsx",
    "ts": "typescript", "tsx": "tsx", "rs": "rust", "go": "go", "rb": "ruby", "java": "java",
    "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "sh": "bash",
    "bash": "bash", "toml": "toml", "yaml": "yaml", "yml": "yaml", "json": "json", "sql": "sql",
    "html": "html", "css": "css", "md": "markdown", "php": "php", "kt": "kotlin", "lua": "lua",
    "swift": "swift", "xml": "xml", "jsonl": "json", "diff": "diff", "patch": "diff",
}  # fmt: skip


def language_of(path: str) -> str:
    """The language a file's name shows; empty when it does not."""
    return _NAMES.get(os.path.splitext(path)[1].lstrip(".").lower(), "")


def pieces(lines: list[str]) -> Iterator[list[str]]:
    """Lines in pieces of about the same length; a piece ends where a blank line allows it."""
    start = 0
    while start < len(lines):
        end = min(start + PIECE, len(lines))
        if end < len(lines):
            for at in range(end - 1, start + PIECE // 2, -1):
                if not lines[at].strip():
                    end = at + 1
                    break
        yield lines[start:end]
        start = end


def highlighted(lines: list[str], language: str, palette: Palette) -> list[Text]:
    """Lines of code, safe and coloured, not yet cut to any width."""
    told: list[Text] = []
    for piece in pieces(lines):
        told += _piece("\n".join(map(clean_line, piece)), language, palette)
    return told


def _piece(text: str, language: str, palette: Palette) -> list[Text]:
    lines = text.split("\n")
    lexer = _lexer(language) if language and max(map(len, lines)) <= WIDEST else None
    if lexer is None:
        return [Text(line, palette.text, end="") for line in lines]
    told: list[Text] = [Text("", palette.text, end="")]
    for kind, value in lexer.get_tokens(text):
        style = _style(kind, palette)
        parts = value.split("\n")
        for number, part in enumerate(parts):
            if number:
                told.append(Text("", palette.text, end=""))
            if part:
                told[-1].append(part, style)
    del told[len(lines) :]
    return told


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    """A lexer, or None for a language that nobody knows."""
    lexers = import_module("pygments.lexers")
    try:
        return lexers.get_lexer_by_name(language.lower(), stripnl=False)
    except ValueError:  # what Pygments raises is one
        return None


@lru_cache(maxsize=512)
def _kind(kind: Any) -> str:
    """Which of our styles a kind of token gets."""
    token = import_module("pygments.token")

    for group, name in (
        (token.Comment, "dim"),
        (token.Literal.String, "string"),
        (token.Literal.Number, "number"),
        (token.Keyword.Constant, "number"),
        (token.Keyword, "keyword"),
        (token.Operator.Word, "keyword"),
        (token.Name.Function, "named"),
        (token.Name.Class, "named"),
        (token.Name.Decorator, "code"),
        (token.Name.Tag, "keyword"),
        (token.Name.Attribute, "code"),
        (token.Generic.Inserted, "good"),
        (token.Generic.Deleted, "bad"),
        (token.Generic.Heading, "heading"),
    ):
        if kind in group:
            return name
    return ""


def _style(kind: Any, palette: Palette) -> Style | None:
    name = _kind(kind)
    return getattr(palette, name) if name else None
