"""`model = "auto"`: by kept results, per kind of work, the cheapest of those that pass."""

from datetime import UTC, datetime, timedelta

import pytest

from steersman.intelligence.auto import kind_of, pick
from steersman.intelligence.benching.plot import png, svg
from steersman.intelligence.benching.results import keep, kept, newest, summary
from steersman.intelligence.models import Models
from steersman.records.bench import Result
from steersman.records.errors import UsageProblem

START = datetime(2026, 1, 2, tzinfo=UTC)


def result(model, kind, passed, cost=0.01, *, task="", minutes=0, seconds=1.0):
    time = START + timedelta(minutes=minutes)
    return Result(model, task or f"{kind}-1", kind, passed, time, cost=cost, seconds=seconds)


RESULTS = [
    result("dear:1", "bugfix", True, 0.50),
    result("dear:1", "feature", True, 0.50),
    result("cheap:1", "bugfix", True, 0.02),
    result("cheap:1", "feature", False, 0.02),
    result("unknown:1", "bugfix", True, None),
    result("half:1", "bugfix", True, 0.001),
    result("half:1", "bugfix", False, 0.001, task="bugfix-2"),
]


@pytest.fixture
def file(tmp_path):
    """A file of results."""
    for one in RESULTS:
        keep(tmp_path / "bench" / "models.jsonl", one)
    return tmp_path / "bench" / "models.jsonl"


@pytest.mark.parametrize(
    ("task", "model"),
    [
        ("Fix the crash in parse()", "cheap:1"),
        ("Add an option --wide to the listing", "dear:1"),
        ("Refactor the readers", "dear:1"),  # a kind nobody measured goes by all of them
    ],
)
def test_the_cheapest_that_passes_this_kind_of_work(file, task, model):
    assert pick(file, task) == model


def test_a_newer_result_counts_instead_of_an_older_one(file):
    keep(file, result("cheap:1", "bugfix", False, minutes=9))

    assert pick(file, "fix it") == "dear:1"
    assert len(newest(kept(file))) == len(RESULTS)


def test_what_was_cut_off_is_passed_over(file):
    with file.open("ab") as out:
        out.write(b'{"model": "x", "ta')

    assert kept(file) == RESULTS


def test_without_results_it_says_what_to_do(tmp_path, file):
    for where in (None, tmp_path / "none.jsonl"):
        with pytest.raises(UsageProblem) as told:
            Models({}, results=where).open("auto", task="fix it")
        assert told.value.what == "The model “auto” has no results to choose from."
        assert "steer bench models" in told.value.try_this


def test_auto_opens_what_it_picks(tmp_path, script):
    name = script({"text": "Hi."})
    keep(tmp_path / "r.jsonl", result(name, "bugfix", True))

    assert Models({}, results=tmp_path / "r.jsonl").open("auto", task="fix it").model == name


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        ("Why does the cache miss?", "question"),
        ("Explain how sessions end", "question"),
        ("What is wrong here? Fix it.", "bugfix"),
        ("The parser crashes on empty input", "bugfix"),
        ("Add tests for the parser", "tests"),
        ("calc.py has no tests yet", "tests"),
        ("Rename Foo to Bar everywhere", "refactor"),
        ("Support YAML input", "feature"),
        ("", "feature"),
    ],
)
def test_kinds_of_work(task, kind):
    assert kind_of(task) == kind


def test_the_summary_has_the_best_first_and_the_plot_all_of_it():
    rows = summary(RESULTS)

    assert [(row.model, row.passed, row.tried) for row in rows] == [
        ("dear:1", 2, 2), ("unknown:1", 1, 1), ("half:1", 1, 2), ("cheap:1", 1, 2),
    ]  # fmt: skip
    picture = svg(rows, "a < b & c")
    assert "a &lt; b &amp; c" in picture
    assert picture.count("unknown</text>") == 1


@pytest.mark.parametrize(("bytes_", "made"), [("\\211PNG\\r\\n\\032\\n", True), ("oops", False)])
def test_a_png_is_made_where_a_program_can(tmp_path, monkeypatch, bytes_, made):
    program = tmp_path / "rsvg-convert"
    program.write_text(f"#!/bin/sh\nprintf '{bytes_}' > \"$2\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.svg").write_text(svg(summary(RESULTS), "all"))

    assert png(tmp_path / "a.svg") == (tmp_path / "a.png" if made else None)
