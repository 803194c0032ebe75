"""Commits as `git commit` reports them. Pure."""

import re

_COMMIT = re.compile(r"^\[[^\]\n]+ ([0-9a-f]{7,40})\] (.+)$", re.MULTILINE)


def reported(output: str) -> list[tuple[str, str]]:
    """The short id and the subject of every commit that an output reports."""
    return [(found[1][:12], found[2].strip()) for found in _COMMIT.finditer(output)]
