"""What a reader of a page would not see is taken out of it: an invisible order to a model is the
commonest attack of all.

Goes by tags, attributes and the styles that are in the page itself (`styles.py`). Style sheets of
other addresses are not fetched, so what only they hide stays.
"""

import colorsys
import re
from typing import Any, NamedTuple

from steersman.operations.web.styles import Budget, Sheet, Styles, on_screen

Colour = tuple[int, ...] | str

_NEVER = frozenset({
    "script", "style", "template", "noscript", "svg", "iframe", "object", "embed", "noframes",
    "datalist", "dialog",
})  # fmt: skip
_ALWAYS = frozenset({"html", "head", "body"})  # where all of it is hidden, scripts will show it
_INERT = ("noscript", "template")
_ALIKE = 24  # of 765: colours that differ by so little are one

_NUMBER = re.compile(r"(-?\d*\.?\d+)\s*(%|[a-z]*)")
_OFF = re.compile(r"-(?:\d{4,}|[2-9]\d\d|1\d\d(?!\d))")
_FAR_OFF = re.compile(r"-\d{4,}")
_CLIP = re.compile(
    r"rect\(\s*(?:[01](?:px)?[\s,)]+){4}|(?:rect|circle|ellipse|polygon)\(\s*0[^1-9]*\)"
    r"|inset\(\s*(?:[5-9]\d|\d{3,})(?:\.\d+)?%"
)
_MOVED = re.compile(r"scale[xy3d]*\(\s*0*\.?0*\s*[,)]|translate[xy3d]*\([^)]*-\d{4,}")
_FAINT = re.compile(r"opacity\(\s*0*\.?0*%?\s*\)")
_FONT = re.compile(r"(?:^|\s)(\d*\.?\d+(?:px|pt|r?em|%)?)(?:\s*/|\s)")
_PARTS = re.compile(r"((?:[0-9]+\.?|\.[0-9])[0-9]*)(%?)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}|(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\([^()]*\)|[a-z]+")
_NAMED: dict[str, Colour] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0), "lime": (0, 255, 0),
    "blue": (0, 0, 255), "yellow": (255, 255, 0), "snow": (255, 250, 250),
    "ivory": (255, 255, 240), "whitesmoke": (245, 245, 245), "ghostwhite": (248, 248, 255),
    "floralwhite": (255, 250, 240), "gray": (128, 128, 128), "grey": (128, 128, 128),
    "azure": (240, 255, 255), "mintcream": (245, 255, 250), "aliceblue": (240, 248, 255),
    "honeydew": (240, 255, 240), "seashell": (255, 245, 238), "lavenderblush": (255, 240, 245),
    "silver": (192, 192, 192), "lightgray": (211, 211, 211), "lightgrey": (211, 211, 211),
}  # fmt: skip
NONE = "transparent"
_SPACES = ("rgb", "hsl", "hwb")
_SIZES = ("height", "max-height", "width", "max-width")
_OFFSETS = ("left", "top", "right", "bottom", "text-indent")
_WANTED = frozenset({
    "display", "visibility", "opacity", "content-visibility", "font-size", "font", "color",
    "-webkit-text-fill-color", "background", "background-color", "background-image",
    "background-clip", "-webkit-background-clip", "clip", "clip-path", "transform", "filter",
    "overflow", "overflow-x", "overflow-y", "margin-left", "margin-top", *_SIZES, *_OFFSETS,
})  # fmt: skip


class _Ink(NamedTuple):
    """How text is written at a place: on what ground, in what colour. None: not known."""

    colour: Colour | None
    ground: Colour | None
    tiny: bool = False
    veiled: bool = False
    through: bool = False  # the ground shows through the letters

    @property
    def seen(self) -> bool:
        if self.tiny or self.veiled:
            return False
        if self.through or self.colour is None:
            return True
        return self.colour != NONE and not _alike(self.colour, self.ground)


def drop_unseen(tree: Any) -> None:
    """Remove what a reader would not see."""
    nodes = list(tree.iter("*"))  # comments went when the page was parsed
    texts = [node.text or "" for node in nodes if node.tag == "style" and _holds(node)]
    plain = not any(_brings_styles(node) for node in nodes) and "@import" not in "".join(texts)
    sheet = Sheet(texts, _WANTED, Budget())
    ink: dict[Any, _Ink | None] = {}  # None: it is gone
    gone: list[Any] = []
    first = _Ink((0, 0, 0), (255, 255, 255)) if plain else _Ink(None, None)
    for node in nodes:
        around = ink.get(node.getparent(), first)
        if around is None:
            ink[node] = None
            continue
        styles = _attributes(node) | sheet.of(node)
        unseen = node.tag in _NEVER or _marked(node)
        if unseen or (node.tag not in _ALWAYS and _gone(styles)):
            ink[node] = None
            gone.append(node)
            continue
        here = _written(styles, around, whole=node.tag in _ALWAYS)
        ink[node] = here
        if not here.seen and node.tag != "head":
            _blank(node)
    for node in gone:  # only now, for others may be hidden by what is beside them
        node.clear(keep_tail=True)


def _holds(style: Any) -> bool:
    """Whether a style sheet of the page is used, where scripts run."""
    if next(style.iterancestors(*_INERT), None) is not None:
        return False
    return style.get("type", "text/css") in ("", "text/css") and on_screen(style.get("media", ""))


