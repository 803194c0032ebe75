"""Hooks of the user's own settings, from the command line."""

import pytest

from tests.cli.kit import BROKEN, DONE, FIX


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
