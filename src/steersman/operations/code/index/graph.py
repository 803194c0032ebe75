"""Which file leans on which, by the names they define and use; and who matters in that company.

All names that lead from one file to another make one edge. A walk that keeps coming back to the
files a question is about, and follows edges in between, finds the files around them: personalised
PageRank, by plain power iteration over arrays.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

DAMPING = 0.7
ROUNDS = 30
NEAR_ENOUGH = 5e-3
NEGLIGIBLE = 1e-6
MOST_EDGES = 32
# A name that more files define than this tells nothing about where it leads.
MOST_DEFINERS = 8
_MANY_DEFINERS = 5
_LONG_NAME = 8


class Graph(Struct, frozen=True):
    """Edges by source: those of file `n` are `targets[starts[n]:starts[n + 1]]`, with shares that
    sum to one."""

    starts: array[int]
    targets: array[int]
    shares: array[float]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def packed(self) -> bytes:
        """The graph as it is kept on disk."""
        return msgspec.msgpack.encode([part.tobytes() for part in astuple(self)])

    @classmethod
    def unpacked(cls, kept: bytes) -> Graph:
        """A graph that was kept."""
        graph = cls(array("l"), array("l"), array("d"))
        starts, targets, shares = msgspec.msgpack.decode(kept, type=tuple[bytes, bytes, bytes])
        graph.starts.frombytes(starts)
        graph.targets.frombytes(targets)
        graph.shares.frombytes(shares)
        return graph


def weight(name: str, definers: int) -> float:
    """How much a name says about where it leads."""
    said = 1.0
    if len(name) >= _LONG_NAME and ("_" in name.strip("_") or name.lower() != name):
        said *= 10
    if name.startswith("_"):
        said *= 0.1
    if definers > _MANY_DEFINERS:
        said *= 0.1
    return said / definers


def connect(
    files: int,
    defines: Mapping[str, Sequence[int]],
    uses: Iterable[tuple[int, Sequence[str], Sequence[int]]],
) -> Graph:
    """The graph of so many files; `uses` are a file, the names in it, and how often each."""
    known = {
        name: (definers, weight(name, len(definers)))
        for name, definers in defines.items()
        if len(definers) <= MOST_DEFINERS
    }
    entry_of = known.get
    leading: dict[int, dict[int, float]] = {}
    for file, names, counts in uses:
        edges: dict[int, float] = {}
        so_far = edges.get
        for entry, count in zip(map(entry_of, names), counts, strict=True):
            if entry is not None:
                definers, gain = entry
                if count > 1:
                    gain *= math.sqrt(count)
                for definer in definers:
                    edges[definer] = so_far(definer, 0.0) + gain
        edges.pop(file, None)
        leading[file] = edges
    return _packed(files, leading)


def _packed(files: int, leading: Mapping[int, Mapping[int, float]]) -> Graph:
    """Edges in arrays; of every file only the strongest are kept."""
    starts, targets, shares = array("l", [0]), array("l"), array("d")
    for file in range(files):
        edges = leading.get(file, {})
        kept: Iterable[int] = edges
        if len(edges) > MOST_EDGES:
            kept = sorted(edges, key=edges.__getitem__, reverse=True)[:MOST_EDGES]
        gains = [edges[target] for target in kept]
        whole = sum(gains)
        targets.extend(kept)
        shares.extend([gain / whole for gain in gains])
        starts.append(len(targets))
    return Graph(starts, targets, shares)


def rank(graph: Graph, wanted: Mapping[int, float]) -> array[float]:
    """Where a walk that begins, and begins again, at the wanted files is found; sums to one.

    Without wishes every file is wanted alike. Stops as soon as a round changes little.
    """
    files = len(graph)
    if not files:
        return array("d")
    home = _home(files, wanted)
    now = array("d", home)
    starts, targets, shares = graph.starts, graph.targets, graph.shares
    for _ in range(ROUNDS):
        after = array("d", bytes(8 * files))
        stranded = 0.0
        for file, mass in enumerate(now):
            if mass < NEGLIGIBLE:
                stranded += mass
                continue
            first, last = starts[file], starts[file + 1]
            if first == last:
                stranded += mass
                continue
            for target, share in zip(targets[first:last], shares[first:last], strict=True):
                after[target] += mass * share
        back = 1 - DAMPING + DAMPING * stranded
        change = 0.0
        for file in range(files):
            value = DAMPING * after[file] + back * home[file]
            change += abs(value - now[file])
            after[file] = value
        now = after
        if change < NEAR_ENOUGH:
            break
    return now


def _home(files: int, wanted: Mapping[int, float]) -> array[float]:
    total = sum(wanted.values())
    if total <= 0:
        return array("d", [1 / files] * files)
    home = array("d", bytes(8 * files))
    for file, wish in wanted.items():
        home[file] = wish / total
    return home
