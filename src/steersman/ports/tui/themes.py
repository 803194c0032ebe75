"""Themes: a light and a dark one, a pair that the colour-blind can tell apart, one without colours.

The pair puts blue against orange where the others have green against red. Nothing is said by
colour alone: every state has a mark of its own as well.
"""

from collections.abc import Mapping

from textual.theme import Theme

from steersman.ports.tui.drawing.look import MONO, Palette, coloured
from steersman.ports.tui.reader import colourless

NO_COLOURS = "no-colour"
# In the order of a theme's fields; the last six are for lines of diffs and for what is faint.
COLOURS: dict[str, dict[str, str]] = {
    "dark": {
        "primary": "#7aa2d6", "secondary": "#8fa7bd", "accent": "#c6a86a", "success": "#86b58a",
        "warning": "#d9b36c", "error": "#d98080", "foreground": "#d5dae0",
        "background": "#14171b", "surface": "#1a1e23", "panel": "#2b3138", "muted": "#7d8792",
        "added": "#1b2a21", "removed": "#301e21", "added-words": "#2b4a35",
        "removed-words": "#5a2e33",
    },
    "light": {
        "primary": "#2f62a3", "secondary": "#4f6b87", "accent": "#8a6417", "success": "#2f7a3d",
        "warning": "#8f6100", "error": "#b23a3a", "foreground": "#24292f",
        "background": "#fbfbf9", "surface": "#f2f2ee", "panel": "#dcdcd5", "muted": "#666d75",
        "added": "#e4f3e4", "removed": "#fae6e4", "added-words": "#bfe3c1",
        "removed-words": "#f3c3be",
    },
    "dark-safe": {
        "primary": "#6cb4ee", "secondary": "#8fa7bd", "accent": "#e6c229", "success": "#56b4e9",
        "warning": "#f0e442", "error": "#e69f00", "foreground": "#dadfe4",
        "background": "#14171b", "surface": "#1a1e23", "panel": "#2b3138", "muted": "#818b96",
        "added": "#16283a", "removed": "#33260f", "added-words": "#1f4767",
        "removed-words": "#5e4310",
    },
    "light-safe": {
        "primary": "#0059a8", "secondary": "#4f6b87", "accent": "#7a5c00", "success": "#0067a3",
        "warning": "#7a5c00", "error": "#a84500", "foreground": "#24292f",
        "background": "#fbfbf9", "surface": "#f2f2ee", "panel": "#dcdcd5", "muted": "#666d75",
        "added": "#e1effa", "removed": "#fbead6", "added-words": "#b7dbf3",
        "removed-words": "#f4cf9f",
    },
}  # fmt: skip
# With 256 colours there is no dark background but black and strong ones: lines of diffs have none,
# and only the words that changed are on one.
_NO_BACKGROUND = {"added": "", "removed": ""}
COLOURS_256: dict[str, dict[str, str]] = {
    "dark": {"added-words": "#005f00", "removed-words": "#5f0000"},
    "light": {"added-words": "#afd7af", "removed-words": "#ffd7d7"},
    "dark-safe": {"added-words": "#00005f", "removed-words": "#5f5f00"},
    "light-safe": {"added-words": "#afd7ff", "removed-words": "#ffd7af"},
}
# With 16 colours: exactly those, so that none becomes another one that cannot be read.
_LIGHT_16 = {
    "foreground": "#000000", "muted": "#555555", "primary": "#0000aa", "secondary": "#0000aa",
    "accent": "#aa00aa", "warning": "#aa5500",
}  # fmt: skip
_DARK_16 = {
    "foreground": "#ffffff", "muted": "#aaaaaa", "primary": "#55ffff", "secondary": "#aaaaaa",
    "accent": "#ffff55", "warning": "#ffff55",
}  # fmt: skip
COLOURS_16: dict[str, dict[str, str]] = {
    "dark": {
        **_DARK_16, "success": "#55ff55", "error": "#ff5555",
        "added-words": "#00aa00", "on-added-words": "bold #000000",
        "removed-words": "#aa0000",
    },
    "light": {
        **_LIGHT_16, "success": "#00aa00", "error": "#aa0000", "on-added": "#000000",
        "added-words": "#00aa00", "removed-words": "#aa0000", "on-removed-words": "bold #ffffff",
    },
    "dark-safe": {
        **_DARK_16, "success": "#55ffff", "error": "#ffff55",
        "added-words": "#00aaaa", "on-added-words": "bold #000000",
        "removed-words": "#aa5500",
    },
    "light-safe": {
        **_LIGHT_16, "success": "#0000aa", "error": "#aa5500",
        "added-words": "#0000aa", "on-added-words": "bold #ffffff",
        "removed-words": "#aa5500", "on-removed-words": "bold #ffffff",
    },
}  # fmt: skip
NAMES = (*COLOURS, NO_COLOURS)


