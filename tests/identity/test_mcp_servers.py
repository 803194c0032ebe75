"""MCP servers as files configure them: what is read, what wins, what is wrong, what is written."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.identity import mcp_files
from steersman.identity.mcp_servers import (
    NAME,
    Configured,
    files,
    find,
    parse,
    private_values,
    user_file,
)
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server

SECRET = "hunter2-hunter2"


class Place:
    """A workspace, a person's configuration folder, and what is found from there."""

    def __init__(self, folder):
        self.workspace = folder / "project"
        self.workspace.mkdir()
        self.environ = {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "STEERSMAN_HOME": str(folder / "data"),
        }
        self.own = user_file(self.environ)
        self.near = self.workspace / ".mcp.json"

    def write(self, path, text="", **servers):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text or json.dumps({"mcpServers": servers}))
        return path

    def find(self, *, trusted=True) -> Configured:
        return find(str(self.workspace), self.environ, trusted=trusted)

    def names(self, **more):
        return {one.name: os.path.basename(one.source) for one in self.find(**more).servers}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def run(command="server", **more):
    return {"command": command, **more}


# Where


def test_the_variables_files_count_first_then_the_persons_then_the_folders(place, tmp_path):
    one = place.write(tmp_path / "one.json", a=run("one"))
    place.write(place.own, a=run("own"), b=run("own"))
    place.write(place.near, a=run("near"), b=run("near"), c=run("near"))
    place.environ["STEERSMAN_MCP_CONFIG_FILES"] = f"{one}, ~/none.json"
    found = place.find()
    assert {server.name: server.command for server in found.servers} == {
        "a": "one", "b": "own", "c": "near",
    }  # fmt: skip
    assert found.problems == (
        f"{tmp_path}/none.json cannot be read: No such file or directory.",
        f"The MCP server “a” in {place.own} is hidden by the one in {one}.",
        f"The MCP server “a” in {place.near} is hidden by the one in {one}.",
        f"The MCP server “b” in {place.near} is hidden by the one in {place.own}.",
    )


def test_what_a_folder_brings_counts_only_when_it_is_trusted(place):
    place.write(place.near, a=run())
    assert place.find(trusted=False) == Configured()
    assert place.names() == {"a": ".mcp.json"}
    assert str(place.near) not in files(str(place.workspace), place.environ, trusted=False)


@pytest.mark.parametrize("name", ["servers.json", "./sub/servers.json", ".mcp.json"])
def test_a_named_file_inside_the_folder_needs_its_trust_too(place, name):
    place.write(place.workspace / name, a=run())
    place.environ["STEERSMAN_MCP_CONFIG_FILES"] = name
    assert place.find(trusted=False) == Configured()
    assert [server.name for server in place.find().servers] == ["a"]


def test_a_file_of_the_folder_that_leads_out_of_it_is_not_used(place, tmp_path):
    elsewhere = place.write(tmp_path / "elsewhere.json", a=run())
    place.near.symlink_to(elsewhere)
    assert place.find() == Configured(
        (), (f"{place.near} is not used: it leads out of the folder.",)
    )


def test_no_file_is_no_server_and_no_problem(place):
    assert place.find() == Configured()


# What an entry says


def test_everything_an_entry_can_say(place):
    place.write(
        place.own,
        local={
            "command": "npx",
            "args": ["-y", "thing"],
            "env": {"A": "x", "PORT": 80, "ON": True},
            "cwd": "sub",
            "description": "  Does\n things. ",
            "disabled": True,
            "readOnlyTools": ["get_*"],
            "writingTools": ["get_lost"],
            "timeout": 30,
            "idleTimeout": 60,
            "someoneElses": {"key": 1},
        },
        far={"type": "http", "url": "https://x/mcp", "headers": {"K": "v"}, "timeout": 90_000},
        old={"type": "sse", "url": "http://x/sse"},
        new={"type": "streamable-http", "url": "http://x/"},
        plain={"url": "http://x/"},
    )
    local, far, old, new, plain = place.find().servers
    assert local == Server(
        "local",
        "stdio",
        command="npx",
        arguments=("-y", "thing"),
        environ={"A": "x", "PORT": "80", "ON": "true"},
        cwd="sub",
        about="Does things.",
        enabled=False,
        reads=("get_*",),
        writes=("get_lost",),
        source=str(place.own),
        timeout=30.0,
        idle=60.0,
    )
    assert (far.transport, far.url, far.headers) == ("http", "https://x/mcp", {"K": "v"})
    assert far.timeout == 90.0  # other programs write milliseconds
    assert (old.transport, new.transport, plain.transport) == ("sse", "http", "http")