def _brings_styles(node: Any) -> bool:
    return node.tag == "link" and "stylesheet" in node.get("rel", "").lower()


def _marked(node: Any) -> bool:
    """Whether its own attributes hide it."""
    return (
        node.get("hidden") is not None
        or node.get("aria-hidden", "").lower() == "true"
        or node.get("popover") is not None
        or (node.tag == "input" and node.get("type") == "hidden")
    )


def _attributes(node: Any) -> Styles:
    """The styles that old attributes give."""
    found = {"background-color": node.get("bgcolor")}
    if node.tag == "font":
        found["color"] = node.get("color")
    if node.tag == "body":
        found["color"] = node.get("text")
    return {name: value.strip().lower() for name, value in found.items() if value}


def _gone(styles: Styles) -> bool:
    """Whether an element with all that is in it is not seen."""
    if styles.get("display") == "none" or styles.get("content-visibility") == "hidden":
        return True
    if _faint(styles.get("opacity", "")) or _FAINT.search(styles.get("filter", "")):
        return True
    if any(_OFF.match(styles.get(name, "")) for name in _OFFSETS):
        return True
    if any(_FAR_OFF.match(styles.get(name, "")) for name in ("margin-left", "margin-top")):
        return True
    if _CLIP.search(styles.get("clip", "")) or _CLIP.search(styles.get("clip-path", "")):
        return True
    if _MOVED.search(styles.get("transform", "")):
        return True
    cut = any(
        styles.get(f"overflow{axis}", "visible")[:7] != "visible" for axis in ("", "-x", "-y")
    )
    return cut and any(_nothing(styles.get(name, "")) for name in _SIZES)


def _faint(opacity: str) -> bool:
    said = _NUMBER.fullmatch(opacity)
    return said is not None and float(said[1]) / (100 if said[2] else 1) <= 0.05


def _nothing(length: str) -> bool:
    """Whether a length leaves no room for a letter."""
    said = _NUMBER.fullmatch(length)
    return said is not None and float(said[1]) <= (1 if said[2] in ("px", "pt", "%") else 0)


def _written(styles: Styles, around: _Ink, *, whole: bool) -> _Ink:
    """How text is written in an element, given what is around it."""
    tiny, veiled = around.tiny, around.veiled
    font = _FONT.search(styles.get("font", ""))
    size = _NUMBER.fullmatch(styles.get("font-size") or (font[1] if font else ""))
    if size and not whole:
        least = {"px": 1.0, "pt": 1.0, "%": 5.0}.get(size[2], 0.05)
        tiny = float(size[1]) <= least or (tiny and size[2] in ("em", "%"))
    if (said := styles.get("visibility")) and not whole:
        veiled = said in ("hidden", "collapse") or (veiled and said == "inherit")
    colour, ground = around.colour, around.ground
    if said := styles.get("-webkit-text-fill-color") or styles.get("color"):
        colour = colour if said == "inherit" else _colour(said)
    if said := styles.get("background-color") or styles.get("background"):
        found = None if "(" in said and not said.startswith(_SPACES) else _colour(said)
        ground = ground if found == NONE or said in ("none", "inherit", "initial") else found
    if styles.get("background-image", "none") != "none":
        ground = None
    clip = styles.get("background-clip", "") + styles.get("-webkit-background-clip", "")
    return _Ink(colour, ground, tiny, veiled, around.through or "text" in clip)


def _colour(said: str) -> Colour | None:
    """A colour in one spelling; `transparent` where nothing of it is seen."""
    found = _COLOUR.search(said)
    if found is None:
        return None
    word = found[0]
    if word.startswith("#"):
        digits = word[1:] if len(word) > 5 else "".join(2 * digit for digit in word[1:])
        if len(digits) == 8 and digits[6:] < "0d":
            return NONE
        return tuple(int(digits[at : at + 2], 16) for at in (0, 2, 4)) if len(digits) > 5 else None
    if word.startswith(_SPACES):
        parts = [(min(float(number), 1000.0), sign) for number, sign in _PARTS.findall(word)]
        if len(parts) > 3 and parts[3][0] / (100 if parts[3][1] else 1) <= 0.05:
            return NONE
        return _mixed(word[:3], *parts[:3]) if len(parts) > 2 else None
    return _NAMED.get(word, word)


def _mixed(space: str, *parts: tuple[float, str]) -> Colour:
    """A colour from its parts, each a number and perhaps a percent sign."""
    if space == "rgb":
        return tuple(round(number * (2.55 if sign else 1)) for number, sign in parts)
    hue, one, two = parts[0][0] / 360, *(min(number / 100, 1) for number, _ in parts[1:])
    if space == "hsl":
        mixed = colorsys.hls_to_rgb(hue, two, one)
    elif one + two >= 1:
        mixed = (one / (one + two),) * 3
    else:
        mixed = colorsys.hsv_to_rgb(hue, 1 - one / (1 - two), 1 - two)
    return tuple(round(255 * part) for part in mixed)


def _alike(one: Colour, other: Colour | None) -> bool:
    if isinstance(one, str) or isinstance(other, str) or other is None:
        return one == other
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) <= _ALIKE


def _blank(node: Any) -> None:
    """Take the text out of an element, and leave its children, which may be seen."""
    node.text = None
    for child in node:
        child.tail = None
