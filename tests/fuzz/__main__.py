"""Plays rounds by their seeds: `python -m tests.fuzz SEED [SEED …] [--broken HOLE]`."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence

from tests.fuzz.plan import MACHINES, Entry, Plan, Step
from tests.fuzz.playing import judged, wrong_with

WARM = (Step("edit", "new/made"), Step("foreground", "rm a"), Step("background", "mkfifo b"))


def main(arguments: Sequence[str]) -> int:
    """Play and print; 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seeds", nargs="+", help="a seed, or FIRST-LAST")
    parser.add_argument("--broken", default="", help="put an old hole back: see holes.py")
    parser.add_argument("--first", action="store_true", help="stop at the first that fails")
    parser.add_argument("--user", type=int, help="become this user first; needs root")
    given = parser.parse_args(arguments)
    if given.user is not None:
        become(given.user)
    if given.broken:
        from tests.fuzz.holes import HOLES

        HOLES[given.broken]()
    failed = 0
    for seed in _seeds(given.seeds):
        began = time.monotonic()
        verdict = judged(seed, given.broken, shrink=not given.first)
        print(f"{verdict.line} ({time.monotonic() - began:.1f} s)", flush=True)
        failed += bool(verdict.wrong)
        if failed and given.first:
            break
    print(f"{failed} failed")
    return 1 if failed else 0


def become(user: int) -> None:
    """Give up root's rights, once everything is imported that this user may be unable to read."""
    for machine in MACHINES:
        wrong_with(Plan(0, machine, "allow", (Entry(b"a", "file", b"a\n"),), WARM))
    folder = tempfile.mkdtemp(prefix="steersman-fuzz-", dir="/var/cache")
    os.chown(folder, user, user)
    os.environ["FUZZ_FOLDER"] = os.environ["HOME"] = folder
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        shutil.rmtree(folder)
        sys.exit(code)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    if not os.access(sys.executable, os.X_OK):
        sys.executable = shutil.which("python3") or sys.executable


def _seeds(words: Sequence[str]) -> list[int]:
    found: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
