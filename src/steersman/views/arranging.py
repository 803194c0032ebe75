"""Changes in the order in which a person looks at them: source first, then what programs make.

What git ignores with its folder, or tools make again, is a line for each such folder.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from steersman.host import Host
from steersman.records.change import Change
from steersman.records.counting import counted
from steersman.records.secret_files import MADE_AGAIN

IGNORED, MADE = "ignored by git", "made by tools"
# What a person looks at after the source: texts and settings, then what programs write.
_TEXTS = re.compile(r".*\.(?:md|rst|txt|adoc|json|toml|ya?ml|cfg|ini|csv|env|xml|svg)")
_WRITTEN = re.compile(r".*\.lock|.*-lock\.(?:json|ya?ml)|go\.sum|.*\.min\.\w+|.*\.map")


class Arranged(Struct, frozen=True):
    """Changes to look at one by one, and how many there are in each ignored folder."""

    shown: list[Change]
    ignored: dict[str, int]


def arranged(
    host: Host, thread: str, changes: Sequence[Change], order: Callable[[str], int]
) -> Arranged:
    """Changes by an order of their paths. A folder with something that people miss is unfolded."""
    made = host.way_back.made_again(thread, changes)
    kept = [change.path for change in changes if change.path not in made]
    found = {one for one in made.values() if one}
    mixed = {one for one in found if any(path.startswith(f"{one}/") for path in kept)}
    ignored = dict.fromkeys(sorted(found - mixed), 0)
    shown = []
    for change in changes:
        folder = made.get(change.path, "")
        if folder in ignored:
            ignored[folder] += "folder" not in (change.before.kind, change.after.kind)
        elif change.path not in ignored:
            shown.append(change)
    shown.sort(key=lambda change: (change.path in made, order(change.path), change.path))
    return Arranged(shown, ignored)


def ignored_words(folder: str, count: int) -> str:
    """What is in a folder that is not looked at file by file, in a line."""
    made = folder.rpartition("/")[2] in MADE_AGAIN
    return f"{counted(count, 'file')}, {MADE if made else IGNORED}"


def rank(path: str) -> int:
    """Source comes first, then texts and settings, then what programs write."""
    name = path.rpartition("/")[2].lower()
    if _WRITTEN.fullmatch(name):
        return 2
    return 1 if _TEXTS.fullmatch(name) else 0
