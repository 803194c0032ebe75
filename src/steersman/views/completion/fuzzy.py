"""Fuzzy matching: which of many paths are meant by a few letters, the likeliest first. Pure.

A path matches when it has the letters in their order. Comparing 50,000 paths one by one would take
too long between two keys, so likely ones are looked up in joined texts first (beginnings of names,
initials, parts), and only when these are few is every path with the right letters tried. A search
works in short slices, so whoever waits for keys can look at them in between.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import compress, islice

from msgspec import Struct

LIMIT = 50  # how many are offered
ENOUGH = 100  # likely ones that make looking for others needless
SLICE = 4_000  # paths tried in one go, about 2 ms
_CHUNK = 500
_USUAL = "abcdefghijklmnopqrstuvwxyz0123456789._-/"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_INNER = re.compile(r"(?<![\n/_\-. ])[^\n]|[/_\-. ]")
_STARTS = frozenset("/_-. ")


class Match(Struct, frozen=True):
    """A path that may be meant; `positions` are the letters that made it so."""

    text: str
    score: int
    positions: tuple[int, ...]


def fold(text: str) -> str:
    """Small letters, as many as there were letters."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


class _Lines:
    """Many short texts as one, in which a part is found without looking at each."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.text = "\n" + "".join([f"{line}\n" for line in lines])
        self._starts: list[int] = []
        at = 1
        for line in lines:
            self._starts.append(at)
            at += len(line) + 1
        self._starts.append(at)

    def having(self, part: str) -> Iterator[int]:
        """The numbers of the lines with a part; one that begins with a line break is at a start."""
        find, starts = self.text.find, self._starts
        at = find(part)
        while at >= 0:
            line = bisect_right(starts, at + (part[0] == "\n")) - 1
            yield line
            at = find(part, starts[line + 1] - 1)


class Index:
    """Paths made ready. Folders end with a slash; of equal matches, the higher up comes first."""

    def __init__(self, paths: Sequence[str]) -> None:
        ordered = _by_depth(paths)
        self.paths: tuple[str, ...] = tuple(ordered)
        self.folded: list[str] = []
        initials: list[str] = []
        letters: dict[str, list[bytes]] = {char: [] for char in _USUAL}
        # In chunks, so that a screen that shares the interpreter keeps moving.
        for start in range(0, len(ordered), _CHUNK):
            chunk = ordered[start : start + _CHUNK]
            low = [fold(path) for path in chunk]
            self.folded += low
            humps = _HUMP.sub("_", "\n" + "\n".join(chunk))
            initials += fold(_INNER.sub("", humps))[1:].split("\n")
            for char, known in letters.items():
                known.append(bytes([char in path for path in low]))
        self._having = {
            char: int.from_bytes(b"".join(known), "little") for char, known in letters.items()
        }
        self._whole = _Lines(self.folded)
        self._names = _Lines([path[name_start(path) :] for path in self.folded])
        self._initials = _Lines(initials)

    def __len__(self) -> int:
        return len(self.paths)

    def likely(self, query: str) -> Iterator[Iterator[int]]:
        """Numbers of paths that have the letters together, the likeliest kinds first."""
        if "/" in query:
            yield self._whole.having("\n" + query)
            yield self._whole.having(query)
            return
        # A folder is a name, too, so letters that are together anywhere are so in a name.
        together = query in self._names.text
        if together:
            yield self._names.having("\n" + query)
        yield self._initials.having("\n" + query)
        if together:
            yield self._names.having(query)
        yield self._initials.having(query)

    def possible(self, query: str) -> list[int]:
        """Numbers of the paths that have all the letters, in whatever order."""
        size = len(self.paths)
        wanted = [self._having[char] for char in set(query) if char in self._having]
        if not wanted:
            return list(range(size))
        common = wanted[0]
        for other in wanted[1:]:
            common &= other
        return list(compress(range(size), common.to_bytes(size, "little")))


class Search:
    """One look for a few letters. `work` until it says that it is done; `found` at any time."""

    def __init__(self, index: Index, query: str, limit: int = LIMIT) -> None:
        self._index = index
        self._query = fold(query)
        self._typed = query
        self._limit = limit
        self._pool: dict[int, None] = {}
        self._scored: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._begun = False
        self._left: Iterator[int] | None = None

    def work(self) -> bool:
        """A slice of the work; True when there is no more."""
        if not self._query or not len(self._index):
            self._pool = dict.fromkeys(range(min(self._limit, len(self._index))))
            return True
        if "\n" in self._query:
            return True
        enough = max(ENOUGH, self._limit)
        if not self._begun:
            self._begun = True
            for kind in self._index.likely(self._query):
                self._pool.update(dict.fromkeys(islice(kind, enough)))
                if len(self._pool) >= 3 * enough:
                    break
            return len(self._pool) >= enough
        if self._left is None:
            self._left = iter(self._index.possible(self._query))
        some = list(islice(self._left, SLICE))
        folded = self._index.folded
        tried = map(_pattern(self._query).match, [folded[number] for number in some])
        self._pool.update(dict.fromkeys(islice(compress(some, tried), enough)))
        return len(some) < SLICE or len(self._pool) >= 2 * enough

    def found(self) -> list[Match]:
        """The best so far, the likeliest first; equals in the order of the index."""
        index, query = self._index, self._query
        if not query:
            return [Match(index.paths[number], 0, ()) for number in self._pool]
        for number in self._pool.keys() - self._scored.keys():
            folded, path = index.folded[number], index.paths[number]
            self._scored[number] = score(query, folded, path, self._typed)
        order = sorted(self._scored, key=lambda number: (-self._scored[number][0], number))
        best = order[: self._limit]
        return [Match(index.paths[number], *self._scored[number]) for number in best]


def find(index: Index, query: str, limit: int = LIMIT) -> list[Match]:
    """The paths that may be meant, looked for to the end."""
    search = Search(index, query, limit)
    while not search.work():
        pass
    return search.found()


def rank(query: str, names: Sequence[str], limit: int = LIMIT) -> list[Match]:
    """The same for a few names, which need no index."""
    low = fold(query)
    matcher = _pattern(low)
    fitting = [name for name in names if matcher.match(fold(name))]
    scored = [Match(name, *score(low, fold(name), name, query)) for name in fitting]
    scored.sort(key=lambda match: (-match.score, len(match.text)))
    return scored[:limit]


def _by_depth(paths: Sequence[str]) -> list[str]:
    """What is higher up first, then what is shorter; sorted in small parts, for the same reason."""
    alike: dict[tuple[int, int], list[str]] = {}
    for path in paths:
        alike.setdefault((path.count("/", 0, -1), len(path)), []).append(path)
    return [path for size in sorted(alike) for path in sorted(alike[size])]


def name_start(path: str) -> int:
    """Where the last name of a path begins; the slash that marks a folder does not count."""
    return path.rfind("/", 0, -1) + 1


def _pattern(query: str) -> re.Pattern[str]:
    """The letters in their order; possessive, so a path is read once."""
    return re.compile("".join(f"[^{re.escape(c)}]*+{re.escape(c)}" for c in query))


def score(query: str, low: str, path: str, typed: str = "") -> tuple[int, tuple[int, ...]]:
    """How likely a path is meant, and by which letters; it must have them in their order."""
    if not query:
        return 0, ()
    name = name_start(low)
    at = low.find(query, name)
    if at < 0:
        at = low.find(query)
    if at >= 0:
        positions = tuple(range(at, at + len(query)))
        if not _starts_word(path, at) and (words := _by_words(query, low, path)):
            return max(_points(one, low, path, name, typed) for one in (positions, words))
        return _points(positions, low, path, name, typed)
    in_name, in_path = _by_words(query, low, path, name), _by_words(query, low, path)
    ways = filter(None, (_from_the_end(query, low), in_name, in_path))
    return max(_points(one, low, path, name, typed) for one in ways)


def _points(
    at: tuple[int, ...], low: str, path: str, name: int, typed: str
) -> tuple[int, tuple[int, ...]]:
    points = -min(at[-1] - at[0] + 1 - len(at), 20) - min(len(low) // 8, 10)
    before = -2
    for place in at:
        starts = _starts_word(path, place)
        points += 8 * starts + 6 * (place == before + 1) + 3 * (place >= name)
        before = place
    if at[0] == name:
        points += 10
        if at[-1] - at[0] + 1 == len(at):
            points += 20
            rest = low[at[-1] + 1 :]
            points += 20 if rest in ("", "/") else 10 * (rest[0] == ".")
    elif at[0] == 0 and at[-1] + 1 == len(at):
        points += 15
    if typed:
        points += sum(path[place] == char for place, char in zip(at, typed, strict=True))
    return points, at


def _starts_word(path: str, at: int) -> bool:
    if at == 0 or path[at - 1] in _STARTS:
        return True
    return path[at].isupper() and not path[at - 1].isupper()


def _from_the_end(query: str, low: str) -> tuple[int, ...]:
    """The letters as far back as they go: the last name counts most."""
    places: list[int] = []
    end = len(low)
    for char in reversed(query):
        end = low.rfind(char, 0, end)
        places.append(end)
    return tuple(reversed(places))


def _by_words(query: str, low: str, path: str, start: int = 0) -> tuple[int, ...]:
    """The letters at beginnings of words, or right after one another; empty if that cannot be."""
    places: list[int] = []
    at = start - 1
    for char in query:
        following = at + 1
        if places and following < len(low) and low[following] == char:
            at = following
        else:
            at = low.find(char, following)
            while at >= 0 and not _starts_word(path, at):
                at = low.find(char, at + 1)
        if at < 0:
            return ()
        places.append(at)
    return tuple(places)
