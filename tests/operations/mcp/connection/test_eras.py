"""Which era a server speaks is remembered, and nothing worse than a pause comes of a bad file."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.mcp.eras import FILE, MOST, Eras, key
from steersman.records.mcp_server import Server

ONE = Server(name="one", transport="stdio", command="run", arguments=("a", "b"))


def test_an_era_is_remembered_by_whoever_comes_later(tmp_path):
    assert Eras(tmp_path).of(ONE) is None
    Eras(tmp_path).remember(ONE, "legacy")
    assert Eras(tmp_path).of(ONE) == "legacy"
    Eras(tmp_path).remember(ONE, "modern")
    assert Eras(tmp_path).of(ONE) == "modern"
    Eras(tmp_path).forget(ONE)
    assert Eras(tmp_path).of(ONE) is None
    assert os.listdir(tmp_path) == [FILE]


@pytest.mark.parametrize(
    "other",
    [
        Server(name="two", transport="stdio", command="run", arguments=("a", "b")),
        Server(name="one", transport="stdio", command="run", arguments=("a", "c")),
        Server(name="one", transport="stdio", command="run", arguments=("ab",)),
        Server(name="one", transport="http", url="http://run"),
    ],
)
def test_another_program_or_address_is_another_server(tmp_path, other):
    Eras(tmp_path).remember(ONE, "legacy")
    assert Eras(tmp_path).of(other) is None


def test_secrets_do_not_come_into_the_file(tmp_path):
    server = Server(name="s", transport="http", url="http://a/?key=secret", headers={"A": "token"})
    Eras(tmp_path).remember(server, "modern")
    kept = (tmp_path / FILE).read_text()
    assert "secret" not in kept
    assert "token" not in kept


@given(damage=st.binary(max_size=40))
def test_a_damaged_file_is_as_good_as_none(tmp_path_factory, damage):
    folder = tmp_path_factory.mktemp("eras")
    (folder / FILE).write_bytes(damage)
    eras = Eras(folder)
    assert eras.of(ONE) is None
    eras.remember(ONE, "legacy")
    assert Eras(folder).of(ONE) == "legacy"


@pytest.mark.parametrize("content", ["[]", '{"a": "future"}', "{" * 5000, '{"a": 1}'])
def test_a_file_of_another_form_is_as_good_as_none(tmp_path, content):
    (tmp_path / FILE).write_text(content)
    assert Eras(tmp_path).of(ONE) is None


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path):
    (tmp_path / "file").write_text("")
    eras = Eras(tmp_path / "file" / "folder")
    eras.remember(ONE, "legacy")
    assert eras.of(ONE) == "legacy"


def test_without_a_folder_it_is_remembered_as_long_as_the_program_runs():
    eras = Eras(None)
    eras.remember(ONE, "modern")
    assert eras.of(ONE) == "modern"


def test_the_oldest_are_forgotten(tmp_path):
    eras = Eras(tmp_path)
    (tmp_path / FILE).write_text(
        "{" + ",".join(f'"{number}": "legacy"' for number in range(MOST)) + "}"
    )
    eras.remember(ONE, "modern")
    kept = (tmp_path / FILE).read_text()
    assert key(ONE) in kept
    assert '"0"' not in kept
    assert '"1"' in kept
