"""`steer bench models`: what is tried, what counts as passed, what is kept, and `auto`."""

import json
from xml.etree import ElementTree

import pytest

from steersman.intelligence.auto import kind_of
from steersman.intelligence.benching.tasks import KINDS, tasks, verdict
from tests.cli.bench_solutions import idler, solver
from tests.cli.kit import decoded


@pytest.fixture
def models(tmp_path):
    """One that does the work and one that only says so."""
    return solver(tmp_path / "good"), idler(tmp_path / "idle")


def test_every_task_can_be_solved_and_none_passes_untouched(steer, models, home):
    good, idle = models

    done = steer("bench", "models", "--models", f"{good},{idle}", "--json")

    assert done.returncode == 0, done.stderr
    found = decoded(done.stdout)
    assert [(r["task"], r["passed"], r.get("why", "")) for r in found if r["model"] == good] == [
        (task.name, True, "") for task in tasks()
    ]
    idled = [result for result in found if result["model"] == idle]
    assert [result["passed"] for result in idled] == [False] * len(tasks())
    assert all(result["why"] for result in idled)
    assert {result["kind"] for result in found} == set(KINDS)
    kept = (home / "bench" / "models.jsonl").read_text()
    assert decoded(kept) == found
    picture = ElementTree.parse(home / "bench" / "models.svg")
    words = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert {"100%", "0%", "tasks passed", "dollars a task"} <= set(words)


def test_the_table_tells_the_best_first(steer, models):
    good, idle = models

    done = steer("bench", "models", "--models", f"{idle},{good}", "--tasks", "question")

    rows = done.stdout.splitlines()
    head = next(n for n, row in enumerate(rows) if row.startswith("model"))
    assert rows[head].split() == [
        "model", "passed", "seconds", "first", "token", "input", "cached", "output", "cost",
    ]  # fmt: skip
    assert ["1/1" in rows[head + 1], "0/1" in rows[head + 2]] == [True, True]
    assert "Drew" in done.stdout
    again = steer("bench", "results", "--json")
    assert [r["passed"] for r in decoded(again.stdout)] == [False, True]


def test_the_folders_are_kept_when_asked_and_checks_never_reach_the_model(steer, models, tmp_path):
    good, _ = models
    place = tmp_path / "kept"

    done = steer("bench", "models", "--models", good, "--tasks", "bugfix-intervals", "--keep",
                 str(place), "--json")  # fmt: skip

    folder = place / "0-bugfix-intervals"
    assert "sorted(spans)" in (folder / "hours.py").read_text()
    thread = decoded(done.stdout)[0]["thread"]
    log = [
        json.loads(line) for line in steer("ledger", "show", thread, "--json").stdout.splitlines()
    ]
    ends = next(n for n, message in enumerate(log) if message["kind"] == "turn_end")
    assert not any("check_" in json.dumps(message) for message in log[:ends])
    assert any("check_" in json.dumps(message) for message in log[ends:])


def test_a_model_that_cannot_be_opened_is_left_out(steer, models):
    good, _ = models

    done = steer("bench", "models", "--models", f"nobody:x,{good}", "--tasks", "question", "--json")

    assert done.returncode == 0
    assert "There is no provider “nobody”." in done.stderr
    assert [result["model"] for result in decoded(done.stdout)] == [good]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--models", "m", "--tasks", "cooking"], "There is no task “cooking”."),
        ([], "No model is configured."),
    ],
)
def test_what_cannot_be_tried(steer, arguments, says):
    done = steer("bench", "models", *arguments)

    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.name)
def test_the_kind_of_a_task_is_known_by_its_words(task):
    assert kind_of(task.text) == task.kind


@pytest.mark.parametrize(
    ("code", "output", "passed"),
    [
        (0, "..\n----\nRan 2 tests in 0.001s\n\nOK\n", True),
        (0, "", False),
        (0, "Ran 0 tests in 0.000s\n\nOK\n", False),
        (0, "Ran 2 tests in 0.001s\n\nOK\nbye\n", False),
        (1, "FAIL: test_a (check.A.test_a)\nRan 2 tests in 0.001s\n\nFAILED (failures=1)", False),
        (None, "", False),
    ],
)
def test_checks_have_passed_when_they_ran_and_said_so(code, output, passed):
    assert verdict(code, output)[0] is passed
