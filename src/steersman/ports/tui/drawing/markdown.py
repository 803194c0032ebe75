"""Markdown as lines for a terminal. The parser is imported when the first words are drawn."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.text import Text

from steersman.ports.tui.drawing.chunks import Chunk, chunks
from steersman.ports.tui.drawing.code import highlighted, pieces
from steersman.ports.tui.drawing.inline import inline_text
from steersman.ports.tui.drawing.lines import clean, clean_line, cut, cut_off, shifted, wrap
from steersman.ports.tui.drawing.look import Palette
from steersman.ports.tui.drawing.tables import table_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BLANK = Text(end="")
LONGEST_PARAGRAPH = 20_000  # characters of it that are shown
DEEPEST = 8  # lists and quotes inside one another that still move to the right
_BULLETS = ("•", "◦", "▪")


class Flow:
    """Markdown that grows: what is finished is drawn once."""

    def __init__(self, width: int, palette: Palette, indent: str = "") -> None:
        self._width = width
        self._indent = indent
        self._palette = palette
        self._done: list[Text] = []
        self._prefix = ""

    def lines(self, text: str) -> list[Text]:
        """All lines of the text as it is now."""
        if not text.startswith(self._prefix):
            self._done, self._prefix = [], ""
        found = chunks(text, len(self._prefix))
        # The last line may continue, and with it change what it is: nothing is finished by it.
        whole = text.rfind("\n") + 1
        sure = 0
        while sure + 1 < len(found) and found[sure + 1].start < whole:
            sure += 1
        for chunk in found[:sure]:
            self._done += self._drawn(text, chunk, first=not self._done)
        if sure:
            self._prefix = text[: found[sure - 1].end + 1]  # blank lines belong to what follows
        lines = self._done[:]
        for chunk in found[sure:]:
            lines += self._drawn(text, chunk, first=not lines)
        return lines

    def _drawn(self, text: str, chunk: Chunk, *, first: bool) -> list[Text]:
        piece = text[chunk.start : chunk.end]
        lines = chunk_lines(piece, self._width, self._palette, self._indent)
        return [BLANK, *lines] if chunk.apart and not first else list(lines)


def markdown_lines(text: str, width: int, palette: Palette) -> list[Text]:
    """A whole text."""
    return Flow(width, palette).lines(text)


@lru_cache(maxsize=256)
def chunk_lines(text: str, width: int, palette: Palette, indent: str = "") -> tuple[Text, ...]:
    """One piece of Markdown, moved to the right."""
    room = max(width - len(indent), 1)
    fenced = _fenced(text)
    if fenced is not None:
        return tuple(_code_lines(*fenced, room, palette, indent))
    drawn = _Drawer(palette).drawn(_parser().parse(clean_lines(text)), room)
    return tuple(cut(shifted(line, indent), width) for line in drawn)


def clean_lines(text: str) -> str:
    """A text without what a terminal would follow; tabs stay for the parser to understand."""
    lines = (cut_off(line, LONGEST_PARAGRAPH) for line in text.split("\n"))
    return "\n".join("\t".join(map(clean, line.split("\t"))) for line in lines)


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _fenced(text: str) -> tuple[list[str], str] | None:
    """The lines and the language of a piece that is one fence; it may still be open."""
    mark = text[:3]
    if mark not in ("```", "~~~"):
        return None
    lines = text.split("\n")
    info = lines[0].lstrip(mark[0]).strip()
    if mark == "```" and "`" in info:
        return None
    length = len(lines[0]) - len(lines[0].lstrip(mark[0]))
    body = lines[1:]
    if body and len(body[-1].strip()) >= length and not body[-1].strip().strip(mark[0]):
        body.pop()
    return body, info.split()[0].strip("{}.") if info.split() else ""


def _code_lines(
    lines: list[str], language: str, width: int, palette: Palette, indent: str = ""
) -> list[Text]:
    """Code, moved to the right; pieces that are full are drawn once."""
    told: list[Text] = []
    for piece in pieces(lines):
        told += _code_piece("\n".join(piece), language, width, palette, indent)
    return told


@lru_cache(maxsize=512)
def _code_piece(
    text: str, language: str, width: int, palette: Palette, indent: str
) -> tuple[Text, ...]:
    room = max(width - 2, 1)
    bar = f"{indent}▏ " if width > 4 else indent
    return tuple(
        cut(shifted(part, bar, palette.dim), len(indent) + width)
        for line in highlighted(text.split("\n"), language, palette)
        for part in wrap(line, room, 2)
    )


class _Drawer:
    """Walks the tokens of the parser and lays lines below one another."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._lists: list[int | None] = []  # the number of the next item, None for bullets

    def drawn(self, tokens: Sequence["Token"], width: int) -> list[Text]:
        """The lines of a run of blocks."""
        lines: list[Text] = []
        at = 0
        while at < len(tokens):
            end = _closing(tokens, at)
            block = self._block(tokens[at : end + 1], max(width, 1))
            if lines and block and not _tight(tokens[at]):
                lines.append(Text(end=""))
            lines += block
            at = end + 1
        return lines

    def _block(self, tokens: Sequence["Token"], width: int) -> list[Text]:
        first, inner = tokens[0], tokens[1:-1]
        palette = self._palette
        match first.type:
            case "paragraph_open":
                return wrapped_lines(inline_text(inner[0], palette.text, palette), width)
            case "heading_open":
                level = int(first.tag[1:])
                before = Text("#" * level + " ", palette.dim) if level > 2 else Text()
                return wrapped_lines(
                    before + inline_text(inner[0], palette.heading, palette), width
                )
            case "bullet_list_open" | "ordered_list_open":
                ordered = first.type == "ordered_list_open"
                return self._list(
                    inner, width, int(first.attrs.get("start", 1)) if ordered else None
                )
            case "blockquote_open":
                lines = self.drawn(inner, width - 2)
                return [shifted(line, "┃ ", palette.dim) for line in lines] if width > 4 else lines
            case "fence" | "code_block":
                language = first.info.split()[0] if first.info.split() else ""
                return _code_lines(first.content.rstrip("\n").split("\n"), language, width, palette)
            case "hr":
                return [Text("─" * min(width, 40), palette.dim, end="")]
            case "table_open":
                return self._table(inner, width)
        return [cut(Text(clean_line(first.content), palette.text), width)] if first.content else []

    def _list(self, tokens: Sequence["Token"], width: int, number: int | None) -> list[Text]:
        self._lists.append(number)
        depth = len(self._lists)
        lines: list[Text] = []
        at = 0
        while at < len(tokens):
            end = _closing(tokens, at)
            mark = _BULLETS[(depth - 1) % 3] + " " if number is None else f"{number}. "
            indent = len(mark) if depth <= DEEPEST and width > 2 * len(mark) else 0
            item = self.drawn(tokens[at + 1 : end], width - indent) or [Text(end="")]
            if indent:
                first, *rest = item
                lines.append(shifted(first, mark, self._palette.accent))
                lines += [shifted(line, " " * indent) for line in rest]
            else:
                lines += item
            number = None if number is None else number + 1
            at = end + 1
        self._lists.pop()
        return lines

    def _table(self, tokens: Sequence["Token"], width: int) -> list[Text]:
        rows: list[list[Text]] = []
        for at, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                style = self._palette.strong if token.type == "th_open" else self._palette.text
                rows[-1].append(inline_text(tokens[at + 1], style, self._palette))
        return table_lines(rows, width, self._palette)


def wrapped_lines(text: Text, width: int) -> list[Text]:
    """Lines of a text that has line feeds in it."""
    return [piece for line in text.split("\n", allow_blank=True) for piece in wrap(line, width)]


def _closing(tokens: Sequence["Token"], at: int) -> int:
    """Where the block that opens at a place is closed."""
    if tokens[at].nesting != 1:
        return at
    level = tokens[at].level
    for end in range(at + 1, len(tokens)):
        if tokens[end].level == level and tokens[end].nesting == -1:
            return end
    return len(tokens) - 1


def _tight(token: "Token") -> bool:
    """Whether a block is close to the one before it: in a list without blank lines."""
    return token.hidden or (token.level > 0 and token.type in ("bullet_list_open",
                                                               "ordered_list_open"))  # fmt: skip
