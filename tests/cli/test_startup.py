"""Start-up is architecture: what a command does not use is not imported."""

import subprocess
import sys

import pytest

from tests.cli.kit import DONE, FIX, READ, shell
from tests.host.wires import RecordingStage, reaching
from tests.world import call

# Runs a command in this very process and prints the names of what it imported.
WATCHED = """
import sys
before = set(sys.modules)
sys.argv = ["steer", *sys.argv[1:]]
try:
    from steersman.__main__ import main
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""


@pytest.fixture
def imported(steer):
    """The modules a command imports beyond those of a bare Python."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, *arguments],
            cwd=steer.folder,
            env=steer.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return set(done.stderr.splitlines()[-1].split())

    return run


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_told_before_anything_is_imported(imported, flag):
    assert imported(flag) == {"steersman", "steersman.__main__"}


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_imports_no_command(imported, flag):
    found = imported(flag)

    assert not found & {
        "asyncio",
        "msgspec",
        "sqlite3",
        "steersman.host",
        "steersman.records.message",
    }
    ours = {name for name in found if name.startswith("steersman")}
    assert ours == {
        "steersman",
        "steersman.__main__",
        "steersman.quick_imports",
        "steersman.records",
        "steersman.records.errors",
        "steersman.ports",
        "steersman.ports.cli",
        "steersman.ports.cli.app",
    }


HEAVY = {
    "anthropic", "dbos", "google", "h11", "httpx", "httpx2", "jsonschema", "litestar", "mcp",
    "openai", "psycopg", "pydantic", "requests", "rich", "sqlalchemy", "textual", "tomllib",
    "tree_sitter",
}  # fmt: skip


OF_HOOKS = {
    "steersman.identity.hooks", "steersman.operations.tools.run_hook", "steersman.records.hooks",
    "steersman.threads.hooks",
}  # fmt: skip
OF_TOOL_FILES = {
    "steersman.extension", "steersman.identity.extensions", "steersman.operations.extensions",
    "steersman.threads.extensions", "steersman.identity.agents",
}  # fmt: skip
OF_TRACES = {"steersman.monitoring.telemetry", "steersman.monitoring.traces"}
OF_SERVERS = {"steersman.operations.code.proposals", "steersman.operations.mcp.gateway"}


def heavy(found):
    """What of the heavy libraries was imported."""
    return {name.partition(".")[0] for name in found} & HEAVY


@pytest.mark.parametrize("commands", [[], [shell("echo hi")]], ids=["tools", "commands too"])
def test_a_scripted_run_imports_nothing_it_does_not_use(imported, script, commands):
    work = [READ, FIX, call("workspace_status"), call("workspace_list_files"), *commands]

    found = imported("run", "--yes", "--model", script({"tool_calls": work}, DONE), "go")

    assert heavy(found) == ({"tree_sitter"} if commands else set())  # by which commands are read
    assert "steersman.intelligence.scripted.server" not in found
    assert not any(name.startswith("steersman.intelligence.scripted.wires") for name in found)
    assert not found & {"html", *OF_SERVERS, *OF_HOOKS, *OF_TOOL_FILES, *OF_TRACES}


# What a plain command that writes a file has no use for.
OF_RARE_COMMANDS = {
    f"steersman.{name}"
    for name in (
        "governance.carried", "governance.grants", "governance.guard.links",
        "governance.rule_ready",
        "operations.code.crosscheck", "operations.code.lsp", "operations.code.spots",
        "operations.finding.engine", "operations.finding.ignoring", "operations.finding.scan",
        "operations.mcp.forms", "operations.running.afterwards", "operations.running.git_index",
        "operations.running.mirrored", "operations.running.over_mirror",
        "operations.running.precious", "operations.running.refused_names",
        "operations.running.stashes", "records.git_config_diff", "threads.reversing",
        "views.hunks", "views.questions", "views.requests",
    )
}  # fmt: skip


