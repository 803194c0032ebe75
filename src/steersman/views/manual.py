"""The manual that comes with the program: its topics, and a page as one reads it in a terminal.

In a wheel the pages are in the package (`manual/`), in a checkout they are the repository's own.
"""

import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from msgspec import Struct

from steersman.records.errors import UsageProblem

PACKAGE = Path(__file__).resolve().parent.parent
FIRST = ("readme", "terminal", "settings", "models")  # what people want first
_IMAGE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]+)\]\((?!https?:)([^)#\s]*)(?:#[^)\s]*)?\)")
_HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Topic(Struct, frozen=True):
    """A page by its name; `title` is its first heading."""

    name: str
    title: str
    text: str


@cache
def topics() -> tuple[Topic, ...]:
    """All pages, those that one reads first in front."""
    found = {one.name: one for one in map(_topic, _files())}
    order = [*(name for name in FIRST if name in found), *(n for n in found if n not in FIRST)]
    return tuple(found[name] for name in order)


def _files() -> list[Path]:
    bundled = PACKAGE / "manual"
    if bundled.is_dir():
        return sorted(bundled.glob("*.md"))
    root = PACKAGE.parent.parent
    return sorted([*root.glob("README.md"), *root.glob("docs/*.md")])


def _topic(path: Path) -> Topic:
    text = path.read_text(encoding="utf-8")
    heading = _HEADING.search(text)
    return Topic(path.stem.lower(), heading[1] if heading else path.stem, text)


def find(name: str) -> Topic:
    """A page by its name, or by the only name that begins like it; else the nearest are named."""
    wanted = name.strip().lower().removesuffix(".md")
    known = {one.name: one for one in topics()}
    begins = [one for one in known if wanted and one.startswith(wanted)]
    if wanted in known or len(begins) == 1:
        return known.get(wanted) or known[begins[0]]
    near = begins or get_close_matches(wanted, known, n=3, cutoff=0.6) or _about(wanted)
    meant = " or ".join(f"`steer docs {one}`" for one in near[:4])
    raise UsageProblem(
        f"The manual has no topic “{name[:60]}”.",
        f"Did you mean {meant}?" if meant else "",
        "`steer docs` lists the topics.",
    )


def _about(word: str) -> list[str]:
    """The pages with a heading that has a word in it."""
    if len(word) < 3:
        return []
    return [
        one.name
        for one in topics()
        if any(word in heading.lower() for heading in _HEADING.findall(_FENCE.sub("", one.text)))
    ]


def page(topic: Topic) -> str:
    """A page as Markdown without pictures; what it links to are topics, named at its end."""
    known = {one.name for one in topics()}
    others: dict[str, None] = {}

    def label(link: re.Match[str]) -> str:
        name = Path(link[2]).stem.lower()
        if name in known and name != topic.name:
            others[name] = None
        return link[1]

    text = _LINK.sub(label, _IMAGE.sub("", topic.text)).rstrip()
    also = ", ".join(f"`steer docs {name}`" for name in others)
    return f"{text}\n\nSee also: {also}\n" if also else f"{text}\n"


def listing() -> list[tuple[str, str]]:
    """Every topic's name and title."""
    return [(one.name, one.title) for one in topics()]
