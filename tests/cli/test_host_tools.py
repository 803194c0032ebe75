"""What the application does for whoever uses it: `open_file`, `show_diff`, `get_vcs_status`,
`change_setting`, and the names it has for others; through the same gate as everything."""

import json
from pathlib import Path

import pytest

from tests.cli.kit import DONE, decoded
from tests.hooks.kit import opened, play
from tests.host.test_settings_by_turn import offered
from tests.world import call


def called(steer, tool, *words):
    done = steer("call", tool, *words)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_open_file_shows_the_lines_around_a_place(steer, workspace):
    (workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 201)))
    found = called(steer, "open_file", "--path", "long.txt", "--line", "100", "--column", "3")
    assert (found["path"], found["line"], found["column"]) == ("long.txt", 100, 3)
    assert found["total_lines"] == 200
    assert found["content"].splitlines()[0] == "90\tline 90"
    assert "100\tline 100" in found["content"]


def test_open_file_shows_no_secret(steer, workspace):
    (workspace / ".env").write_text("TOKEN=x")
    assert "contains secrets" in called(steer, "open_file", "--path", ".env")


def test_get_vcs_status(steer, workspace, git):
    git("add", "calc.py")
    git("commit", "-qm", "first")
    (workspace / "calc.py").write_text("changed\n")
    (workspace / "an ä.txt").write_text("new\n")
    git("add", "an ä.txt")
    found = called(steer, "get_vcs_status")
    head = found.pop("head")
    assert len(head) == 40
    assert found == {
        "vcs": "git",
        "branch": "main",
        "staged": ["an ä.txt"],
        "changed": ["calc.py"],
        "untracked": ["README.md"],
    }


def test_get_vcs_status_runs_no_program_of_the_repository_outside_the_sandbox(
    steer, workspace, git, tmp_path
):
    mark = tmp_path / "ran"
    git("config", "core.fsmonitor", f"touch {mark}; false")
    assert called(steer, "get_vcs_status")["branch"] == "main"
    assert not mark.exists()


def test_without_a_repository_it_is_said_so(steer, tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    told = called(steer.having(folder), "get_vcs_status")
    assert "not a git repository" in told


def test_show_diff_of_the_workspace_file_by_file(steer, workspace, git):
    git("add", ".")
    git("commit", "-qm", "first")
    (workspace / "calc.py").write_text("changed\n")
    (workspace / "README.md").unlink()
    found = called(steer, "show_diff")["files"]
    assert [one["path"] for one in found] == ["README.md", "calc.py"]
    assert "+changed" in found[1]["diff"]
    assert [one["path"] for one in called(steer, "show_diff", "--path", "calc.py")["files"]] == [
        "calc.py"
    ]


def test_show_diff_before_the_first_commit(steer, git):
    git("add", "calc.py")
    assert [one["path"] for one in called(steer, "show_diff")["files"]] == ["calc.py"]


def test_show_diff_of_a_diff_that_one_has(steer):
    parts = [f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n" for name in ("x.py", "y.py")]
    diff = "".join(parts)
    found = called(steer, "show_diff", "--content", diff, "--mode", "ask")["files"]
    assert [one["path"] for one in found] == ["x.py", "y.py"]
    assert [one["diff"] for one in found] == parts


def test_change_setting_is_asked_about(steer, environ):
    told = called(steer, "change_setting", "--key", "max_steps", "--value", "7")
    assert "a change of your setting max_steps needs your approval" in told
    done = called(steer, "change_setting", "--key", "max_steps", "--value", "7", "--yes")
    path = Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml")
    assert done == {"key": "max_steps", "value": "7", "path": str(path)}
    assert path.read_text() == "max_steps = 7\n"


@pytest.mark.parametrize("key", ["approvals", "trust", "status_line", "budget.run.cost", "allow"])
def test_what_agents_may_do_is_set_by_the_user_alone(steer, environ, key):
    told = called(steer, "change_setting", "--key", key, "--value", "never", "--yes")
    assert f"“{key}” decides what agents may do, so only you set it" in told
    assert not Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml").exists()


def test_a_setting_that_does_not_exist_or_a_wrong_value_is_said(steer):
    assert "There is no setting" in called(
        steer, "change_setting", "--key", "colour", "--value", "x", "--yes"
    )
    told = called(steer, "change_setting", "--key", "max_steps", "--value", "0", "--yes")
    assert "max_steps" in told


@pytest.mark.parametrize(
    ("name", "arguments", "meant"),
    [
        ("get_workspace_state", {}, "workspace_status"),
        ("search_workspace", {"query": "return"}, "workspace_search_files"),
        ("run_terminal", {"command": "echo hi"}, "workspace_run_command"),
    ],
)
def test_other_names_mean_the_same_tool_for_rules_hooks_and_log(steer, name, arguments, meant):
    given = json.dumps(arguments)
    assert steer("call", name, given).returncode == 0
    denied = steer("call", name, given, "--deny", meant)
    assert denied.returncode == 3
    (newest, _) = decoded(steer("threads", "list", "--all", "--json").stdout)[:2]
    found = steer.messages("replay", newest["id"])
    assert [one["body"]["tool"] for one in found if one["kind"] == "tool_call"] == [meant]


def test_the_agent_of_a_thread_is_not_offered_them(environ, workspace, script):
    async def scenario(host):
        thread = await opened(host, workspace, script(DONE))
        await thread.call("get_vcs_status", {})
        return offered(host, thread)

    found = play(environ, scenario)
    assert not found & {"open_file", "show_diff", "get_vcs_status", "change_setting"}
    assert not found & {"get_workspace_state", "search_workspace", "run_terminal"}


def test_a_model_that_calls_one_by_its_name_passes_the_gate(environ, workspace, script, steer):
    model = script({"tool_calls": [call("change_setting", key="model", value="x")]}, DONE)
    done = steer.messages("run", "--model", model, "--yes", "go")
    (result,) = [one["body"] for one in done if one["kind"] == "tool_result"]
    assert result["status"] == "malformed"
