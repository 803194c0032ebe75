"""What `@` costs between two keys in a folder of 50,000 files, in CPU time, against looking for the
letters with `in` in every path, which finds less; and what stands still while files are listed."""

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Figure
from steersman.views.completion.files import Files
from steersman.views.completion.fuzzy import Index, Search

FILES = 50_000
FOLDERS = 3_000
RUNS = 7
# Whole words, beginnings, initials, letters that are far apart, and what is nowhere.
TYPED = ("model", "handler_test.py", "srcpar", "mcfg", "tstparsjson", "tnesrx", "qqq")
WORDS = (
    "src", "lib", "core", "test", "util", "parser", "model", "view", "index", "main", "config",
    "data", "handler", "service", "widget", "button", "panel", "store", "bus", "message", "loop",
    "driver", "reading", "tree", "alpha", "beta", "gamma", "delta",
)  # fmt: skip


def figures() -> list[Figure]:
    """Every prefix of some words, typed; the slowest slice, and all the work of a key."""
    paths = _paths()
    index = Index(paths)
    queries = [word[:end] for word in TYPED for end in range(1, len(word) + 1)]
    slices, whole, plain = [], [], []
    for query in queries:
        slices.append(_least(partial(_slowest_slice, index, query)))
        whole.append(_least(partial(_all, index, query)))
        plain.append(_least(partial(_plain, index, query)))
    listing, stall = asyncio.run(_listing(paths))
    return [
        Figure("longest stop for a key after `@`, 50,000 files", max(slices), 10, "ms"),
        Figure("all the work for a key after `@`, middle", median(whole), 10, "ms"),
        Figure("… against `in` on every path", median(whole) / median(plain), 3, "×"),
        Figure("list and index 50,000 files", listing, 5, "s", "CPU, beside the screen"),
        Figure("longest stop of the screen meanwhile", stall, 100, "ms"),
    ]


def _paths() -> list[str]:
    random = Random(7)

    def word() -> str:
        return random.choice(WORDS) + random.choice(("", "s", f"_{random.choice(WORDS)}"))

    folders = ["/".join(word() for _ in range(random.randint(1, 6))) for _ in range(FOLDERS)]
    found: set[str] = set()
    while len(found) < FILES:
        name = f"{word()}_{word()}{random.randint(0, 99)}{random.choice(('.py', '.ts', '.json'))}"
        found.add(f"{random.choice(folders)}/{name}")
    return sorted(found)


def _least(measured: Callable[[], float]) -> float:
    return min(measured() for _ in range(RUNS))


def _slowest_slice(index: Index, query: str) -> float:
    """Milliseconds of the longest piece of work that a screen waits for."""
    search, longest, done = Search(index, query), 0.0, False
    while not done:
        started = time.thread_time()
        done = search.work()
        search.found()
        longest = max(longest, time.thread_time() - started)
    return longest * 1000


def _all(index: Index, query: str) -> float:
    started = time.thread_time()
    search = Search(index, query)
    while not search.work():
        pass
    search.found()
    return (time.thread_time() - started) * 1000


def _plain(index: Index, query: str) -> float:
    started = time.thread_time()
    [path for path in index.folded if query in path]
    return (time.thread_time() - started) * 1000


async def _listing(paths: list[str]) -> tuple[float, float]:
    """CPU seconds to list a real folder, and the longest that a loop beside it waited, in ms."""
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        for path in paths:
            place = Path(name, path)
            try:
                place.touch()
            except OSError:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        Path(name, ".git").mkdir()
        passes = [await _one_listing(name) for _ in range(3)]
        return min(took for took, _ in passes), min(stall for _, stall in passes)


async def _one_listing(folder: str) -> tuple[float, float]:
    files = Files(folder, os.environ)
    started = time.process_time()
    task = asyncio.create_task(files.refresh())
    longest, before = 0.0, time.perf_counter()
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    if len(files.index) < FILES:
        raise SystemExit("the folder was not listed")
    return time.process_time() - started, longest * 1000