def test_a_plain_command_imports_nothing_for_the_rare_ones(imported, script):
    model = script({"tool_calls": [shell("echo hi >> notes.txt")]}, DONE)

    found = imported("run", "--json", "--approvals", "never", "--model", model, "go")

    assert not found & OF_RARE_COMMANDS
    assert not found & {"difflib", "importlib.resources", "json"}


def test_a_run_over_the_network_imports_no_client_and_parses_no_table(imported, steer):
    stage = RecordingStage()
    try:
        stage.play({"tool_calls": [READ]}, DONE)
        steer.environ.update(reaching({}, stage.url))
        found = imported("run", "--model", "openai:m-1", "go")
    finally:
        stage.close()

    assert heavy(found) == set()


@pytest.mark.parametrize("arguments", [["docs"], ["docs", "undo"]], ids=" ".join)
def test_the_manual_in_a_pipe_imports_no_host_and_nothing_that_draws(imported, arguments):
    found = imported(*arguments)

    assert heavy(found) == set()
    assert not found & {"asyncio", "sqlite3", "steersman.host", "steersman.records.message"}


# Opens the application without a terminal, and prints what is imported when its prompt is there.
OPENED = """
import asyncio, os, sys
from steersman.host import Host
from steersman.host.settings import state_folder
from steersman.records.settings import Settings
from steersman.ports.tui.app import SteersmanApp
from steersman.views.seat import Seat

async def main():
    async with Host.at(state_folder(os.environ), os.environ) as host:
        app = SteersmanApp(Seat(host, os.getcwd(), Settings(model=sys.argv[1])), os.environ)
        async with app.run_test() as pilot:
            await pilot.pause()
            print(*sorted(sys.modules), file=sys.stderr)

asyncio.run(main())
"""


def test_an_open_prompt_has_imported_no_model_and_no_reader_of_markdown(steer, script):
    done = subprocess.run(
        [sys.executable, "-c", OPENED, script(DONE)],
        cwd=steer.folder, env={**steer.environ, "TERM": "xterm"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = set(done.stderr.splitlines()[-1].split())

    assert heavy(found) <= {"rich", "textual", "tree_sitter"}  # which Textual looks for by itself
    assert not any(name.startswith("steersman.intelligence.scripted") for name in found)
    assert not any(name.startswith("steersman.governance.guard.programs") for name in found)


@pytest.mark.parametrize(
    "arguments",
    [
        ["threads", "list"],
        ["tools"],
        ["ledger", "verify"],
        ["replay", "THREAD"],
        ["policy", "list"],
        ["wait", "THREAD"],
        ["tell", "THREAD", "go on"],
    ],
    ids=" ".join,
)
def test_a_listing_imports_no_model_and_no_guard(imported, steer, script, arguments):
    model = script({"tool_calls": [shell("true")]}, DONE, DONE)
    thread = steer.work("run", "--model", model, "go").thread
    found = imported(*(thread if word == "THREAD" else word for word in arguments))

    assert heavy(found) == set()
    assert not found & {"steersman.operations.matching.edits", *OF_SERVERS, *OF_TOOL_FILES}
    assert not any(name.startswith("steersman.governance.guard.programs") for name in found)
    assert not any(name.startswith("steersman.intelligence.scripted") for name in found)


# Says which decoders are made before there is anything to decode, and which for the first message.
DECODERS = """
import msgspec
made, usual = [], msgspec.json.Decoder
msgspec.json.Decoder = lambda type: made.append(type.__name__) or usual(type)
from steersman.records.message import Answer, decode_body, encode_body
before = made.copy()
for _ in range(2):
    assert decode_body("answer", encode_body(Answer("yes"))) == Answer("yes")
print(before, made[len(before):])
"""


def test_a_decoder_is_made_for_the_first_message_of_its_kind():
    done = subprocess.run(
        [sys.executable, "-c", DECODERS], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['_Line'] ['Answer']\n"


def test_the_help_names_the_flags_of_the_chat(steer):
    told = steer("--help").stdout
    for flag in ("-c, --continue", "-r, --resume [ID]", "-m, --model", "--mode", "--approvals"):
        assert flag in told
