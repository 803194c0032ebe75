"""Output styles: how the model words its answers, as Markdown files with a description in front.

They come with the package, from the user's config folder, and from a workspace that the user
trusts. A style adds to the instructions; it allows nothing.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from steersman.identity.front_matter import parse
from steersman.identity.places import read_text
from steersman.identity.settings import config_file
from steersman.records.protection import inside

PLAIN = "default"  # no style at all
WORKSPACE = (".steersman/styles", ".claude/output-styles")
OWN = Path(__file__).with_name("styles")
MOST_TEXT = 32_000
MOST = 100


class Style(Struct, frozen=True):
    """A style by its name; `source` is its file."""

    name: str
    about: str
    text: str
    source: str


def find(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> dict[str, Style]:
    """Every style that can be used in a folder; the nearest of a name counts."""
    root = os.path.realpath(workspace)
    near = [(os.path.join(root, name), root) for name in WORKSPACE] if trusted else []
    home = environ.get("HOME") or str(Path.home())
    own = (config_file(environ).with_name("styles"), Path(home, ".claude/output-styles"), OWN)
    found: dict[str, Style] = {}
    for folder, within in (*near, *((str(one), "") for one in own)):
        for style in _read(folder, within):
            if len(found) < MOST and style.name != PLAIN:
                found.setdefault(style.name, style)
    return found


def _read(folder: str, within: str) -> list[Style]:
    """The styles of one folder; what cannot be read, or leads out of `within`, is left out."""
    found = []
    try:
        paths = sorted(Path(folder, name) for name in os.listdir(folder) if name.endswith(".md"))
    except OSError:
        return []
    for path in paths:
        if within and not inside(os.path.realpath(path), within):
            continue
        try:
            text, size = read_text(str(path), MOST_TEXT)
        except OSError:
            continue
        fields, body = parse(text)
        if body.strip() and size <= MOST_TEXT:
            name = "-".join((fields.get("name") or path.stem).lower().split())
            about = " ".join(fields.get("description", "").split())
            found.append(Style(name, about, body.strip(), str(path)))
    return found


def section(style: Style | None) -> str:
    """A style as a part of the instructions."""
    return f"# How you answer\n\n{style.text}\n" if style else ""
