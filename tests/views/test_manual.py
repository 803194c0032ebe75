"""The manual: its topics, a page as it is read, and that a wheel has all of it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from steersman.records.errors import UsageProblem
from steersman.views.manual import Topic, find, listing, page, topics

ROOT = Path(__file__).parents[2]


def test_every_page_is_a_topic_and_those_that_one_reads_first_are_in_front():
    names = [name for name, _ in listing()]
    assert names[:2] == ["readme", "terminal"]
    assert set(names) == {"readme", *(page.stem for page in ROOT.glob("docs/*.md"))}
    assert all(title for _, title in listing())


@pytest.mark.parametrize(
    ("said", "name"),
    [("undo", "undo"), ("UNDO.md", "undo"), ("term", "terminal"), ("mcp", "mcp")],
)
def test_a_topic_is_found_by_its_name_or_its_beginning(said, name):
    assert find(said).name == name


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("terminel", "`steer docs terminal`"),
        ("s", "`steer docs s"),
        ("keys", "`steer docs terminal`"),
        ("xyzzy", ""),
    ],
    ids=["misspelt", "several begin so", "a heading", "nothing like it"],
)
def test_a_wrong_topic_is_answered_with_the_nearest(said, meant):
    with pytest.raises(UsageProblem) as problem:
        find(said)
    assert f"“{said}”" in problem.value.what
    assert (f"Did you mean {meant}" in problem.value.why) if meant else not problem.value.why
    assert problem.value.try_this == "`steer docs` lists the topics."


def test_a_page_has_no_pictures_and_names_the_topics_that_it_links_to():
    text = (
        "# Short\n\n![seen](docs/pictures/a.svg)\n\nSee [the way back](undo.md#plans), "
        "[short](short.md), [a file](LICENSE) and [a site](https://example.org).\n"
    )
    assert page(Topic("short", "Short", text)) == (
        "# Short\n\n\nSee the way back, short, a file and [a site](https://example.org).\n\n"
        "See also: `steer docs undo`\n"
    )


def test_a_wheel_shows_the_same_manual_as_the_checkout(tmp_path, environ):
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    shown = subprocess.run(
        [sys.executable, "-c", "from steersman.views import manual; print(manual.PACKAGE);"
         "print(*(one.name + one.text for one in manual.topics()), sep='')"],
        cwd=tmp_path, env={**environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    expected = "".join(one.name + one.text for one in topics())
    assert shown == f"{os.path.realpath(tmp_path)}/site/steersman\n{expected}\n"
