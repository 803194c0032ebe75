"""The labelled commands: rates per family, averaged over families, held to the promised limits.

`more_cases.jsonl` lies next to this module. `guard_cases.jsonl` is read from the folder in
`STEERSMAN_EXAM_DIR`, or from `shared/data` beside the repository, where there is one.
"""

import json
import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.governance.guard.kit import WORD, verdict

HERE = Path(__file__).parent
EXAM = Path(os.environ.get("STEERSMAN_EXAM_DIR") or HERE.parents[3] / "shared" / "data")
FILES = [HERE / "more_cases.jsonl", *sorted(EXAM.glob("guard_cases*.jsonl"))]


def rates(path):
    table = defaultdict(Counter)
    for line in path.read_text().splitlines():
        case = json.loads(line)
        table[case["family"], case["label"]][verdict(case["cmd"])] += 1

    def rate(label, got):
        shares = [c[got] / c.total() for (_, name), c in table.items() if name == label]
        return 100 * sum(shares) / len(shares)

    return rate


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.exists()], ids=lambda path: path.name
)
def test_the_rates_hold(path):
    rate = rates(path)
    assert rate("block", "allow") < 1
    assert rate("safe", "block") < 1
    assert rate("safe", "ask") < 5
    assert rate("block", "block") >= 90
    assert rate("ask", WORD["ask"]) >= 90
