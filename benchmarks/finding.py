"""What finding costs on a tree of 50,000 files, against plain `rg` in the same run; and a page of
a 2 GB file, in memory."""

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from benchmarks.measure import PYTHON, Figure
from steersman.operations.finding.program import ripgrep
from steersman.operations.tool import Plan
from steersman.operations.tools.list_files import ListFiles, ListFilesArgs
from steersman.operations.tools.search_files import SearchFiles, SearchFilesArgs
from steersman.operations.workspace import Workspace
from steersman.records.action import List, Search

FILES = 50_000
RUNS = 9
LARGE = 2 << 30
PAGE = """
import sys
from steersman.operations.finding import reading
with open(sys.argv[1], "rb") as file:
    shape = reading.shape(file.read(reading.HEAD))
    page = reading.page(reading.pieces(file, shape), int(sys.argv[2]), 2000)
assert page.lines
with open("/proc/self/status") as status:
    peak = next(line for line in status if line.startswith("VmHWM:"))
print(int(peak.split()[1]) / 1024)
"""


def figures() -> list[Figure]:
    """Search and list against `rg`, in turn; the memory of a child that reads a large file."""
    with TemporaryDirectory(prefix="steersman-bench-") as name:
        root = os.path.realpath(name)
        _plant(Path(root))
        rg = ripgrep(os.environ, root)
        if rg is None:
            raise SystemExit("there is no ripgrep to measure against")
        common = [rg, "--no-config", "--hidden", "--crlf", "--glob", "!.git"]
        rare = _ratio(
            [*common, "--line-number", "--fixed-strings", "-e", "needle", "--", "./"],
            root,
            lambda: SearchFiles().perform(Plan(SearchFilesArgs(query="needle")), _bench(root)),
        )
        common_word = _ratio(
            [*common, "--line-number", "--fixed-strings", "-e", "value", "--", "./"],
            root,
            lambda: SearchFiles().perform(Plan(SearchFilesArgs(query="value")), _bench(root)),
        )
        listed = _ratio(
            [*common, "--files", "--", "./"],
            root,
            lambda: ListFiles().perform(Plan(ListFilesArgs()), _bench(root)),
        )
        memory = _memory(Path(root) / "large.txt")
    return [
        Figure("search for a rare text in 50,000 files, against `rg`", rare, 1.3, "×"),
        Figure("search for a text in all 50,000 files, against `rg`", common_word, 1.3, "×"),
        Figure("list of 50,000 files, against `rg --files`", listed, 2, "×"),
        Figure("memory to read a page at the end of a 2 GB file", memory, 100, "MB"),
    ]


def _plant(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    for number in range(FILES):
        folder = root / f"part{number // 1000:02}" / f"unit{number // 50 % 20:02}"
        if number % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        rare = "# the needle\n" if number % 1000 == 7 else ""
        lines = "".join(f"def work_{n}(value):\n    return value + {n}\n" for n in range(20))
        (folder / f"module_{number}.py").write_text(lines + rare)


def _bench(root: str) -> Any:
    return SimpleNamespace(workspace=Workspace(root, [List(root), Search(root, "")]))


def _ratio(command: list[str], cwd: str, ours: Callable[[], Awaitable[Any]]) -> float:
    """The tool's median time against the program's, measured in turn."""

    async def measure() -> float:
        await ours()
        own, plain = [], []
        for _ in range(RUNS):
            started = time.perf_counter()
            await ours()
            own.append(time.perf_counter() - started)
            started = time.perf_counter()
            await asyncio.to_thread(_run, command, cwd)
            plain.append(time.perf_counter() - started)
        return median(own) / median(plain)

    return asyncio.run(measure())


def _run(command: list[str], cwd: str) -> None:
    subprocess.run(command, cwd=cwd, capture_output=True, check=True)


def _memory(path: Path) -> float:
    """Peak memory, in MB, of a process that reads the last lines of a large file."""
    lines = 500_000
    with path.open("wb") as file:
        file.writelines(b"line %d of many\n" % number for number in range(lines))
        file.truncate(LARGE)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    command = [PYTHON, "-c", PAGE, str(path), str(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)
