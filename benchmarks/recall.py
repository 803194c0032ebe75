"""How often the files of a change are among the first ten for a question about it.

40 questions with known files (`recall.jsonl`): 28 say what a patch of a Debian package is about, in
words of our own, and name the files it changes; 12 are subjects of commits of this repository.
Trees are source distributions from PyPI (in the user's cache folder), and this repository before
each commit. Constants were chosen by every second question (`tuned`); results of the others
(`held`) were seen too, but not counted in that. Not among the default subjects:
`python -m benchmarks recall`.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec import json as decoding

from benchmarks.measure import Figure
from benchmarks.ranking import CACHE, MAP, aider, python_files
from steersman.operations.code.index.answering import Asked, ranked
from steersman.operations.code.index.terms import EMPTY
from steersman.operations.code.index.upkeep import Records
from steersman.operations.code.index.walk import listed
from steersman.operations.finding.program import ripgrep

REPOSITORY = Path(__file__).parents[1]
QUESTIONS = Path(__file__).with_name("recall.jsonl")
FIRST = 10


class Case(Struct, frozen=True):
    """A question about a tree, and the files that a change for it touched."""

    tree: str
    question: str
    files: tuple[str, ...]
    source: str
    part: str


Orders = dict[str, list[str]]
Finder = Callable[[Path, Sequence[str]], Orders]


def figures() -> list[Figure]:
    """Recall of everyone over all questions; the figures are how far others are from ours."""
    cases = [decoding.decode(line, type=Case) for line in QUESTIONS.read_bytes().splitlines()]
    found: dict[str, dict[Case, list[str]]] = {name: {} for name in FINDERS}
    for tree in dict.fromkeys(case.tree for case in cases):
        some = [case for case in cases if case.tree == tree]
        with TemporaryDirectory(prefix="steersman-bench-") as name:
            try:
                folder = _planted(tree, Path(name))
            except (OSError, subprocess.SubprocessError) as error:
                print(f"{tree} is left out: {error}", file=sys.stderr)
                continue
            for finder, find in FINDERS.items():
                orders = find(folder, [case.question for case in some])
                found[finder] |= {case: orders[case.question] for case in some}
    print(_table(found), flush=True)
    ours, rg, peer = (_recall(found[name]) for name in FINDERS)
    note = f"{ours:.2f}; {len(found['steer'])} questions"
    return [
        Figure("recall@10 of ripgrep against ours", rg / ours, 0.85, "×", f"{rg:.2f}, {note}"),
        Figure("recall@10 of aider's map against ours", peer / ours, 0.85, "×", f"{peer:.2f}"),
    ]


def _steer(folder: Path, questions: Sequence[str]) -> Orders:
    with TemporaryDirectory(prefix="steersman-bench-") as home:
        records = Records(str(folder), Path(home))
        records.update(asyncio.run(listed(str(folder), "", os.environ)))
        picture = records.picture()
        records.close()
    return {
        question: [picture.paths[one.file] for one in ranked(picture, Asked(question)).files]
        for question in questions
    }


def _rg(folder: Path, questions: Sequence[str]) -> Orders:
    """Files by how many of the question's words they have, then by how often."""
    rg = ripgrep(os.environ, str(folder))
    if rg is None:
        raise SystemExit("there is no ripgrep to measure against")
    orders = {}
    for question in questions:
        kinds: Counter[str] = Counter()
        hits: Counter[str] = Counter()
        for word in set(re.findall(r"\w{3,}", question.lower())) - EMPTY:
            line = [rg, "--no-config", "-i", "-F", "--count-matches", "-e", word, "--", "./"]
            done = subprocess.run(line, cwd=folder, capture_output=True, check=False)
            for row in done.stdout.decode("utf-8", "replace").splitlines():
                path, _, count = row.removeprefix("./").rpartition(":")
                kinds[path] += 1
                hits[path] += int(count)
        orders[question] = sorted(kinds, key=lambda path: (-kinds[path], -hits[path], path))
    return orders


def _aider(folder: Path, questions: Sequence[str]) -> Orders:
    """The map of the Python and C files, which are what the questions are about."""
    files = python_files(folder)
    files += sorted(str(p.relative_to(folder)) for p in folder.rglob("*.[ch]") if p.is_file())
    task = {"root": str(folder), "files": files, "questions": list(questions)}
    done = subprocess.run(
        [aider(), MAP], input=json.dumps(task), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"aider failed: {done.stderr[-2000:]}")
    return dict(zip(questions, json.loads(done.stdout), strict=True))


FINDERS: dict[str, Finder] = {"steer": _steer, "ripgrep": _rg, "aider": _aider}


def _planted(tree: str, folder: Path) -> Path:
    """The files of a tree, in a folder that is taken away afterwards."""
    target = folder / "tree"
    target.mkdir()
    kind, _, commit = tree.partition(":")
    if kind == "history":
        line = ["git", "-C", str(REPOSITORY), "archive", "--format=tar", f"{commit}^"]
        packed = folder / "tree.tar"
        with packed.open("wb") as file:
            subprocess.run(line, stdout=file, check=True)
    else:
        packed = _distribution(tree)
    with tarfile.open(packed) as archive:
        archive.extractall(target, filter="data")
    inside = list(target.iterdir())
    return Path(os.path.realpath(inside[0] if kind != "history" else target))


def _distribution(tree: str) -> Path:
    """The source distribution of a release, fetched once; pip also reads its metadata."""
    folder = CACHE / "recall" / tree
    if not list(folder.glob("*.tar.gz")):
        print(f"fetching {tree} …", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        line = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        line += ["--no-binary", ":all:", "--dest", str(folder), tree]
        subprocess.run(line, check=True)
    return next(folder.glob("*.tar.gz"))


def _recall(orders: Mapping[Case, Sequence[str]]) -> float:
    shares = [
        len({*order[:FIRST]} & {*case.files}) / len(case.files) for case, order in orders.items()
    ]
    return sum(shares) / max(len(shares), 1)


def _table(found: Mapping[str, Mapping[Case, Sequence[str]]]) -> str:
    parts: dict[str, Callable[[Case], bool]] = {
        "all": lambda case: True,
        "tuned on": lambda case: case.part == "tuned",
        "not tuned on": lambda case: case.part == "held",
        "packages": lambda case: not case.tree.startswith("history:"),
        "this repository": lambda case: case.tree.startswith("history:"),
    }
    lines = [f"| recall@{FIRST} | {' | '.join(parts)} |", "|---|" + "---|" * len(parts)]
    for name, orders in found.items():
        cells = [
            f"{_recall({case: order for case, order in orders.items() if chosen(case)}):.2f}"
            for chosen in parts.values()
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
