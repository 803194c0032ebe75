"""The palette of the theme that the application has on."""

from functools import lru_cache
from typing import Any

from textual.app import App

from steersman.ports.tui.drawing.look import DARK, MONO, Palette
from steersman.ports.tui.themes import NAMES, palette


def palette_of(app: App[Any]) -> Palette:
    """Styles for what is drawn row by row; without colours where the theme has none."""
    if app.no_color or app.current_theme.ansi:
        return MONO
    return _known(app.theme, app.console.color_system) if app.theme in NAMES else DARK


_known = lru_cache(maxsize=16)(palette)
