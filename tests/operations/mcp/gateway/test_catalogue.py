"""Tools are found by words, told in one line, and called by names every provider takes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.mcp.cache import Cache, Listing, digest
from steersman.operations.mcp.catalogue import (
    MOST_LISTING,
    first_sentence,
    rank,
    servers_in_short,
)
from steersman.records.mcp_server import Server
from tests.operations.mcp.gateway.kit import remote

TOOLS = [
    remote("create_issue", "Open an issue in a repository.", "github"),
    remote("list_issues", "List the issues of a repository. Newest first.", "github"),
    remote("searchCode", "Search for code in all repositories.", "github"),
    remote("query", "Run a read-only SQL query.", "postgres"),
    remote("browser_take_screenshot", "Take a picture of the page.", "playwright"),
]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ["create_issue", "list_issues", "searchCode", "query", "browser_take_screenshot"]),
        ("create an issue", ["create_issue", "list_issues"]),
        ("list issues", ["list_issues", "create_issue"]),
        ("search code", ["searchCode"]),
        ("SQL", ["query"]),
        ("postgres", ["query"]),
        ("screenshots", ["browser_take_screenshot"]),
        ("screens", ["browser_take_screenshot"]),
        ("database", ["query"]),
        ("weather forecast", []),
    ],
)
def test_tools_are_ranked_by_how_many_words_they_have_and_where(words, expected):
    abouts = {"postgres": "A database."}
    assert [tool.name for tool in rank(TOOLS, words, abouts)] == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Does this. And that.", "Does this."),
        ("Does this\n\nArgs:\n  x: y", "Does this"),
        ("Reads e.g. files\nand folders", "Reads e.g. files and folders"),
        ("x" * 200, "x" * 99 + "…"),
        ("", ""),
    ],
)
def test_a_description_in_one_line(text, line):
    assert first_sentence(text) == line


@given(st.text(max_size=80), st.text(max_size=80))
def test_call_names_fit_every_provider_and_are_never_shared(one, other):
    first, second = remote(one).call_name, remote(other).call_name
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", first)
    assert (first == second) == (one == other)


@given(st.lists(st.text("abc-", min_size=1, max_size=40), max_size=300, unique=True), st.text())
def test_the_list_of_servers_has_a_bound(names, about):
    servers = [Server(name, "stdio") for name in names]
    assert len(servers_in_short(servers, dict.fromkeys(names, about))) <= MOST_LISTING


def test_few_servers_have_long_lines_many_have_short_ones_very_many_only_names():
    def told(count):
        servers = [Server(f"server{number}", "stdio") for number in range(count)]
        return servers_in_short(servers, {server.name: "word " * 30 for server in servers})

    assert len(told(3).splitlines()[0]) > 100
    assert 40 < len(told(30).splitlines()[0]) < 70
    assert len(told(30).splitlines()) == 30
    assert told(300).endswith("more")


# What is kept on disk


def test_a_list_is_kept_without_secrets_and_a_damaged_file_is_as_good_as_none(tmp_path):
    cache = Cache(str(tmp_path / "lists"))
    server = Server("s", "stdio", command="x", environ={"TOKEN": "hunter22"})
    cache.listed(server, Listing((remote("echo", parameters={"type": "object"}),), 5.0, "v1"))
    (file,) = (tmp_path / "lists").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert "hunter22" not in file.read_text()
    assert cache.kept(server).listing.tools[0].parameters == {"type": "object"}

    cache.failed(server, "It is ill.")
    assert cache.kept(server).failure.reason == "It is ill."
    assert cache.kept(server).listing.version == "v1"
    cache.listed(server, Listing(()))
    assert cache.kept(server).failure is None

    file.write_text("{")
    assert cache.kept(server).listing is None
    cache.forget(server)
    cache.forget(server)
    assert not list((tmp_path / "lists").iterdir())


def test_a_cache_that_cannot_be_written_is_no_problem(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(str(tmp_path / "file" / "below"))
    cache.listed(Server("s", "stdio"), Listing(()))
    assert cache.kept(Server("s", "stdio")).listing is None


def test_the_digest_is_of_everything_but_the_values():
    plain = Server("s", "stdio", command="x", environ={"A": "1"}, headers={"B": "2"})
    same = Server("s", "stdio", command="x", environ={"A": "9"}, headers={"B": "9"}, about="new")
    assert digest(plain) == digest(same)
    others = [
        Server("t", "stdio", command="x", environ={"A": "1"}, headers={"B": "2"}),
        Server("s", "stdio", command="y", environ={"A": "1"}, headers={"B": "2"}),
        Server("s", "stdio", command="x", environ={"Z": "1"}, headers={"B": "2"}),
        Server("s", "stdio", command="x", arguments=("y",), environ={"A": "1"}, headers={"B": "2"}),
    ]
    assert len({digest(server) for server in [plain, *others]}) == 5
