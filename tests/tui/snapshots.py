"""Pictures of the terminal application that tests hold it to, as text and a few as SVG.

`check(picture, name)` compares with the file of that name beside the calling test, in a folder
`snapshots`. With `STEERSMAN_UPDATE_SNAPSHOTS=1` the files are written instead.
"""

import os
import re
import sys
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

UPDATE = "STEERSMAN_UPDATE_SNAPSHOTS"


def check(picture: str, name: str, folder: Path | None = None) -> None:
    """Hold a picture against the file that is kept of it; `name` tells its kind: `.txt`, `.svg`."""
    folder = folder or Path(sys._getframe(1).f_code.co_filename).parent / "snapshots"
    path = folder / name
    seen = normal_svg(picture) if path.suffix == ".svg" else picture.rstrip("\n") + "\n"
    if os.environ.get(UPDATE):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(seen, encoding="utf-8")
        return
    if not path.exists():
        pytest.fail(f"There is no snapshot {path}; {UPDATE}=1 writes it.")
    kept = path.read_text(encoding="utf-8")
    if seen != kept:
        lines = unified_diff(kept.splitlines(), seen.splitlines(), "kept", "seen", lineterm="", n=1)
        told = "\n".join(list(lines)[:80])
        pytest.fail(f"{path.name} looks otherwise ({UPDATE}=1 accepts it):\n{told}")


def normal_svg(svg: str) -> str:
    """An SVG without what is another each time: the ids that its name is put before."""
    found = re.search(r"terminal-(\d+)-", svg)
    named = svg.replace(found[0], "terminal-") if found else svg
    return named.rstrip("\n") + "\n"


def screen_text(app: Any, *, marks: bool = False) -> str:
    """The lines of the screen as text.

    With `marks` each line is followed by one that names the styles below its letters: `b` bold,
    `i` italic, `u` underlined, `r` reversed, `d` dim, `s` struck through; colours are left out.
    """
    lines: list[str] = []
    for strip in app.screen._compositor.render_strips():
        text = "".join(segment.text for segment in strip)
        lines.append(text.rstrip())
        if marks:
            below = "".join(_mark(one.style) * len(one.text) for one in strip).rstrip()
            if below:
                lines.append(f"  ~{below}")
    return "\n".join(lines).rstrip("\n") + "\n"


def lines_text(lines: list[Any], width: int) -> str:
    """Drawn lines (`rich.text.Text`) as text; `│` ends each, so that no space hides there."""
    return "\n".join(
        f"{line.plain}│" if line.cell_len <= width else f"{line.plain}│ TOO WIDE" for line in lines
    )


def _mark(style: Any) -> str:
    if style is None:
        return " "
    for letter, name in (("r", "reverse"), ("b", "bold"), ("i", "italic"), ("u", "underline"),
                         ("s", "strike"), ("d", "dim")):  # fmt: skip
        if getattr(style, name, None):
            return letter
    return " "
