"""Lines that a program printed, in the colours it gave them (SGR); other sequences are dropped.

Colours never hide a text: what would stand on a background of about its own colour is shown as
plain text is, and nothing is concealed or blinks.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from rich.color import Color
from rich.style import Style
from rich.text import Text

from steersman.ports.tui.drawing.lines import clean
from steersman.ports.tui.drawing.look import Palette
from steersman.records.escapes import ESCAPES
from steersman.records.patterns import pattern

LEAST = 2.0  # contrast below which a text could not be read
CARRIED = 500  # characters of sequences that last over the end of a line
_COLOURS = pattern(r"\x1b\[([0-9;:]*)m")
_ENDS = pattern(r"\x1b\[(?:0*;)*0*m")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}
# The sixteen as Rich counts them, so that a terminal with no more has exactly these.
_SIXTEEN = (
    "000000", "aa0000", "00aa00", "aa5500", "0000aa", "aa00aa", "00aaaa", "aaaaaa",
    "555555", "ff5555", "55ff55", "ffff55", "5555ff", "ff55ff", "55ffff", "ffffff",
)  # fmt: skip


def carried(lines: Sequence[str]) -> Sequence[str]:
    """Lines that each begin with the colours that those before left on."""
    if not any("\x1b" in line for line in lines):
        return lines
    found, on = [], ""
    for line in lines:
        found.append(on + line)
        if "\x1b" in line:
            on += "".join(one[0] for one in _COLOURS.finditer(line))
            ends = list(_ENDS.finditer(on))
            on = on[ends[-1].end() if ends else 0 :][:CARRIED]
    return found


def printed_line(line: str, palette: Palette) -> Text:
    """One line, coloured."""
    if "\x1b" not in line:
        return Text(_shown(line), palette.text, end="")
    text, at, state = Text(end=""), 0, ""
    for found in ESCAPES.finditer(line):
        text.append(_shown(line[at : found.start()]), _style(state, palette))
        at = found.end()
        codes = _COLOURS.fullmatch(found[0])
        if codes:
            state = f"{state}{codes[1]}m"[-CARRIED:]
    return text.append(_shown(line[at:]), _style(state, palette))


def _shown(text: str) -> str:
    return clean(text).replace("\n", "\\n")


@lru_cache(maxsize=256)
def _style(state: str, palette: Palette) -> Style:
    """The style after all the codes that were given so far."""
    if not state:
        return palette.text
    letters: set[str] = set()
    colours: dict[bool, Color] = {}
    for sequence in state.split("m")[:-1]:
        codes = _codes(sequence)
        for code in codes:
            if code == 0:
                letters.clear()
                colours.clear()
            elif code in _ON:
                letters.add(_ON[code])
            elif code in _OFF:
                letters.difference_update(_OFF[code])
            elif code // 10 in (3, 4, 9, 10) and code % 10 < 8:
                number = code % 10 + (8 if code >= 90 else 0)
                colours[code // 10 in (4, 10)] = _sixteen(number)
            elif code in (38, 48) and (colour := _wide(codes)) is not None:
                colours[code == 48] = colour
            elif code in (39, 49):
                colours.pop(code == 49, None)
    readable = _readable(colours.get(False), colours.get(True), palette)
    return readable + Style.parse(" ".join(sorted(letters)))


def _codes(sequence: str) -> Iterator[int]:
    """The numbers of a sequence; what is between colons is one colour."""
    for part in sequence.split(";"):
        words = part.split(":")
        if words[0] not in ("38", "48"):
            words = ["24"] if words == ["4", "0"] else words[:1]  # kinds of lines under letters
        elif words[1:2] == ["2"] and len(words) > 5:
            del words[2]  # the space of colours, which nobody names
        yield from (int(word[:6] or 0) for word in words)


def _wide(codes: Iterator[int]) -> Color | None:
    """A colour of 256, or of all."""
    kind = next(codes, 0)
    values = list(islice(codes, {5: 1, 2: 3}.get(kind, 0)))
    if len(values) != {5: 1, 2: 3}.get(kind) or max(values) > 255:
        return None
    if kind == 2:
        return Color.from_rgb(*values)
    return _sixteen(values[0]) if values[0] < 16 else Color.from_ansi(values[0])


def _sixteen(number: int) -> Color:
    return Color.parse(f"#{_SIXTEEN[number]}")


def _readable(fore: Color | None, back: Color | None, palette: Palette) -> Style:
    """The two colours, as far as the theme has any and a text in them can be read."""
    usual = palette.text.color
    if usual is None or (fore is None and back is None):
        return palette.text
    dark = _light(usual) > 0.5  # the theme, where its letters are light
    if fore is not None and back is None:
        hexed = fore.get_truecolor().hex.removeprefix("#")
        if hexed in _SIXTEEN[1:7] + _SIXTEEN[9:15]:
            fore = _sixteen(_SIXTEEN.index(hexed) % 8 + (8 if dark else 0))
    ground = (0.01 if dark else 0.96) if back is None else _light(back)
    lights = sorted((_light(fore or usual), ground))
    if (lights[1] + 0.05) / (lights[0] + 0.05) < LEAST:
        return palette.text
    return Style(color=fore or usual, bgcolor=back)


def _light(colour: Color) -> float:
    """How light a colour is, from 0 to 1."""
    parts = [value / 255 for value in colour.get_truecolor()]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