def test_variables_are_filled_in_everywhere(place):
    place.environ |= {"TOKEN": SECRET, "EMPTY": ""}
    place.write(
        place.own,
        a={
            "command": "${BIN:-/usr/bin}/x",
            "args": ["${TOKEN}", "${EMPTY:-full}", "${EMPTY}", "$TOKEN", "${NOT A NAME}"],
            "env": {"T": "<${TOKEN}>"},
        },
        b={"url": "https://${HOST:-x.org}/", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        c={"command": "x", "args": ["--project", "${STEERSMAN_WORKSPACE:-.}", "${STEERSMAN_HOME}"]},
    )
    a, b, c = place.find().servers
    assert a.command == "/usr/bin/x"
    assert a.arguments == (SECRET, "full", "", "$TOKEN", "${NOT A NAME}")
    assert a.environ == {"T": f"<{SECRET}>"}
    assert (b.url, b.headers) == ("https://x.org/", {"Authorization": f"Bearer {SECRET}"})
    assert c.arguments == ("--project", str(place.workspace), place.environ["STEERSMAN_HOME"])


# What is wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not valid JSON"),
        ("[]", "has no object “mcpServers”"),
        ('{"servers": {}}', "has no object “mcpServers”"),
        ('{"mcpServers": []}', "has no object “mcpServers”"),
        ("\x00", "is not valid JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_the_others_live_on(place, text, words):
    place.write(place.own, text)
    place.write(place.near, a=run())
    found = place.find()
    assert [server.name for server in found.servers] == ["a"]
    assert found.problems[0].startswith(f"{place.own} is not used: it ")
    assert words in found.problems[0]


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [
        ("bad", 5, "it should be an object"),
        ("bad", {}, "it has neither `command` nor `url`"),
        ("bad", {"type": "http"}, "it has no `url`"),
        ("bad", {"type": "stdio", "url": "http://x/"}, "it has neither `command` nor `url`"),
        ("bad", {"type": "carrier pigeon", "command": "x"}, "`type` should be stdio, http or sse"),
        ("bad", {"url": f"ftp://{SECRET}@x/"}, "`url` should start with http:// or https://"),
        ("bad", {"url": "http://[half"}, "`url` should start with"),
        ("bad", {"url": "https://"}, "`url` should start with"),
        ("bad", {"command": ["x"]}, "`command` must be text, not a list"),
        ("bad", run(args="x"), "`args` must be a list, not text"),
        ("bad", run(args=[SECRET, 5]), "`args[1]` must be text, not a whole number"),
        ("bad", run(env={"A": [SECRET]}), "`env[...]` must be"),
        ("bad", run(env={"A": "${UNSET}" + SECRET}), "`env.A` needs the variable UNSET"),
        ("bad", run(headers=SECRET), "`headers` must be"),
        ("bad", run(args=["\0"]), "must not contain a NUL"),
        ("bad", run(disabled="yes"), "`disabled` must be"),
        ("bad", run(timeout=0), "`timeout` should be a number of seconds"),
        ("bad", run(idleTimeout=-1), "`idleTimeout` should be a number of seconds"),
        ("my server", run(), "its name should be at most 40 letters"),
        ("a__b", run(), "its name should be"),
        ("a_", run(), "its name should be"),
        ("", run(), "its name should be"),
        ("x" * 41, run(), "its name should be"),
    ],
)
def test_an_entry_that_is_wrong_is_left_out_with_a_sentence_that_holds_no_value(
    place, name, entry, words
):
    place.write(place.own, **{"good": run(), name: entry})
    found = place.find()
    assert [server.name for server in found.servers] == ["good"]
    (problem,) = found.problems
    assert problem.startswith(f"The MCP server “{name}” in {place.own} is not used: ")
    assert words in problem
    assert SECRET not in problem


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = ["type", "command", "args", "env", "cwd", "url", "headers", "timeout", "disabled"]
ENTRY = st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["stdio", "http://x/", "x"]))


@given(st.dictionaries(st.text(max_size=20), ENTRY | JSON, max_size=4))
def test_whatever_stands_in_a_file_each_entry_is_used_or_told(entries):
    text = json.dumps({"mcpServers": entries})
    servers, problems, off = parse(text, "file", {})
    assert len(servers) + len(problems) + len(off) == len(entries)
    assert all(NAME.fullmatch(server.name) for server in servers)


def test_values_that_nobody_should_see_are_known(place):
    place.environ["TOKEN"] = SECRET
    place.write(
        place.own,
        a=run(
            env={
                "T": "${TOKEN}",
                "HOME": "/home/person",
                "MODE": "production",
                "W": "https://x.org/y",
            }
        ),
        b={"url": "https://x/", "headers": {"Authorization": "Bearer tok-1234567"}},
    )
    assert private_values(place.find().servers) == {SECRET, "tok-1234567"}


