"""How things look: the styles of a theme by what they are for, and whether a block is open.

Nothing is shown by colour alone: every state has a mark of its own, so that the same picture can be
read without colours.
"""

from collections.abc import Mapping

from msgspec import Struct
from rich.style import Style
from rich.text import Text

from steersman.views.blocks import State

MARKS: dict[State, str] = {
    "running": "○", "done": "●", "error": "✗", "denied": "⊘", "cancelled": "–", "waiting": "?",
}  # fmt: skip


class Palette(Struct, frozen=True):
    """Styles by what they are for; `name` tells palettes apart."""

    name: str
    text: Style
    dim: Style
    strong: Style
    emphasis: Style
    person: Style
    accent: Style
    good: Style
    bad: Style
    warn: Style
    heading: Style
    code: Style
    link: Style
    thought: Style
    added: Style
    removed: Style
    added_words: Style
    removed_words: Style
    keyword: Style
    string: Style
    number: Style
    named: Style


MOST = 5_000  # lines of one block that are shown in the conversation


class Look(Struct, frozen=True):
    """How a block is to be drawn. `open` shows all of it, up to `most` lines.

    `keys` are those that open what is folded.
    """

    palette: Palette
    open: bool = False
    most: int = MOST
    keys: str = "F7 Enter"


def _style(text: str) -> Style:
    return Style.parse(text)


def coloured(name: str, colours: Mapping[str, str]) -> Palette:
    """A palette from colours by name: foreground, muted, primary, secondary, accent, success,
    warning, error, and the backgrounds added-words and removed-words.

    Lines of diffs are on added and removed, if there are such; what is written on any of the four
    backgrounds has a colour of its own where it needs one (on-added, on-added-words and so on).
    """
    fore, muted = colours["foreground"], colours["muted"]
    good, bad, warn = colours["success"], colours["error"], colours["warning"]
    primary, second, accent = colours["primary"], colours["secondary"], colours["accent"]
    return Palette(
        name=name,
        text=_style(fore),
        dim=_style(muted),
        strong=_style(f"bold {fore}"),
        emphasis=_style(f"italic {fore}"),
        person=_style(f"bold {primary}"),
        accent=_style(primary),
        good=_style(good),
        bad=_style(bad),
        warn=_style(warn),
        heading=_style(f"bold {primary}"),
        code=_style(accent),
        link=_style(f"underline {primary}"),
        thought=_style(f"italic {muted}"),
        added=_changed(colours, "added", good),
        removed=_changed(colours, "removed", bad),
        added_words=_changed(colours, "added-words", f"bold {fore}"),
        removed_words=_changed(colours, "removed-words", f"bold {fore}"),
        keyword=_style(primary),
        string=_style(good),
        number=_style(accent),
        named=_style(f"bold {second}"),
    )


def _changed(colours: Mapping[str, str], kind: str, usual: str) -> Style:
    back = colours.get(kind, "")
    return _style(f"{colours.get(f'on-{kind}', usual)}{f' on {back}' if back else ''}")


DARK = coloured(
    "dark",
    {
        "foreground": "#d5dae0", "muted": "#7d8792", "primary": "#7aa2d6", "secondary": "#8fa7bd",
        "accent": "#c6a86a", "success": "#86b58a", "warning": "#d9b36c", "error": "#d98080",
        "added": "#1b2a21", "removed": "#301e21", "added-words": "#2b4a35",
        "removed-words": "#5a2e33",
    },
)  # fmt: skip

MONO = Palette(
    name="mono",
    text=Style(),
    dim=_style("dim"),
    strong=_style("bold"),
    emphasis=_style("italic"),
    person=_style("bold"),
    accent=_style("bold"),
    good=Style(),
    bad=_style("bold"),
    warn=_style("bold"),
    heading=_style("bold underline"),
    code=_style("bold"),
    link=_style("underline"),
    thought=_style("italic dim"),
    added=Style(),
    removed=_style("dim"),
    added_words=_style("reverse"),
    removed_words=_style("reverse dim"),
    keyword=_style("bold"),
    string=Style(),
    number=Style(),
    named=_style("bold"),
)


def state_mark(state: State, palette: Palette) -> Text:
    """The mark of a state; more can be appended to it."""
    return Text(end="").append(f"{MARKS[state]} ", mark_style(state, palette))


def mark_style(state: State, palette: Palette) -> Style:
    """The style of a state's mark."""
    match state:
        case "running":
            return palette.accent
        case "done":
            return palette.good
        case "error" | "denied":
            return palette.bad
        case "waiting":
            return palette.warn
    return palette.dim
