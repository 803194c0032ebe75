"""Hooks of the user's settings and a workspace on another machine: none is left out in silence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.remote.conftest import Box
from tests.remote.test_workspace import results
from tests.world import Steer, call

Hooked = Callable[[str, str], None]


@pytest.fixture
def hooked(environ: dict[str, str], tmp_path: Path) -> Hooked:
    """Write the user's settings, with one hook."""

    def write(event: str, command: str) -> None:
        file = tmp_path / "home/.config/steersman/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = "command"\ncommand = "{command}"\n'
        )

    return write


def making(script: Callable[..., str]) -> str:
    """A model that makes a file."""
    made = call("workspace_write_file", path="made.txt", content="made\n")
    return script({"tool_calls": [made]}, {"text": "Done."})


def test_a_workspace_there_is_not_opened_while_a_hook_could_say_no(
    box: Box, far: Steer, script: Callable[..., str], hooked: Hooked
) -> None:
    hooked("PreToolUse", "echo no edits >&2; exit 2")
    done = far("run", "-w", box.address, "--model", making(script), "--yes", "make a file")
    assert done.returncode != 0
    told = " ".join(done.stderr.split())
    assert "Your hooks are not run for a workspace on another machine." in told
    assert "PreToolUse could say no" in told
    assert "Traceback" not in told
    assert not (box.project / "made.txt").exists()
    assert far.messages("threads", "list", "--all") == []


def test_a_thread_there_is_not_continued_either(
    box: Box, far: Steer, script: Callable[..., str], hooked: Hooked
) -> None:
    begun = far.messages("run", "-w", box.address, "--model", script({"text": "Hi."}), "hello")
    hooked("PreToolUse", "exit 2")
    done = far("resume", begun[0]["thread"], "--model", making(script), "--yes", "make a file")
    assert done.returncode != 0
    assert "PreToolUse could say no" in " ".join(done.stderr.split())
    assert not (box.project / "made.txt").exists()


def test_hooks_that_only_take_note_are_not_run_there_and_the_log_says_so(
    box: Box, far: Steer, script: Callable[..., str], hooked: Hooked
) -> None:
    hooked("PostToolUse", "true")
    said = far.messages("run", "-w", box.address, "--model", making(script), "--yes", "make a file")
    assert [one["status"] for one in results(said)] == ["ok"]
    told = [one["body"]["what"] for one in said if one["kind"] == "audit"]
    assert "Your hooks are not run: the workspace is on another machine." in told
