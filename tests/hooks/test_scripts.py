"""What hooks start belongs to what the user agreed to, and is not changed unasked."""

import json

import pytest

from steersman.records.message import ToolResult
from steersman.threads.startups import files_of
from tests.cli.kit import DONE, shell
from tests.hooks.kit import bodies, hook, play, trust, worked
from tests.world import call

CHECK = '"$CLAUDE_PROJECT_DIR"/scripts/check.sh'


@pytest.fixture
def guarded(workspace):
    """A folder whose hook runs a script of it."""
    (workspace / "scripts").mkdir()
    (workspace / "scripts" / "check.sh").write_text("exit 0\n")
    (workspace / ".claude").mkdir()
    said = {"hooks": hook("PreToolUse", f"sh {CHECK}")}
    (workspace / ".claude" / "settings.json").write_text(json.dumps(said))
    return workspace


def test_a_changed_script_of_a_hook_is_agreed_to_again(environ, guarded):
    async def scenario(host):
        trust(host, guarded)
        assert host.permissions.folder(str(guarded)).loads
        (guarded / "scripts" / "check.sh").write_text("exit 1\n")
        changed = host.permissions.folder(str(guarded))
        assert (changed.state, changed.changed) == ("changed", ("hooks",))
        assert "start scripts/check.sh" in changed.sentence("project")

    play(environ, scenario)


@pytest.mark.parametrize(
    "change",
    [
        call("workspace_write_file", path="scripts/check.sh", content="exit 1\n"),
        shell("echo exit 1 > scripts/check.sh"),
        shell("rm -r scripts"),
    ],
    ids=["written", "by a command", "deleted"],
)
@pytest.mark.parametrize("whose", ["of the folder", "of the user"])
def test_an_agent_changes_no_script_of_a_hook_unasked(environ, guarded, script, change, whose):
    own = hook("PreToolUse", "sh scripts/check.sh") if whose == "of the user" else {}
    model = script({"tool_calls": [change]}, DONE)

    async def scenario(host):
        if not own:
            trust(host, guarded)
        thread = await worked(host, guarded, model, hooks=own)
        (result,) = bodies(host, thread, ToolResult)
        assert "a hook runs scripts/check.sh" in result.message
        return result.status

    assert play(environ, scenario) == "denied"
    assert (guarded / "scripts" / "check.sh").read_text() == "exit 0\n"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (CHECK, ["scripts/check.sh"]),
        ("${CLAUDE_PROJECT_DIR}/scripts/check.sh --fast", ["scripts/check.sh"]),
        ("cd scripts && ./check.sh", ["scripts/check.sh"]),
        ("python -m scripts.look", ["scripts/look.py"]),
        ("./link", ["link", "scripts/check.sh"]),
        ("jq -r .tool_input.file_path | xargs ruff format", []),
        ("npm run lint", []),
        ("cat ../../etc/passwd", []),
    ],
)
def test_files_that_a_command_names(guarded, command, files):
    from steersman.records.hooks import Hook

    (guarded / "scripts" / "look.py").touch()
    (guarded / "package.json").write_text("{}")
    (guarded / "link").symlink_to("scripts/check.sh")
    assert files_of([Hook("Stop", command, "here")], str(guarded)) == files


def test_who_is_asked_sees_the_command_as_it_is_and_where_it_is_cut(environ, guarded):
    said = {"hooks": hook("Stop", "true\n" + "x" * 300)}
    (guarded / ".claude" / "settings.json").write_text(json.dumps(said))

    async def scenario(host):
        return host.permissions.folder(str(guarded)).sentence("project")

    told = play(environ, scenario)
    assert '"true\\nxxx' in told
    assert 'xxx…" in a sandbox' in told
