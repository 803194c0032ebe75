"""Templates are data that is right, and become entries that the reader of configurations takes."""

import json

import pytest

from steersman.identity.mcp_servers import NAME, parse
from steersman.operations.mcp.templates import (
    GETTING,
    entry,
    known_line,
    lacking,
    prepare,
    template,
    templates,
)
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server

ALL = list(templates().values())


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_every_template_makes_a_server_once_its_variables_are_set(one, tmp_path):
    environ = dict.fromkeys(one.needs, "given") | {
        "STEERSMAN_WORKSPACE": "/work",
        "STEERSMAN_HOME": "/state",
    }
    text = json.dumps({"mcpServers": {one.name: entry(one)}})
    (server,), problems, _ = parse(text, "f", environ)
    assert problems == []
    assert NAME.fullmatch(one.name)
    assert server.about == one.about
    assert len(one.about) < 100
    assert "${" not in json.dumps([server.command, server.arguments, dict(server.environ)])
    assert one.link.startswith("https://")
    assert one.licence
    assert bool(one.launcher) != bool(one.url)
    assert one.fetches or one.url
    assert set(one.programs) <= set(GETTING)
    assert known_line(server) == one.about


def test_there_are_at_least_twenty_five():
    assert len(ALL) >= 25


@pytest.mark.parametrize("one", [one for one in ALL if one.needs], ids=lambda one: one.name)
def test_what_a_template_needs_is_missed_by_name(one):
    text = json.dumps({"mcpServers": {one.name: entry(one)}})
    _, (problem,), _ = parse(text, "f", {"STEERSMAN_WORKSPACE": "/", "STEERSMAN_HOME": "/"})
    assert any(name in problem for name in one.needs)
    missing = [what for what, _ in lacking(one, {}, "/")]
    assert [f"the variable {name} is not set" for name in one.needs] == missing[-len(one.needs) :]


def test_values_are_written_in_where_they_belong():
    made = entry(template("sqlite"), {"SQLITE_FILE": "/x.db", "OTHER": "1"})
    assert made["args"] == ["mcp-server-sqlite", "--db-path", "/x.db"]
    assert made["env"] == {"OTHER": "1"}
    github = entry(template("github"), {"GITHUB_TOKEN": "${MY_TOKEN}"})
    assert github["headers"] == {"Authorization": "Bearer ${MY_TOKEN}"}


def test_serena_is_a_program_of_its_own_that_leaves_the_repository_alone(tmp_path):
    made = entry(template("serena"))
    assert made["command"] == "uvx"
    assert made["env"] == {
        "SERENA_HOME": "${STEERSMAN_HOME}/serena",
        "SERENA_USAGE_REPORTING": "false",
    }
    words = " ".join(made["args"])
    assert "--agent-interface tools" in words
    assert "--context ide" in words
    assert "--project ${STEERSMAN_WORKSPACE:-.}" in words
    given = entry(template("serena"), {}, ["/opt/serena/bin/serena"])
    assert given["command"] == "/opt/serena/bin/serena"
    assert given["args"][0] == "start-mcp-server"


@pytest.mark.parametrize("home", ["serena", "../elsewhere", ""])
def test_serenas_settings_are_written_only_where_its_home_is_ours(tmp_path, home):
    state = tmp_path / "state"
    state.mkdir()
    place = str(state / home) if home else ""
    server = Server("serena", "stdio", command="serena", environ={"SERENA_HOME": place})
    prepare(server, str(state), {"PATH": ""}, "/nowhere")
    config = state / "serena" / "serena_config.yml"
    assert config.exists() == (home == "serena")
    if home == "serena":
        assert f"{state}/serena/projects$projectDir" in config.read_text()
    other = Server("other", "stdio", command="x", environ={"SERENA_HOME": f"{state}/two"})
    prepare(other, str(state), {"PATH": ""}, "/nowhere")
    assert not (state / "two").exists()


def test_uv_is_looked_for_on_the_path_with_a_sentence_on_how_to_get_it(tmp_path):
    ((what, mend),) = lacking(template("serena"), {"PATH": str(tmp_path)}, "/nowhere")
    assert what == "uvx is not on the PATH"
    assert mend.startswith("install uv: https://")
    (tmp_path / "uvx").write_text("#!/bin/sh\n")
    (tmp_path / "uvx").chmod(0o755)
    assert lacking(template("serena"), {"PATH": str(tmp_path)}, "/nowhere") == []


def test_a_template_that_there_is_not():
    with pytest.raises(UsageProblem, match="There is no template “x”"):
        template("x")


def test_a_server_that_says_nothing_is_known_by_what_it_starts():
    versioned = Server("p", "stdio", command="npx", arguments=("-y", "@playwright/mcp@1.2"))
    assert known_line(versioned) == template("playwright").about
    assert known_line(Server("p", "stdio", command="/bin/mcp-server-git")) == template("git").about
    assert known_line(Server("p", "stdio", command="npx", arguments=("-y", "x"))) == ""
