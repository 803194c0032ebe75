"""Hooks of the user's own settings, from the command line."""

import pytest

from tests.cli.kit import BROKEN, DONE, FIX, decoded
from tests.hooks.kit import with_claude_files


@pytest.fixture
def configured(environ, tmp_path):
    """Write the user's settings."""

    def write(text):
        file = tmp_path / "home/.config/steersman/config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text)

    return write


def entry(event, command):
    return f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "command"\ncommand = "{command}"\n'


def test_a_refused_message_ends_the_run_with_the_reason(steer, configured, script):
    configured(entry("UserPromptSubmit", "echo not on Sundays >&2; exit 2"))
    done = steer("run", "--yes", "--model", script({"tool_calls": [FIX]}, DONE), "fix it")

    assert done.returncode != 0
    assert "A hook refused the message. not on Sundays" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert (steer.folder / "calc.py").read_text() == BROKEN


def test_what_hooks_decide_and_where_they_fail_is_shown(steer, configured, script):
    configured(entry("PreToolUse", "echo no edits >&2; exit 2") + entry("Stop", "exit 7"))
    done = steer("run", "--yes", "--model", script({"tool_calls": [FIX]}, DONE), "fix it")

    assert done.returncode == 0, done.stderr
    shown = done.stdout + done.stderr
    assert "hook PreToolUse (echo no edits >&2; exit 2): deny · no edits" in shown
    assert "hook Stop (exit 7): failed: exit code 7" in shown


def test_settings_with_a_wrong_hook_are_refused_in_a_sentence(steer, configured, script):
    configured(entry("OnSave", "true"))
    done = steer("run", "--model", script(DONE), "go")

    assert done.returncode != 0
    assert "There is no event “OnSave” for hooks" in " ".join(done.stderr.split())


def test_hooks_are_listed_by_event_with_the_events_that_have_none(steer, configured, workspace):
    configured(entry("SubagentStop", "say done") + entry("Stop", "make check"))

    shown = steer("hooks")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.splitlines() == [
        "Stop: make check (your settings)",
        "SubagentStop: say done (your settings)",
        "No hooks for PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, PreCompact, "
        "Notification.",
    ]
    records = decoded(steer("hooks", "--json").stdout)
    assert [(one["event"], one["command"]) for one in records] == [
        ("Stop", "make check"),
        ("SubagentStop", "say done"),
    ]


def test_hooks_of_a_folder_that_is_not_trusted_are_named_as_unused(steer, workspace):
    with_claude_files(workspace)
    shown = steer("hooks")
    assert "! The folder's own hooks are not used: it is not trusted." in shown.stdout
    assert "check" not in shown.stdout
