"""Random commands over random trees: nothing outside changes, nothing protected changes unasked,
secrets are not read, and undo gives the tree back.

A few seeds here, two thousand with `make soak`. A round that fails prints its seed and the fewest
commands with which it does.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.holes import HOLES
from tests.fuzz.playing import judged

FEW = [range(first, first + 6) for first in range(1, 25, 6)]
MANY = [range(first, first + 50) for first in range(1, 2001, 50)]
ORDINARY = ("--user", "1000")
PATIENCE = 280
# Holes that a round of the given seed shows at once; all others show among the first.
CHEAP = {
    "powers kept": 1,
    "nothing protected": 1,
    "secrets shown": 1,
    "background on the folder": 15,
}
ENOUGH = 150


@pytest.mark.parametrize("seeds", FEW, ids=str)
def test_rounds(seeds):
    assert [verdict.line for verdict in map(judged, seeds) if verdict.wrong] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_rounds_of_an_ordinary_user():
    assert_fine(played("1601-1604", *ORDINARY))


@pytest.mark.soak
@pytest.mark.parametrize("seeds", MANY, ids=str)
def test_many_rounds(seeds):
    who = ORDINARY if seeds.start > 1500 and os.geteuid() == 0 else ()
    assert_fine(played(f"{seeds.start}-{seeds.stop - 1}", *who))


@pytest.mark.parametrize("hole", CHEAP)
def test_an_old_hole_is_found(hole):
    assert_found(hole)


@pytest.mark.soak
@pytest.mark.parametrize("hole", [hole for hole in HOLES if hole not in CHEAP])
def test_any_old_hole_is_found(hole):
    assert_found(hole)


def played(*words):
    """Rounds in a process of their own."""
    line = [sys.executable, "-m", "tests.fuzz", *words]
    return subprocess.run(
        line, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip


def assert_fine(done):
    """No round failed; otherwise which, and how to see it again."""
    assert done.returncode == 0, done.stdout + done.stderr


def assert_found(hole):
    """A round fails, by its judgement, in a product that has the hole."""
    first = CHEAP.get(hole, 1)
    done = played(f"{first}-{first + ENOUGH}", "--first", "--broken", hole)
    assert done.stdout.endswith("1 failed\n"), done.stdout + done.stderr