# Writing


def test_an_entry_is_added_switched_and_removed_and_the_rest_stays_as_it_is(place):
    kept = {"other": 1, "mcpServers": {"strange": {"x": [1, 2]}, "b": run("ü")}}
    place.write(place.own, json.dumps(kept))
    mcp_files.add(place.own, "a", run("x", env={"K": SECRET}))
    assert json.loads(place.own.read_text()) == {
        "other": 1,
        "mcpServers": {**kept["mcpServers"], "a": run("x", env={"K": SECRET})},
    }
    assert place.own.stat().st_mode & 0o777 == 0o600
    assert "ü" in place.own.read_text()

    mcp_files.switch(place.own, "a", on=False)
    assert not place.find().get("a").enabled
    mcp_files.switch(place.own, "a", on=True)
    assert place.find().get("a").enabled
    mcp_files.remove(place.own, "a")
    assert json.loads(place.own.read_text()) == kept
    assert mcp_files.names(place.own) == ["strange", "b"]
    assert os.listdir(place.own.parent) == ["mcp.json"]


def test_a_server_of_another_file_is_switched_off_in_the_persons(place, tmp_path):
    place.write(place.near, a=run())
    named = place.write(tmp_path / "named.json", b=run())
    place.environ["STEERSMAN_MCP_CONFIG_FILES"] = str(named)
    before = place.near.read_bytes()
    for name in ("a", "b"):
        mcp_files.switch(place.own, name, on=False)
        assert place.find().get(name).enabled is False
        mcp_files.switch(place.own, name, on=True)
        assert place.find().get(name).enabled is True
    assert place.near.read_bytes() == before
    assert mcp_files.names(place.own) == []
    assert place.find().problems == ()


def test_only_the_persons_file_switches_off_what_others_configure(place):
    place.write(place.own, a=run())
    place.write(place.near, a={"disabled": True})
    assert place.find().get("a").enabled


def test_a_name_is_not_taken_twice_unless_it_is_said(place):
    mcp_files.add(place.own, "a", run("one"))
    with pytest.raises(UsageProblem, match="There is already an MCP server “a”"):
        mcp_files.add(place.own, "a", run("two"))
    mcp_files.add(place.own, "a", run("two"), replace=True)
    assert place.find().get("a").command == "two"


@pytest.mark.parametrize(
    ("name", "entry", "words"),
    [("a b", run(), "its name should be"), ("a", {}, "neither"), ("a", run(args=1), "args")],
)
def test_what_would_not_be_read_is_not_written(place, name, entry, words):
    with pytest.raises(UsageProblem) as caught:
        mcp_files.add(place.own, name, entry)
    assert words in str(caught.value)
    assert not place.own.exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 1}'])
def test_a_file_that_is_not_understood_is_not_changed(place, text):
    place.write(place.own, text)
    for change in (
        lambda: mcp_files.add(place.own, "a", run()),
        lambda: mcp_files.remove(place.own, "a"),
        lambda: mcp_files.switch(place.own, "a", on=False),
    ):
        with pytest.raises(UsageProblem, match="not changed"):
            change()
    assert place.own.read_text() == text


def test_a_link_stays_a_link_and_a_shared_file_keeps_its_mode(place, tmp_path):
    real = place.write(tmp_path / "dotfiles" / "mcp.json")
    place.own.parent.mkdir(parents=True)
    place.own.symlink_to(real)
    mcp_files.add(place.own, "a", run())
    assert place.own.is_symlink()
    assert "a" in json.loads(real.read_text())["mcpServers"]

    mcp_files.add(place.near, "a", run(), shared=True)
    assert place.near.stat().st_mode & 0o777 == 0o644
    place.near.chmod(0o664)
    mcp_files.add(place.near, "b", run(), shared=True)
    assert place.near.stat().st_mode & 0o777 == 0o664


def test_a_file_of_a_folder_that_leads_out_or_is_none_is_not_changed(place, tmp_path):
    elsewhere = place.write(tmp_path / "elsewhere.json", a=run())
    before = elsewhere.read_bytes()
    place.near.symlink_to(elsewhere)
    with pytest.raises(UsageProblem, match="leads out of the folder"):
        mcp_files.add(place.near, "b", run(), shared=True)
    assert elsewhere.read_bytes() == before
    place.near.unlink()
    os.mkfifo(place.near)
    with pytest.raises(UsageProblem, match="not a regular file"):
        mcp_files.add(place.near, "b", run(), shared=True)


def test_removing_what_is_not_there_says_what_is(place):
    place.write(place.own, a=run())
    with pytest.raises(UsageProblem) as caught:
        mcp_files.remove(place.own, "x")
    assert "There are: a." in str(caught.value)
