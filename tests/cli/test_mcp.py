"""`steer mcp`: templates, add, remove, list, test, enable, disable."""

import json
import sys
import tempfile
from pathlib import Path
from secrets import token_hex

import pytest

from steersman.host import doctor, mcp, storage

PROGRAM = str(Path(__file__).parents[1] / "operations" / "mcp" / "gateway" / "servers" / "plain.py")
PLAIN = [sys.executable, "-I", "-S", PROGRAM]
TOKEN = "tok-4f9a8b7c6d5e"


@pytest.fixture
def own(environ):
    """The person's file."""
    return Path(environ["XDG_CONFIG_HOME"], "steersman", "mcp.json")


def added(steer, *words):
    done = steer("mcp", "add", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listed(steer):
    done = steer("mcp", "list", "--json")
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def test_a_server_is_added_listed_tried_switched_and_removed(steer, own, tmp_path):
    assert "No MCP servers." in steer("mcp", "list").stdout
    started = tmp_path / "started"
    told = added(
        steer, "plain", "-e", f"API_TOKEN={TOKEN}", "-e", "HOME", "--description", "A plain one.",
        "--", *PLAIN, "--started", str(started),
    )  # fmt: skip
    assert "Nothing was installed or started." in told
    entry = json.loads(own.read_text())["mcpServers"]["plain"]
    assert entry["env"] == {"API_TOKEN": TOKEN, "HOME": "${HOME}"}
    assert own.stat().st_mode & 0o777 == 0o600
    assert listed(steer)["plain"] == {
        "name": "plain",
        "enabled": True,
        "transport": "stdio",
        "runs": " ".join([*PLAIN, "--started", str(started)]),
        "env": ["API_TOKEN", "HOME"],
        "headers": [],
        "description": "A plain one.",
        "source": str(own),
        "tools": None,
        "failure": None,
    }
    assert "never started" in steer("mcp", "list").stdout
    assert not started.exists()

    tried = steer("mcp", "test", "plain")
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert "✓ plain: plain 1.2, 10 tools in" in tried.stdout
    assert "reads   plain__echo                 Say a text again." in tried.stdout
    assert "writes  plain__delete_note" in tried.stdout
    assert "hidden  plain__replace_symbol_body" in tried.stdout
    assert len(started.read_text().splitlines()) == 1
    assert not Path("/proc", started.read_text().strip()).exists()
    assert listed(steer)["plain"]["tools"] == 10

    assert steer("mcp", "disable", "plain").returncode == 0
    assert listed(steer)["plain"]["enabled"] is False
    assert "plain (disabled)" in steer("mcp", "list").stdout
    assert steer("mcp", "enable", "plain").returncode == 0
    assert listed(steer)["plain"]["enabled"] is True
    assert steer("mcp", "remove", "plain").returncode == 0
    assert listed(steer) == {}


def test_why_a_server_does_not_start_is_told_and_no_secret_is(steer):
    added(steer, "ill", "-e", f"API_TOKEN={TOKEN}", "--", *PLAIN, "--die", "initialize")
    tried = steer("mcp", "test", "ill")
    assert tried.returncode == 1
    assert "✗ ill: " in tried.stdout
    assert "cannot initialize" in tried.stdout
    assert "last failure: " in steer("mcp", "list").stdout

    added(steer, "missing", "--", "no-such-program", "--api-key", TOKEN)
    tried = steer("mcp", "test", "missing", "--json")
    told = json.loads(tried.stdout)
    assert (told["ok"], told["tools"]) == (False, [])
    assert "no-such-program" in told["reason"]
    assert told["fix"].startswith("install no-such-program, or fix its command in")
    shown = steer("mcp", "list")
    assert TOKEN not in shown.stdout + tried.stdout + steer("mcp", "list", "--json").stdout
    assert "[redacted]" in shown.stdout


def test_a_server_at_an_address(steer, own):
    added(steer, "far", "--url", "https://x.org/mcp", "--header", "Authorization: Bearer ${T}")
    added(steer, "old", "--url", "https://x.org/sse", "--sse")
    assert json.loads(own.read_text())["mcpServers"] == {
        "far": {
            "type": "http",
            "url": "https://x.org/mcp",
            "headers": {"Authorization": "Bearer ${T}"},
        },
        "old": {"type": "sse", "url": "https://x.org/sse"},
    }
    told = steer("mcp", "list").stdout
    assert "`headers.Authorization` needs the variable T, which is not set" in told
    assert steer("mcp", "test", "far").returncode == 2


# Templates


def test_templates_tell_what_would_be_fetched_and_what_is_missing(steer):
    told = steer("mcp", "templates").stdout
    for name in ("serena", "filesystem", "git", "github", "postgres", "playwright", "supabase"):
        assert f"\n{name} " in f"\n{told}"
    (serena,) = map(json.loads, steer("mcp", "templates", "serena", "--json").stdout.splitlines())
    assert serena["licence"] == "GPL-3.0-or-later"
    shown = steer("mcp", "templates", "serena").stdout
    assert "licence  GPL-3.0-or-later" in shown
    assert "https://oraios.github.io/serena/" in shown


def test_adding_serena_fetches_nothing_and_says_how_to_get_uv(steer, own, home, workspace):
    bare = steer.having(PATH="/nowhere")
    told = added(bare, "serena", "--template", "serena")
    assert "Starting it for the first time will fetch the Python package serena-agent" in told
    assert "uvx is not on the PATH → install uv: https://" in told
    assert "Licence: GPL-3.0-or-later." in told
    entry = json.loads(own.read_text())["mcpServers"]["serena"]
    assert entry["env"]["SERENA_HOME"] == "${STEERSMAN_HOME}/serena"
    assert not home.joinpath("serena").exists()
    assert listed(bare)["serena"]["runs"].count(str(workspace)) == 1
    tried = bare("mcp", "test", "serena")
    assert tried.returncode == 1
    assert "install uv" in tried.stdout


def test_a_program_at_hand_takes_the_place_of_what_would_fetch_it(steer, own):
    told = added(steer, "serena", "-t", "serena", "--", "/opt/serena")
    assert "fetch" not in told.partition("Licence")[0]
    assert "uvx" not in told
    assert json.loads(own.read_text())["mcpServers"]["serena"]["command"] == "/opt/serena"


def test_a_variable_that_a_template_needs_is_missed(steer, own):
    assert "the variable GITHUB_TOKEN is not set" in added(steer, "gh", "-t", "github")
    told = added(steer, "gh", "-t", "github", "--replace", "-e", "GITHUB_TOKEN=${MY_TOKEN}")
    assert "is not set" not in told
    headers = json.loads(own.read_text())["mcpServers"]["gh"]["headers"]
    assert headers == {"Authorization": "Bearer ${MY_TOKEN}"}


# The folder's own


def test_servers_of_a_folder_are_used_once_it_is_trusted(steer, workspace):
    started = Path(tempfile.gettempdir(), f"started-{token_hex(5)}")  # beside nothing of a person's
    told = added(steer, "near", "--project", "-e", f"K={TOKEN}", "--", *PLAIN,
                 "--started", str(started))  # fmt: skip
    assert "review it with `steer policy trust`" in told
    assert "values are in a file that others may read" in told
    assert "near" in json.loads((workspace / ".mcp.json").read_text())["mcpServers"]
    assert "not trusted" in steer("mcp", "list").stdout
    refused = steer("mcp", "test", "near")
    assert refused.returncode == 2
    assert "the folder is not trusted" in refused.stderr
    assert not started.exists()

    assert steer("policy", "trust", "--yes").returncode == 0
    assert listed(steer)["near"]["source"] == str(workspace / ".mcp.json")
    tried = steer("mcp", "test", "near")
    assert "writes  near__echo" in tried.stdout  # its own word is not believed
    assert steer("mcp", "disable", "near").returncode == 0
    assert listed(steer)["near"]["enabled"] is False  # and the folder is trusted as before
    missed = steer("mcp", "remove", "near")
    assert missed.returncode == 0  # the note that switched it off
    assert steer("mcp", "remove", "near").returncode == 2
    assert steer("mcp", "remove", "near", "--project").returncode == 0
    assert json.loads((workspace / ".mcp.json").read_text()) == {"mcpServers": {}}


def test_the_doctor_explains_each_server_and_starts_none(steer, environ, workspace, own, tmp_path):
    started = tmp_path / "started"
    added(steer, "fine", "--", *PLAIN)
    assert steer("mcp", "test", "fine").returncode == 0
    added(steer, "ill", "--", *PLAIN, "--die", "initialize")
    steer("mcp", "test", "ill")
    added(steer, "new", "--", *PLAIN, "--started", str(started))
    added(steer, "off", "--", *PLAIN)
    steer("mcp", "disable", "off")
    added(steer.having(PATH="/nowhere"), "serena", "-t", "serena")
    added(steer, "gh", "--url", "https://x/", "--header", "Authorization: Bearer ${UNSET}")
    bare = environ | {"PATH": "/nowhere"}
    usable = mcp.usable(storage.open_host(environ), str(workspace), bare)
    found = list(doctor.servers(usable, str(workspace), bare))
    assert [(one.state, one.found.partition(":")[0]) for one in found] == [
        ("ok", "fine, 10 tools"),
        ("bad", "ill"),
        ("note", "new was never started"),
        ("ok", "off is disabled"),
        ("bad", "serena"),
        ("note", f"The MCP server “gh” in {own} is not used"),
    ]
    assert found[1].fix == "steer mcp test ill"
    assert found[4].fix.startswith("install uv: https://")
    assert not started.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["test", "nothing"], "There is no MCP server “nothing”."),
        (["remove", "nothing"], "There is no MCP server “nothing”"),
        (["enable", "nothing"], "There is no MCP server “nothing”."),
        (["disable", "nothing"], "There is no MCP server “nothing”."),
        (["templates", "nothing"], "There is no template “nothing”."),
        (["add", "x"], "What is it?"),
        (["add", "serena"], "steer mcp add serena --template serena"),
        (["add", "x", "-t", "nothing"], "There is no template “nothing”."),
        (["add", "a b", "--", "x"], "its name should be"),
        (["add", "x", "--url", "https://x/", "--", "y"], "either a command, an address"),
        (["add", "x", "--header", "A: b", "--", "y"], "Headers are for servers"),
        (["add", "x", "--header", "nonsense", "--url", "https://x/"], "'Name: value'"),
        (["add", "x", "-e", "=v", "--", "y"], "NAME=VALUE"),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_is_written(steer, own, arguments, words):
    done = steer("mcp", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not own.exists()


def test_a_broken_file_is_told_and_left_alone(steer, own):
    own.parent.mkdir(parents=True)
    own.write_text("{")
    assert "is not valid JSON" in steer("mcp", "list").stdout
    done = steer("mcp", "add", "x", "--", "y")
    assert done.returncode == 2
    assert own.read_text() == "{"
