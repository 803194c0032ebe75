"""The short tables of `reads.txt`: programs of which only the verbs that look are known.

An entry is read into the language of `verbs.py`. A pattern that begins with `no ` is asked about
before the others are looked at.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

_COMMON = "--profile --region --format --output --filter --limit --url --token --config --log-level"


class Entry(NamedTuple):
    """One entry, still as text."""

    names: list[str]
    rule: str
    valued: str
    patterns: str


@cache
def short_tables() -> dict[str, Entry]:
    """Every entry of the short tables, by each of its program's names."""
    made = {}
    for text in _entries():
        names, rule, valued, patterns = text.split(">", 3)
        entry = Entry(
            names.split(), rule.strip(), " ".join(valued.split()), " ".join(patterns.split())
        )
        made.update(dict.fromkeys(entry.names, entry))
    return made


def _entries() -> list[str]:
    entries: list[str] = []
    table = Path(__file__).with_name("reads.txt").read_text(encoding="utf-8")
    for line in table.splitlines():
        if line.startswith(" "):
            entries[-1] += line
        elif line and not line.startswith("#"):
            entries.append(line)
    return entries


def as_table(entry: Entry) -> dict[str, object]:
    """An entry as `tables.py` wants it."""
    given = [part.strip() for part in entry.patterns.split(";") if part.strip()]
    asked = [part[3:] for part in given if part.startswith("no ")]
    safe = [part for part in given if not part.startswith("no ")]
    lines = [f"ask {entry.rule} : {';'.join(asked)}"] if asked else []
    lines += [f"safe : {';'.join(safe)}", f"ask {entry.rule} : *"]
    return {
        "text": "\n".join(lines),
        "valued": f"{entry.valued} {_COMMON}",
        "names": " ".join(entry.names[1:]),
    }
