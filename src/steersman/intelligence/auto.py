"""`model = "auto"`: the model that did this kind of work best when it was last measured."""

import re
from collections.abc import Iterable
from pathlib import Path

from steersman.intelligence.benching.results import kept, newest, summary
from steersman.records.bench import Kind, Result, Row
from steersman.records.errors import UsageProblem

_QUESTION = re.compile(
    r"^\W*(why|how|what|where|which|when|who|after|explain|describe|is|are|does|do|can)\b", re.I
)
_ORDER = re.compile(
    r"\b(fix|mend|implement|add|write|refactor|correct|rename|remove|make it)\b", re.I
)
# The first kind with a word in the task counts; the order is that of how telling the words are.
_WORDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "refactor",
        re.compile(
            r"\b(refactor\w*|clean up|simplif\w+|extract|renam\w+|duplicat\w+|restructur\w+|"
            r"the same code|in one place|common function)\b",
            re.I,
        ),
    ),
    ("tests", re.compile(r"\b(write|add|more|missing|no)\b[^.]*\btests?\b", re.I)),
    (
        "bugfix",
        re.compile(
            r"\b(bugs?|fix\w*|mend|repair|broken|wrong|fails?|failing|fault|crash\w*|error|"
            r"exception|regression|complain\w*|does ?n['o]t work)\b",
            re.I,
        ),
    ),
)


def kind_of(task: str) -> Kind:
    """What kind of work a task is, by its words; new features when nothing decides."""
    if _QUESTION.match(task) and not _ORDER.search(task):
        return "question"
    return next((kind for kind, words in _WORDS if words.search(task)), "feature")


def pick(results: Path | None, task: str) -> str:
    """The name of the model for a task."""
    found = newest(kept(results)) if results is not None else []
    kind = kind_of(task)
    best = best_for(found, kind)
    if best is None:
        raise UsageProblem(
            "The model “auto” has no results to choose from.",
            "No results of `steer bench models` are kept." if not found else "No model passed any.",
            "Run `steer bench models --models A,B`, or name a model.",
        )
    return best.model


def best_for(results: Iterable[Result], kind: Kind) -> Row | None:
    """The cheapest of the models that pass most of a kind; where none does, of all kinds."""
    found = list(results)
    for some in ([result for result in found if result.kind == kind], found):
        rows = [row for row in summary(some) if row.passed]
        if rows:
            return rows[0]
    return None
