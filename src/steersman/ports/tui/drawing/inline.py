"""Words of one paragraph with their styles: bold, code, links."""

from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean, clean_line
from steersman.ports.tui.drawing.look import Palette

if TYPE_CHECKING:
    from markdown_it.token import Token

_STYLES = {
    "strong_open": Style(bold=True),
    "em_open": Style(italic=True),
    "s_open": Style(strike=True),
}
_ENDS = ("strong_close", "em_close", "s_close")
_BREAKS = {"softbreak": " ", "hardbreak": "\n"}


def inline_text(token: "Token", base: Style, palette: Palette) -> Text:
    """One text, which may have line feeds in it."""
    text = Text(style=base, end="")
    styles: list[Style] = []
    links: list[tuple[str, int]] = []
    for child in token.children or ():
        kind = child.type
        if kind in _STYLES:
            styles.append(_STYLES[kind])
        elif kind in _ENDS:
            styles.pop()
        elif kind in _BREAKS:
            text.append(_BREAKS[kind])
        elif kind == "link_open":
            styles.append(palette.link)
            links.append((str(child.attrGet("href") or ""), len(text)))
        elif kind == "link_close":
            styles.pop()
            _tell_target(text, *links.pop(), palette)
        elif kind == "image":
            _add(text, f"[image: {child.content or child.attrGet('src')}]", styles)
        else:
            _add(text, child.content, [*styles, palette.code] if kind == "code_inline" else styles)
    return text


def _tell_target(text: Text, target: str, begun: int, palette: Palette) -> None:
    """Where a link leads, unless its words say so."""
    if target and target not in text.plain[begun:] and not target.startswith("#"):
        text.append(f" ({clean_line(target)})", palette.dim)


def _add(text: Text, content: str, styles: list[Style]) -> None:
    text.append(clean(content), Style.combine(styles) if styles else None)
