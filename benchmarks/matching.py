"""The matcher on a very large file with a very large search, in every tier."""

import time

from benchmarks.measure import Figure
from steersman.operations.matching import Applied, Edit, apply_edits

LINES, SEARCH = 200_000, 2_000


def figures() -> list[Figure]:
    """CPU time of the slowest tier, and of a search that is not there."""
    lines = [f"    value_{n} = compute({n}, 'text')" for n in range(LINES)]
    content = "\n".join(lines).encode() + b"\n"
    block = lines[100_000 : 100_000 + SEARCH]
    searches = {
        "exact": "\n".join(block),
        "trailing blanks": "\n".join(line + "  " for line in block),
        "indentation": "\n".join(line[2:] for line in block),
        "typography": "\n".join(line.replace("'", "’") for line in block),
    }
    spent = {name: _cpu(content, search, True) for name, search in searches.items()}
    missing = "\n".join([*block[:-1], "    this line is nowhere"])
    slowest = max(spent, key=lambda name: spent[name])
    return [
        Figure(f"{SEARCH:,}-line edit of {LINES:,} lines, CPU", spent[slowest], 2, "s", slowest),
        Figure(
            "the same search, not found, with a hint, CPU", _cpu(content, missing, False), 2, "s"
        ),
    ]


def _cpu(content: bytes, search: str, there: bool) -> float:
    started = time.process_time()
    answer = apply_edits(content, [Edit(search, search + "\n    extra = 1")])
    spent = time.process_time() - started
    assert isinstance(answer, Applied) == there
    return spent
