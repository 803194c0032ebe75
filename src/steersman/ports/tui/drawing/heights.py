"""How high the blocks of a long list are, and which of them is at a line: both in few steps.

A tree of sums (Fenwick's): a thread of a hundred thousand blocks answers as quickly as one of ten.
"""


class Heights:
    """Heights in order. Places count from 0."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]  # from 1 on: the sum of a run of heights that ends there

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, place: int) -> int:
        return self._heights[place]

    @property
    def total(self) -> int:
        """All of them together."""
        return self.before(len(self._heights))

    def append(self, height: int) -> None:
        """One more at the end."""
        self._heights.append(height)
        at = len(self._heights)
        total, below, end = height, at - 1, at - (at & -at)
        while below > end:
            total += self._tree[below]
            below -= below & -below
        self._tree.append(total)

    def truncate(self, count: int) -> None:
        """Keep only the first ones."""
        del self._heights[count:]
        del self._tree[count + 1 :]

    def set(self, place: int, height: int) -> int:
        """Change one; the answer is by how much."""
        by = height - self._heights[place]
        if by:
            self._heights[place] = height
            at = place + 1
            while at < len(self._tree):
                self._tree[at] += by
                at += at & -at
        return by

    def before(self, place: int) -> int:
        """The sum of all before a place: the line at which it begins."""
        total = 0
        while place:
            total += self._tree[place]
            place -= place & -place
        return total

    def at(self, line: int) -> tuple[int, int]:
        """The place that has a line, and which line of it that is; the end when there is none."""
        place, step = 0, 1 << len(self._heights).bit_length()
        while step:
            further = place + step
            if further < len(self._tree) and self._tree[further] <= line:
                place, line = further, line - self._tree[further]
            step >>= 1
        return place, line
