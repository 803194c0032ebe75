"""Which elements two sequences share, in order; bounded in time whatever it is given.

Common ends come off first; long sequences with few differences are solved by walking along them;
else elements that occur once on both sides anchor the rest, and small gaps are solved exactly.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

LARGE_GAP, FEW_CHANGES = 500, 24
CELLS = 4_000_000
GAP_CELLS = 400_000
MAX_DEPTH = 24

Items = Sequence[Hashable]


class Shared(Struct, frozen=True):
    """A run of equal elements: where it starts on either side, and how long it is."""

    left: int
    right: int
    size: int


class _Gap(Struct, frozen=True):
    left: int
    left_stop: int
    right: int
    right_stop: int
    depth: int


def shared_runs(left: Items, right: Items) -> list[Shared]:
    """The runs both sequences share, in order and not overlapping."""
    pairs: list[tuple[int, int]] = []
    budget = CELLS
    gaps = [_Gap(0, len(left), 0, len(right), 0)]
    while gaps:
        gap = _trim(left, right, gaps.pop(), pairs)
        if gap.left == gap.left_stop or gap.right == gap.right_stop:
            continue
        few = _few_changes(left, right, gap) if gap.depth == 0 else None
        if few is not None:
            pairs += few
            continue
        anchors = _anchors(left, right, gap) if gap.depth < MAX_DEPTH else []
        if anchors:
            pairs += anchors
            gaps += _between(gap, anchors)
            continue
        solved, spent = _solve(left, right, gap, min(budget, GAP_CELLS))
        budget -= spent
        pairs += solved
    return _runs(sorted(pairs))


def counterparts(runs: Sequence[Shared], length: int) -> list[int | None]:
    """For each element on the right, the index of its equal on the left."""
    found: list[int | None] = [None] * length
    for run in runs:
        found[run.right : run.right + run.size] = range(run.left, run.left + run.size)
    return found


def gaps_between(runs: Sequence[Shared], left: int, right: int) -> Iterator[tuple[range, range]]:
    """What lies between the shared runs, on either side; never empty on both."""
    left_at = right_at = 0
    for run in [*runs, Shared(left, right, 0)]:
        if run.left > left_at or run.right > right_at:
            yield range(left_at, run.left), range(right_at, run.right)
        left_at, right_at = run.left + run.size, run.right + run.size


def common_prefix(left: Items, right: Items) -> int:
    """How many elements are equal from the start."""
    limit = min(len(left), len(right))
    return next((at for at in range(limit) if left[at] != right[at]), limit)


def common_suffix(left: Items, right: Items, limit: int) -> int:
    """How many elements are equal from the end, at most `limit`."""
    return next((at for at in range(limit) if left[-1 - at] != right[-1 - at]), limit)


def _trim(left: Items, right: Items, gap: _Gap, pairs: list[tuple[int, int]]) -> _Gap:
    first, stop, other, other_stop = gap.left, gap.left_stop, gap.right, gap.right_stop
    while first < stop and other < other_stop and left[first] == right[other]:
        pairs.append((first, other))
        first, other = first + 1, other + 1
    while first < stop and other < other_stop and left[stop - 1] == right[other_stop - 1]:
        stop, other_stop = stop - 1, other_stop - 1
        pairs.append((stop, other_stop))
    return _Gap(first, stop, other, other_stop, gap.depth)


def _few_changes(left: Items, right: Items, gap: _Gap) -> list[tuple[int, int]] | None:
    """The shared pairs of two long stretches that differ in a few elements only, else None."""
    rows, columns = gap.left_stop - gap.left, gap.right_stop - gap.right
    if min(rows, columns) < LARGE_GAP or abs(rows - columns) > FEW_CHANGES:
        return None
    reach = {1: 0}
    walked: list[dict[int, int]] = []
    for changes in range(FEW_CHANGES + 1):
        walked.append(dict(reach))
        for diagonal in range(-changes, changes + 1, 2):
            row = _step(reach, diagonal, changes)
            column = row - diagonal
            while (
                row < rows
                and column < columns
                and left[gap.left + row] == right[gap.right + column]
            ):
                row, column = row + 1, column + 1
            reach[diagonal] = row
            if row >= rows and column >= columns:
                return _retraced(walked, gap, rows, columns)
    return None


def _step(reach: dict[int, int], diagonal: int, changes: int) -> int:
    """The row reached on a diagonal by one more change, from the better neighbour."""
    down = diagonal == -changes or (
        diagonal != changes and reach[diagonal - 1] < reach[diagonal + 1]
    )
    return reach[diagonal + 1] if down else reach[diagonal - 1] + 1


def _retraced(
    walked: list[dict[int, int]], gap: _Gap, row: int, column: int
) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for changes in range(len(walked) - 1, -1, -1):
        diagonal = row - column
        entered = _step(walked[changes], diagonal, changes) if changes else 0
        while row > entered:
            row, column = row - 1, column - 1
            pairs.append((gap.left + row, gap.right + column))
        if changes:
            before = walked[changes]
            down = entered == before.get(diagonal + 1) and diagonal != changes
            row, column = (row, column - 1) if down else (row - 1, column)
    return pairs


def _once(items: Items, first: int, stop: int) -> dict[Hashable, int]:
    window = items[first:stop]
    counts = Counter(window)
    return {item: first + at for at, item in enumerate(window) if counts[item] == 1}


def _anchors(left: Items, right: Items, gap: _Gap) -> list[tuple[int, int]]:
    on_left = _once(left, gap.left, gap.left_stop)
    on_right = _once(right, gap.right, gap.right_stop)
    pairs = [(at, on_right[item]) for item, at in on_left.items() if item in on_right]
    return _longest_rising(pairs)


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    tails: list[int] = []
    tail_at: list[int] = []
    before: list[int] = []
    for at, (_, right) in enumerate(pairs):
        place = bisect_left(tails, right)
        before.append(tail_at[place - 1] if place else -1)
        tails[place : place + 1] = [right]
        tail_at[place : place + 1] = [at]
    chain: list[tuple[int, int]] = []
    at = tail_at[-1] if tail_at else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _between(gap: _Gap, anchors: list[tuple[int, int]]) -> Iterator[_Gap]:
    left, right = gap.left, gap.right
    for anchor_left, anchor_right in [*anchors, (gap.left_stop, gap.right_stop)]:
        if anchor_left > left and anchor_right > right:
            yield _Gap(left, anchor_left, right, anchor_right, gap.depth + 1)
        left, right = anchor_left + 1, anchor_right + 1


def _solve(left: Items, right: Items, gap: _Gap, cells: int) -> tuple[list[tuple[int, int]], int]:
    """The longest common subsequence of a gap, or nothing when the gap is too large for it."""
    in_both = set(left[gap.left : gap.left_stop]) & set(right[gap.right : gap.right_stop])
    rows = [at for at in range(gap.left, gap.left_stop) if left[at] in in_both]
    columns = [at for at in range(gap.right, gap.right_stop) if right[at] in in_both]
    size = len(rows) * len(columns)
    if not size or size > cells:
        return [], 0
    table = [[0] * (len(columns) + 1)]
    for row in reversed(rows):
        below = table[-1]
        line = [0] * (len(columns) + 1)
        for at in range(len(columns) - 1, -1, -1):
            same = left[row] == right[columns[at]]
            line[at] = below[at + 1] + 1 if same else max(below[at], line[at + 1])
        table.append(line)
    table.reverse()
    return _walk(left, right, rows, columns, table), size


def _walk(
    left: Items, right: Items, rows: list[int], columns: list[int], table: list[list[int]]
) -> list[tuple[int, int]]:
    pairs = []
    row = column = 0
    while row < len(rows) and column < len(columns):
        if left[rows[row]] == right[columns[column]]:
            pairs.append((rows[row], columns[column]))
            row, column = row + 1, column + 1
        elif table[row + 1][column] >= table[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _runs(pairs: list[tuple[int, int]]) -> list[Shared]:
    runs: list[Shared] = []
    first, size = (0, 0), 0
    for left, right in pairs:
        if size and (left, right) == (first[0] + size, first[1] + size):
            size += 1
            continue
        if size:
            runs.append(Shared(*first, size))
        first, size = (left, right), 1
    if size:
        runs.append(Shared(*first, size))
    return runs
