"""Bypass classes that no text shows: each tried on the whole product, and by what it is contained.

What the guard reads in a command is in `tests/governance/guard/test_bypasses.py`; attempts to
leave the sandbox itself are in `tests/operations/sandbox/`.
"""

import json
import os

import pytest

from tests.cli.kit import DONE, shell
from tests.world import call


def results(steer, script, *calls, flags=("--approvals", "never")):
    model = script(*({"tool_calls": [one]} for one in calls), DONE)
    done = steer("run", "go", "--model", model, "--json", *flags)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return [m["body"] for m in messages if m["kind"] == "tool_result"]


def test_a_link_planted_by_a_command_is_not_followed_by_the_edit_tool(
    steer, script, workspace, tmp_path
):
    """Contained by the gate: paths are resolved before they are judged, and again when written."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes").write_text("mine\n")
    planted, written, edited = results(
        steer, script,
        shell(f"ln -s {outside} door && ln -s {outside}/notes file && ls"),
        call("workspace_write_file", path="door/new", content="x"),
        call("workspace_write_file", path="file", content="x"),
    )  # fmt: skip
    assert planted["status"] == "ok"
    assert [written["status"], edited["status"]] == ["denied", "denied"]
    assert os.listdir(outside) == ["notes"]
    assert (outside / "notes").read_text() == "mine\n"


@pytest.mark.parametrize(
    "plant",
    [
        "mkdir -p .husky && echo evil > .husky/pre-commit",
        "mkdir -p .claude && echo '{}' > .claude/settings.json",
        "echo '{}' > .mcp.json",
        "echo evil > .git/hooks/post-checkout",
        "git config core.fsmonitor ./evil",
        "mv .git .git.bak && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
        "mkdir -p .steersman && echo > .steersman/rules.toml",
    ],
)
@pytest.mark.parametrize("background", [False, True], ids=["view", "direct"])
def test_a_protected_file_that_is_missing_is_not_created(
    steer, script, workspace, plant, background
):
    """Contained by the judgement of effects over a view, by pins on the folder itself."""
    before = (workspace / ".git" / "config").read_text()
    run = call("workspace_run_command", command=plant, background=background, wait_timeout=20)
    results(steer, script, run)
    for name in (".husky", ".claude", ".mcp.json", ".git/hooks/post-checkout", ".git.bak",
                 ".git/hooks/pre-commit", ".steersman"):  # fmt: skip
        assert not (workspace / name).exists(), name
    assert (workspace / ".git" / "config").read_text() == before


@pytest.mark.parametrize("cwd", ["/", "..", "/tmp", "sub/../.."])
def test_the_model_does_not_choose_the_root_of_the_sandbox(steer, script, cwd):
    """Contained by the trust ceiling: a folder outside the workspace is none to work in."""
    (result,) = results(steer, script, call("workspace_run_command", command="ls", cwd=cwd))
    assert result["status"] == "denied"


def test_an_escape_hatch_that_the_model_opens_alone_stays_shut(steer, script, tmp_path):
    """Contained by policy: leaving the sandbox is always a person's word."""
    run = call("workspace_run_command", command=f"touch {tmp_path}/out", outside_sandbox=True)
    for flags in (("--approvals", "never"), ("--approvals", "on-failure")):
        (result,) = results(steer, script, run, flags=flags)
        assert result["status"] == "denied"
    assert not (tmp_path / "out").exists()


def test_no_address_but_the_sandboxes_own_skips_the_proxy(steer, script):
    """Contained by the door: nothing private is in NO_PROXY, and there is no other way out."""
    environ, direct = results(
        steer, script, shell("python3 -c 'import os; print(os.environ[\"NO_PROXY\"])'"),
        shell("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 3)'"),
    )  # fmt: skip
    assert environ["output"]["output"].strip() == "localhost,127.0.0.1,::1"
    assert direct["output"]["exit_code"] != 0
    assert "unreachable" in direct["output"]["output"]


def test_a_repositorys_own_settings_do_nothing_before_trust(steer, script, workspace):
    """Contained by folder trust."""
    folder = workspace / ".steersman"
    folder.mkdir()
    (folder / "config.toml").write_text('mode = "ask"\nmax_steps = 1\n')
    (folder / "rules.toml").write_text("this is no TOML\n")
    made = results(steer, script, shell("echo one"), shell("echo two"))
    assert [result["status"] for result in made] == ["ok", "ok"]


def test_a_folder_whose_name_begins_like_the_workspace_is_another(steer, script, workspace):
    """Contained by comparing paths part by part."""
    evil = workspace.parent / "project-evil"
    evil.mkdir()
    (result,) = results(
        steer, script, call("workspace_write_file", path="../project-evil/x", content="x")
    )
    assert result["status"] == "denied"
    assert os.listdir(evil) == []
