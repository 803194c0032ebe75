"""Which of many paths are meant by a few letters."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steersman.views.completion.fuzzy import Index, Search, find, fold, rank

HOUSE = (
    "README.md",
    "docs/",
    "docs/settings.md",
    "src/",
    "src/steersman/",
    "src/steersman/host.py",
    "src/steersman/bus.py",
    "src/steersman/ports/tui/",
    "src/steersman/ports/tui/composer.py",
    "src/steersman/ports/tui/completion/fuzzy.py",
    "src/steersman/operations/workspace.py",
    "tests/tui/composer/test_composer.py",
    "tests/host/test_host.py",
    "web/HttpServerFactory.ts",
)


@pytest.mark.parametrize(
    ("letters", "first"),
    [
        ("", "src/"),  # what is higher up, then what is shorter
        ("host", "src/steersman/host.py"),
        ("host.py", "src/steersman/host.py"),
        ("comp", "src/steersman/ports/tui/composer.py"),
        ("tcomp", "tests/tui/composer/test_composer.py"),
        ("ttc", "tests/tui/composer/test_composer.py"),
        ("hsf", "web/HttpServerFactory.ts"),
        ("src/", "src/"),
        ("src/steersman/b", "src/steersman/bus.py"),
        ("REA", "README.md"),
        ("wrkspc", "src/steersman/operations/workspace.py"),
    ],
)
def test_the_likeliest_is_first(letters: str, first: str) -> None:
    assert find(Index(HOUSE), letters)[0].text == first


def test_what_does_not_have_the_letters_in_their_order_is_not_offered() -> None:
    assert find(Index(HOUSE), "zebra") == []
    assert find(Index(HOUSE), "yp.fuzzy") == []


def test_the_letters_that_match_are_told() -> None:
    match = find(Index(HOUSE), "fuzzy")[0]
    assert "".join(match.text[at] for at in match.positions) == "fuzzy"


def test_a_folder_is_followed_by_what_is_in_it() -> None:
    found = [match.text for match in find(Index(HOUSE), "docs/")]
    assert found[:2] == ["docs/", "docs/settings.md"]


def test_a_few_names_need_no_index() -> None:
    names = ["compact", "cost", "code", "export"]
    assert [match.text for match in rank("co", names)] == ["cost", "code", "compact"]
    assert [match.text for match in rank("", names)] == ["cost", "code", "export", "compact"]


paths = st.lists(
    st.text(st.sampled_from("abcdeAB/_.- İßß日é"), min_size=1, max_size=12),
    max_size=60,
    unique=True,
)
queries = st.text(st.sampled_from("abcdeAB/_.- İß日é\n[]^\\"), max_size=5)


def holds(letters: str, path: str) -> bool:
    """The plain meaning of a match."""
    rest = iter(fold(path))
    return all(char in rest for char in fold(letters))


@given(paths, queries)
@example(["ab", "ba"], "ab")
@settings(max_examples=150, deadline=None)
def test_exactly_what_has_the_letters_in_their_order_is_found(known: list[str], query: str) -> None:
    found = find(Index(known), query, limit=100)
    assert {match.text for match in found} == {path for path in known if holds(query, path)}


@given(paths, queries)
@settings(max_examples=100, deadline=None)
def test_the_order_is_the_same_however_the_paths_come(known: list[str], query: str) -> None:
    forwards = find(Index(known), query)
    assert forwards == find(Index(known[::-1]), query)
    assert all(one.score >= two.score for one, two in pairwise(forwards))


@given(paths, queries)
@settings(max_examples=100, deadline=None)
def test_positions_are_the_letters(known: list[str], query: str) -> None:
    for match in find(Index(known), query):
        assert "".join(fold(match.text)[at] for at in match.positions) == fold(query)
        assert all(one < two for one, two in pairwise(match.positions))


def test_many_paths_are_searched_in_slices() -> None:
    index = Index([f"part{n % 97}/unit{n % 13}/module_{n}.py" for n in range(20_000)])
    search, slices = Search(index, "ptl99y"), 1
    while not search.work():
        slices += 1
    assert slices > 1
    assert all(holds("ptl99y", match.text) for match in search.found())
    many = Search(index, "module")
    assert many.work()  # so many likely ones that no other is looked for
    assert len(many.found()) == 50