def theme(name: str) -> Theme:
    """A theme for Textual; scroll bars and cursors keep quiet."""
    if name == NO_COLOURS:
        return _colourless()
    colours = COLOURS[name]
    back, line, muted = colours["background"], colours["panel"], colours["muted"]
    return Theme(
        name=name,
        dark=name.startswith("dark"),
        primary=colours["primary"],
        secondary=colours["secondary"],
        accent=colours["accent"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        foreground=colours["foreground"],
        background=back,
        surface=colours["surface"],
        panel=line,
        variables={
            "muted": muted, "line": line, "border": colours["primary"], "border-blurred": line,
            "added": colours["added"], "removed": colours["removed"],
            "scrollbar": line, "scrollbar-hover": muted, "scrollbar-active": muted,
            "scrollbar-background": back, "scrollbar-background-hover": back,
            "scrollbar-background-active": back, "scrollbar-corner-color": back,
            "block-cursor-text-style": "none",
            "block-cursor-background": line,
            "block-cursor-foreground": colours["foreground"],
            "block-cursor-blurred-background": line,
            "block-cursor-blurred-foreground": colours["foreground"],
            "input-selection-background": f"{colours['primary']} 30%",
        },
    )  # fmt: skip


def _colourless() -> Theme:
    """The terminal's own two colours; what is chosen is shown in reverse."""
    plain = "ansi_default"
    names = ("muted", "line", "border", "border-blurred", "added", "removed", "scrollbar",
             "scrollbar-hover", "scrollbar-active", "scrollbar-background",
             "scrollbar-background-hover", "scrollbar-background-active",
             "scrollbar-corner-color", "block-cursor-background", "block-cursor-foreground",
             "block-cursor-blurred-background", "block-cursor-blurred-foreground",
             "input-selection-background", "input-selection-foreground",
             "input-cursor-background", "input-cursor-foreground", "ansi-background",
             "ansi-foreground", "block-hover-background", "screen-selection-background",
             "screen-selection-foreground")  # fmt: skip
    return Theme(
        name=NO_COLOURS, dark=True, ansi=True, primary=plain, secondary=plain, accent=plain,
        success=plain, warning=plain, error=plain, foreground=plain, background=plain,
        surface=plain, panel=plain, boost=plain,
        variables={**dict.fromkeys(names, plain), "block-cursor-text-style": "reverse",
                   "input-cursor-text-style": "reverse"},
    )  # fmt: skip


def palette(name: str, system: str | None = "truecolor") -> Palette:
    """The same theme for what is drawn line by line, in the colours that a terminal has."""
    if name == NO_COLOURS:
        return MONO
    if system == "truecolor":
        return coloured(name, COLOURS[name])
    fewer = (COLOURS_256 if system == "256" else COLOURS_16)[name]
    return coloured(name, {**COLOURS[name], **_NO_BACKGROUND, **fewer})


def first_theme(environ: Mapping[str, str], remembered: str) -> str:
    """The theme to begin with: none of colours where none are wanted, else as remembered.

    `COLORFGBG` is how some terminals tell that their background is light.
    """
    if colourless(environ):
        return NO_COLOURS
    if remembered in NAMES:
        return remembered
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in ("7", "15") else "dark"
