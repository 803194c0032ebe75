"""Everything drawn can be read with 16, 256 and all colours, in every theme."""

import pytest
from rich._palettes import EIGHT_BIT_PALETTE, STANDARD_PALETTE
from rich.color import Color, ColorSystem
from rich.color_triplet import ColorTriplet
from rich.palette import Palette as Colours

from steersman.ports.tui.themes import COLOURS, palette

SYSTEMS: dict[str, tuple[ColorSystem, Colours | None]] = {
    "standard": (ColorSystem.STANDARD, STANDARD_PALETTE),
    "256": (ColorSystem.EIGHT_BIT, EIGHT_BIT_PALETTE),
    "truecolor": (ColorSystem.TRUECOLOR, None),
}
DIFFS = ("added", "removed", "added_words", "removed_words")
READ = ("text", "strong", "emphasis", "person", "heading")
SEEN = ("dim", "thought", "accent", "good", "bad", "warn", "code", "link", "keyword", "string",
        "number", "named")  # fmt: skip


def sent(colour: Color, system: str) -> ColorTriplet:
    """A colour as a terminal shows it."""
    kind, table = SYSTEMS[system]
    less = colour.downgrade(kind)
    if table is None or less.number is None:
        return less.get_truecolor()
    return table[less.number]


def light(colour: ColorTriplet) -> float:
    """How light a colour is, by the rules for accessible pages (WCAG 2)."""
    parts = [part / 255 for part in colour]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(theme: str, system: str, name: str) -> float:
    """How well something can be read where it stands."""
    style = getattr(palette(theme, system), name)
    fore = light(sent(style.color, system))
    back = light(sent(style.bgcolor or Color.parse(COLOURS[theme]["background"]), system))
    return (max(fore, back) + 0.05) / (min(fore, back) + 0.05)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("theme", COLOURS)
def test_everything_can_be_read(theme: str, system: str) -> None:
    found = {name: contrast(theme, system, name) for name in (*DIFFS, *READ, *SEEN)}
    least = {name: 3 if name in SEEN else 4.5 for name in found}
    assert {name: value for name, value in found.items() if value < least[name]} == {}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("theme", COLOURS)
def test_what_was_added_does_not_look_like_what_was_removed(theme: str, system: str) -> None:
    back = Color.parse(COLOURS[theme]["background"])
    looks = {}
    for name in DIFFS:
        style = getattr(palette(theme, system), name)
        looks[name] = (sent(style.color, system), sent(style.bgcolor or back, system))
    assert len(set(looks.values())) == len(DIFFS), looks
    assert looks["added_words"][1] != sent(back, system)
    assert looks["removed_words"][1] != sent(back, system)
