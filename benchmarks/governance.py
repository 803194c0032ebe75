"""The decision itself: how long it takes for each kind of action, with rules and without."""

import time

from benchmarks.measure import Figure
from steersman.governance.policy import Circumstances, Evidence, decide
from steersman.governance.rule import Rule
from steersman.governance.rules import RuleSet
from steersman.governance.secret_finder import Finder
from steersman.records.action import Action, Delete, Execute, Network, Read, Write
from steersman.records.judgement import Fact, Judgement

ROOT = "/srv/app"
SEEN = Judgement(
    "allow", "plain", "known", plain=True, facts=(Fact(("npm", "test")), Fact(("ls",)))
)
ACTIONS: list[tuple[Action, Judgement | None]] = [
    (Read("/srv/app/src/deep/er/calc.py"), None),
    (Write("/srv/app/src/calc.py", "a", "b"), None),
    (Delete("/srv/app/src/calc.py", "a", origin="command"), None),
    (Execute("npm test && ls", ROOT), SEEN),
    (Network("example.org", 443), None),
]
RULES = [
    Rule("a", "deny", command=("rm", "-rf")),
    Rule("b", "ask", path="migrations/"),
    Rule("c", "allow", command=("npm", "test")),
    Rule("d", "deny", domain="evil.example.org"),
    Rule("e", "allow", path="docs/"),
]
TIMES = 2000


def figures() -> list[Figure]:
    """CPU time of a decision, the mean over kinds of actions."""
    secret_files, _ = Finder(ROOT).find(deep=False)
    plain = Circumstances(ROOT, home="/home/me", secret_files=secret_files)
    ruled = Circumstances(
        ROOT, home="/home/me", secret_files=secret_files, rules=RuleSet(RULES, home="/home/me")
    )
    return [
        Figure("a decision, CPU", _each(plain), 50, "µs"),
        Figure("a decision with five rules, CPU", _each(ruled), 50, "µs"),
    ]


def _each(where: Circumstances) -> float:
    cases = [(action, Evidence("tool", seen)) for action, seen in ACTIONS]
    best = float("inf")
    for _ in range(5):
        started = time.process_time()
        for _ in range(TIMES):
            for action, evidence in cases:
                decide(action, where, evidence)
        best = min(best, time.process_time() - started)
    return 1e6 * best / (TIMES * len(cases))
