"""`steer --workspace ssh://HOST/PATH`: the tools work where the code is, the log is at home."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steersman.records.message import MASK
from tests.remote.conftest import SECRET, Box
from tests.world import Steer, call


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [one["kind"] for one in messages]


def results(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["body"] for one in messages if one["kind"] == "tool_result"]


def test_files_are_read_and_edited_where_they_are(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    model = script(
        {"tool_calls": [call("workspace_read_file", path="calc.py")]},
        {"tool_calls": [call("workspace_edit_files", files=[
            {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}])]},
        {"text": "Done."},
    )  # fmt: skip
    said = far.messages("run", "-w", box.address, "--model", model, "--yes", "fix it")
    assert [(one["status"], one["tool"]) for one in results(said)] == [
        ("ok", "workspace_read_file"),
        ("ok", "workspace_edit_files"),
    ]
    assert (box.project / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert "checkpoint" in kinds(said)
    assert not list(far.folder.iterdir())  # nothing of it is here


def test_commands_run_there_in_the_sandbox_and_what_they_change_is_in_the_log(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    model = script(
        {"tool_calls": [call("workspace_run_command", command="echo hello > new.txt; pwd")]},
        {"text": "Done."},
    )
    said = far.messages("run", "-w", box.address, "--model", model, "--yes", "make a file")
    (result,) = results(said)
    assert result["status"] == "ok", result
    assert str(box.project) in result["output"]["output"]
    assert (box.project / "new.txt").read_text() == "hello\n"
    (made,) = [one for one in said if one["kind"] == "checkpoint"]
    assert [one["path"] for one in made["body"]["changes"]] == ["new.txt"]


def test_the_gate_here_decides_about_files_there(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    (box.project / ".env").write_text("TOKEN=1234567890\n")
    (box.project / "way").symlink_to("/etc")
    (box.project / "hidden").symlink_to(".env")
    model = script(
        {"tool_calls": [
            call("workspace_read_file", path=".env"),
            call("workspace_read_file", path="hidden"),
            call("workspace_read_file", path="way/passwd"),
            call("workspace_write_file", path=".git/hooks/pre-commit", content="x"),
            call("workspace_run_command", command="rm -rf /"),
            call("workspace_run_command", command="cat .env"),
        ]},
        {"text": "Done."},
    )  # fmt: skip
    said = far.messages("run", "-w", box.address, "--model", model, "try")
    told = [(one["status"], one.get("message", "").split(":")[0]) for one in results(said)]
    assert told[:3] == [("denied", "Denied")] * 3
    assert told[3][0] == "denied"
    verdicts = [one["body"]["verdict"] for one in said if one["kind"] == "policy"]
    assert {"secrets.hidden", "paths.outside", "paths.protected"} <= {v["rule"] for v in verdicts}
    assert not (box.project / ".git/hooks/pre-commit").exists()


def test_rules_of_this_machine_hold_there(box: Box, far: Steer, script: Callable[..., str]) -> None:
    model = script(
        {"tool_calls": [call("workspace_run_command", command="touch made")]}, {"text": "Done."}
    )
    said = far.messages(
        "run", "-w", box.address, "--model", model, "--yes", "--deny", "Bash(touch *)", "go"
    )
    assert results(said)[0]["status"] == "denied"
    assert not (box.project / "made").exists()


def test_the_model_gets_the_instructions_of_the_project(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    (box.project / "AGENTS.md").write_text("Always whisper.\n")
    (box.project / "sub").mkdir()
    (box.project / "sub" / "AGENTS.md").write_text("Here, shout.\n")
    (box.project / "sub" / "a.txt").write_text("a\n")
    model = script(
        {"tool_calls": [call("workspace_read_file", path="sub/a.txt")]}, {"text": "Done."}
    )
    said = far.messages("run", "-w", box.address, "--model", model, "read")
    assert "Here, shout." in results(said)[0]["note"]


def test_a_thread_is_continued_there(box: Box, far: Steer, script: Callable[..., str]) -> None:
    first = script({"text": "Hello."})
    begun = far.messages("run", "-w", box.address, "--model", first, "hello")
    thread = begun[0]["thread"]
    then = script(
        {"text": "Hello."},
        {"tool_calls": [call("workspace_write_file", path="a.txt", content="a\n")]},
        {"text": "Done."},
        name="then.json",
    )
    done = far("resume", thread, "--model", then, "--yes", "write a file")
    assert done.returncode == 0, done.stderr
    assert (box.project / "a.txt").read_text() == "a\n"


def test_what_cannot_be_reached_is_a_sentence(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    model = script({"text": "Done."})
    for address, told in {
        f"ssh://box{box.project}/missing": f"The workspace {box.project}/missing does not exist.",
        "ssh://box": "It names no folder.",
        "ssh://-oProxyCommand=x/tmp": "It names no host.",
        "https://example.org/tmp": "A token is needed for a workspace on example.org.",
    }.items():
        done = far("run", "-w", address, "--model", model, "go")
        assert told in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    far.environ["STEERSMAN_REMOTE_COMMAND"] = "no-such-program"
    done = far("run", "-w", box.address, "--model", model, "go")
    assert "There is no Steersman on box." in done.stderr
    far.environ["STEERSMAN_REMOTE_COMMAND"] = "echo Welcome to this machine;"
    done = far("run", "-w", box.address, "--model", model, "go")
    assert "box does not answer as a workspace agent does." in done.stderr


def test_what_a_turn_did_there_is_undone_and_redone_from_here(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    model = script(
        {"tool_calls": [
            call("workspace_run_command", command="rm README.md; echo two > new.txt"),
            call("workspace_edit_files", files=[
                {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}]),
        ]},
        {"text": "Done."},
    )  # fmt: skip
    said = far.messages("run", "-w", box.address, "--model", model, "--yes", "work")
    thread = said[0]["thread"]
    assert not (box.project / "README.md").exists()

    shown = far("undo", thread, "--list")
    assert "a + b" in shown.stdout, shown.stderr
    undone = far("undo", thread, "--yes")
    assert undone.returncode == 0, undone.stderr
    assert (box.project / "README.md").read_text() == "# Calc\n"
    assert "a - b" in (box.project / "calc.py").read_text()
    assert not (box.project / "new.txt").exists()

    redone = far("redo", thread, "--yes")
    assert redone.returncode == 0, redone.stderr
    assert "a + b" in (box.project / "calc.py").read_text()
    assert not (box.project / "README.md").exists()


def test_an_undo_there_keeps_what_someone_else_wrote(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    model = script(
        {"tool_calls": [call("workspace_write_file", path="a.txt", content="ours\n")]},
        {"text": "Done."},
    )
    said = far.messages("run", "-w", box.address, "--model", model, "--yes", "work")
    (box.project / "a.txt").write_text("theirs\n")
    done = far("undo", said[0]["thread"], "--yes")
    assert done.returncode != 0
    assert "a.txt" in done.stdout + done.stderr
    assert (box.project / "a.txt").read_text() == "theirs\n"


def test_a_single_call_there(box: Box, far: Steer) -> None:
    done = far("call", "workspace_read_file", '{"path": "calc.py"}', "--workspace", box.address)
    assert "return a - b" in done.stdout, done.stderr


def test_secrets_of_the_other_machine_are_not_in_the_log_here(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    (box.project / "notes.txt").write_text(f"The token is {SECRET}.\n")
    model = script(
        {"tool_calls": [
            call("workspace_read_file", path="notes.txt"),
            call("workspace_run_command", command=f"echo {SECRET} > copy.txt; cat notes.txt"),
        ]},
        {"text": "Done."},
    )  # fmt: skip
    said = far("run", "-w", box.address, "--model", model, "--yes", "--json", "read").stdout
    calls = [line for line in said.splitlines() if '"kind":"assistant"' not in line]
    assert SECRET not in "".join(calls)
    assert said.count(MASK) >= 4


@pytest.mark.parametrize("words", [("undo", "--list"), ("undo", "--yes"), ("resume",)])
def test_a_file_makes_no_machine_connect_to_another(
    box: Box, far: Steer, script: Callable[..., str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Whoever writes the file of a thread chooses the address in its first line."""
    model = script({"text": "Done."})
    thread = far.messages("run", "-w", box.address, "--model", model, "go")[0]["thread"]
    file = tmp_path / "thread.jsonl"
    file.write_text(far("threads", "export", thread).stdout)
    assert far("threads", "rm", thread, "--yes").returncode == 0
    assert far("threads", "import", str(file)).returncode == 0
    box.end()
    done = far(words[0], thread, *words[1:])
    assert done.returncode != 0
    assert "came out of a file" in done.stderr
    assert box.agents() == []


def test_what_the_agent_keeps_is_for_its_person_alone_whatever_the_umask_is(
    box: Box, far: Steer, script: Callable[..., str]
) -> None:
    ssh = Path(far.environ["STEERSMAN_SSH_COMMAND"])
    ssh.write_text(ssh.read_text().replace("#!/bin/sh\n", "#!/bin/sh\numask 000\n"))
    box.data = box.home / "kept" / "data"
    ssh.write_text(ssh.read_text().replace(f"{box.home}/data", str(box.data)))
    model = script(
        {"tool_calls": [call("workspace_run_command", command="echo two > README.md")]},
        {"text": "Done."},
    )
    far.messages("run", "-w", box.address, "--model", model, "--yes", "work")
    kept = [box.data.parent, *box.data.parent.rglob("*")]
    assert box.data / "agent" / "agent.log" in kept
    others = {str(one): oct(one.lstat().st_mode) for one in kept if one.lstat().st_mode & 0o077}
    assert others == {}
