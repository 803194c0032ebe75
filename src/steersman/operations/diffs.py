"""Changes of text files as unified diffs that people read."""

import difflib

LARGEST = 2_000_000


def unified(shown: str, before: bytes | None, after: bytes) -> str:
    """The change of one file; `before` is None for a new one."""
    if len(before or b"") + len(after) > LARGEST:
        return f"(too large to show: {len(before or b''):,} → {len(after):,} bytes)\n"
    old, new = _lines(before or b""), _lines(after)
    names = ("/dev/null" if before is None else f"a/{shown}", f"b/{shown}")
    lead = _shared(old, new)
    # Difflib is quadratic: lines that both ends share are left out of its work.
    tail = _shared(old[lead:][::-1], new[lead:][::-1])
    keep_lead, keep_tail = max(lead - 3, 0), max(tail - 3, 0)
    old_part = old[keep_lead : len(old) - keep_tail]
    new_part = new[keep_lead : len(new) - keep_tail]
    hunks = list(difflib.unified_diff(old_part, new_part, *names, n=3))
    return "".join(_with_offset(line, keep_lead) for line in hunks)


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _lines(content: bytes) -> list[str]:
    lines = content.decode("utf-8", errors="replace").split("\n")
    whole = [line + "\n" for line in lines[:-1]]
    return [*whole, lines[-1] + "\n\\ No newline at end of file\n"] if lines[-1] else whole


def _with_offset(line: str, offset: int) -> str:
    if not line.startswith("@@ "):
        return line
    _, old, new, _ = line.split(" ", 3)
    return f"@@ {_shift(old, offset)} {_shift(new, offset)} @@\n"


def _shift(span: str, offset: int) -> str:
    start, comma, count = span[1:].partition(",")
    return f"{span[0]}{int(start) + offset}{comma}{count}"
