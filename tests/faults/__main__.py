"""Plays rounds by their seeds: `python -m tests.faults SEED [SEED …] [--store sqlite|postgres]`."""

import argparse
import sys
import time
from collections.abc import Sequence

from tests.faults.plan import plan_for
from tests.faults.playing import arena, judged


def main(arguments: Sequence[str]) -> int:
    """Play and print; 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("seeds", nargs="+", help="a seed, or FIRST-LAST")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--broken", default="", help="break the product: see inside/")
    given = parser.parse_args(arguments)
    failed = 0
    with arena(given.store) as ground_for:
        for seed in _seeds(given.seeds):
            began = time.monotonic()
            verdict = judged(plan_for(seed, given.store), ground_for, given.broken)
            print(f"{verdict.line} ({time.monotonic() - began:.1f} s)", flush=True)
            failed += bool(verdict.wrong)
    print(f"{failed} failed")
    return 1 if failed else 0


def _seeds(words: Sequence[str]) -> list[int]:
    found: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
