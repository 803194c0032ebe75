"""`steer tools` and `steer call`: every tool from a shell, through the same gate."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.kit import BROKEN, FIXED, decoded

NAMES = {
    "workspace_status",
    "workspace_list_files",
    "workspace_read_file",
    "workspace_edit_files",
    "workspace_write_file",
    "workspace_run_command",
}


def edit(search, replace, path="calc.py"):
    """Arguments of an edit."""
    return {"files": [{"path": path, "edits": [{"search": search, "replace": replace}]}]}


def test_tools_lists_every_tool_with_its_arguments(steer):
    done = steer("tools")

    assert done.returncode == 0
    assert {line.partition("(")[0] for line in done.stdout.splitlines()} >= NAMES
    assert "workspace_read_file(path, offset, limit)\n    Read lines of" in done.stdout


def test_tools_as_json_have_a_name_words_and_a_schema(steer):
    tools = decoded(steer("tools", "--json").stdout)

    assert {tool["name"] for tool in tools} >= NAMES
    for tool in tools:
        assert set(tool) == {"name", "description", "parameters", "family"}
        assert tool["description"].endswith(".")
        Draft202012Validator.check_schema(tool["parameters"])
        assert tool["parameters"]["type"] == "object"
        assert tool["parameters"]["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool)
    (read,) = (tool["parameters"] for tool in tools if tool["name"] == "workspace_read_file")
    assert read["required"] == ["path"]
    assert read["properties"]["offset"] == {
        "type": "integer",
        "minimum": 1,
        "description": "first line, 1-based",
    }


def called(steer, tool, arguments, *flags):
    """The exit code and the result of a call; what is not a result is not on standard output."""
    done = steer("call", tool, json.dumps(arguments), *flags)
    assert bool(done.stdout) == (done.returncode == 0)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_status(steer, workspace):
    assert called(steer, "workspace_status", {}) == (
        0,
        {
            "workspace": str(workspace),
            "entries": [".git/", "README.md", "calc.py"],
            "branch": "main",
            "mode": "code",
            "engine": "native",
        },
    )


def test_the_arguments_may_be_left_out(steer, workspace):
    assert json.loads(steer("call", "workspace_status").stdout)["workspace"] == str(workspace)


def test_list_files(steer, workspace):
    (workspace / "src" / "deep").mkdir(parents=True)
    (workspace / "src" / "deep" / "er.py").touch()

    assert called(steer, "workspace_list_files", {"depth": 2}) == (
        0,
        {
            "files": ["README.md\t7", "calc.py\t32", "src/", "src/deep/\t1 file"],
            "total_files": 3,
            "left_out": ["deeper: 1 file; raise depth"],
        },
    )
    assert called(steer, "workspace_list_files", {"path": "src"})[1]["files"] == [
        "deep/",
        "deep/er.py\t0",
    ]


def test_read_file(steer):
    assert called(steer, "workspace_read_file", {"path": "calc.py", "offset": 2}) == (
        0,
        {
            "success": True,
            "file_size": 32,
            "total_lines": 2,
            "lines_read": 1,
            "content": "2\t    return a - b",
        },
    )


def test_edit_files(steer, workspace):
    code, result = called(steer, "workspace_edit_files", edit("a - b", "a + b"), "--yes")

    assert (code, "calc.py" in str(result["files"])) == (0, True)
    assert (workspace / "calc.py").read_text() == FIXED


def test_write_file(steer, workspace):
    arguments = {"path": "docs/new.txt", "content": "new\n"}

    code, result = called(steer, "workspace_write_file", arguments, "--approvals", "never")

    assert (code, result["path"], result["created"]) == (0, "docs/new.txt", True)
    assert (workspace / "docs" / "new.txt").read_text() == "new\n"


def test_run_command(steer):
    code, result = called(
        steer, "workspace_run_command", {"command": "echo out; echo err >&2; exit 3"}, "--yes"
    )

    assert (code, result["exit_code"], result["output"]) == (0, 3, "out\nerr\n")


def test_a_command_is_told_that_what_it_left_running_ended_with_it(steer):
    _, result = called(steer, "workspace_run_command", {"command": "sleep 600 & echo up"}, "--yes")

    assert result["output"] == "up\n"
    assert "what it started with & ended with it" in result["note"]


def test_the_workspace_may_be_another_folder(steer, workspace, tmp_path):
    elsewhere = steer.having(folder=tmp_path)

    code, result = called(elsewhere, "workspace_status", {}, "--workspace", str(workspace))

    assert (code, result["workspace"]) == (0, str(workspace))


FAILING = {
    "a file that is not there": (
        "workspace_read_file",
        {"path": "missing"},
        "missing does not exist",
    ),
    "a text that is not there": ("workspace_edit_files", edit("a * b", "x"), "calc.py"),
    "a folder that is a file": (
        "workspace_list_files",
        {"path": "calc.py"},
        "calc.py is not a folder",
    ),
}
WRONG = {
    "a missing field": ("workspace_read_file", {}, "`path` is missing"),
    "an unknown field": ("workspace_status", {"x": 1}, "there is no `x`"),
    "a wrong type": ("workspace_read_file", {"path": 3}, "`path` must be text"),
    "an unknown tool": ("workspace_fly", {}, "The tools are: workspace_status, "),
}
OUTSIDE = {
    "reading": ("workspace_read_file", {"path": "../outside.txt"}),
    "reading by a whole path": ("workspace_read_file", {"path": "/etc/hostname"}),
    "reading through a link": ("workspace_read_file", {"path": "link"}),
    "listing": ("workspace_list_files", {"path": "/"}),
    "writing": ("workspace_write_file", {"path": "../outside.txt", "content": "x"}),
    "writing through a link": ("workspace_write_file", {"path": "link", "content": "x"}),
    "editing": ("workspace_edit_files", edit("mine", "yours", "../outside.txt")),
    "running": ("workspace_run_command", {"command": "touch here", "cwd": ".."}),
}
ASKING = {
    "writing": ("workspace_write_file", {"path": "calc.py", "content": "x\n"}, "  +x\n"),
    "editing": ("workspace_edit_files", edit("a - b", "a + b"), "  +    return a + b\n"),
    "leaving the sandbox": (
        "workspace_run_command",
        {"command": "touch here", "outside_sandbox": True},
        "  $ touch here\n",
    ),
}


@pytest.mark.parametrize(("tool", "arguments", "told"), FAILING.values(), ids=FAILING)
def test_a_call_that_fails_exits_with_1(steer, tool, arguments, told):
    code, words = called(steer, tool, arguments, "--yes")

    assert (code, told in words) == (1, True)


@pytest.mark.parametrize(("tool", "arguments", "told"), WRONG.values(), ids=WRONG)
def test_a_call_that_cannot_be_right_exits_with_2(steer, tool, arguments, told):
    code, words = called(steer, tool, arguments, "--yes")

    assert (code, told in words) == (2, True)


@pytest.mark.parametrize("text", ["{", "[]", "3", '"x"', "null", "", "{'path': 'calc.py'}"])
def test_arguments_that_are_not_a_json_object_exit_with_2(steer, text):
    done = steer("call", "workspace_read_file", text)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: The arguments are not a JSON object.\n")
    assert """steer call workspace_read_file '{"path": "README.md"}'""" in done.stderr


@pytest.mark.parametrize(("tool", "arguments"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_call_outside_the_workspace_exits_with_3(steer, workspace, tool, arguments):
    outside = workspace.parent / "outside.txt"
    outside.write_text("mine\n")
    (workspace / "link").symlink_to(outside)

    code, words = called(steer, tool, arguments, "--yes", "--approvals", "never")

    assert code == 3
    assert "is outside the workspace" in words
    assert "Rule: paths.outside." in words
    assert outside.read_text() == "mine\n"
    assert not (workspace.parent / "here").exists()


@pytest.mark.parametrize("flags", [["--mode", "ask"], ["--trust", "restricted"]], ids=" ".join)
@pytest.mark.parametrize(("tool", "arguments", "_"), ASKING.values(), ids=ASKING)
def test_a_call_that_mode_or_trust_forbids_exits_with_3(
    steer, workspace, tool, arguments, _, flags
):
    code, words = called(steer, tool, arguments, "--yes", *flags)

    assert code == 3
    assert words.startswith("Denied: ")
    assert (workspace / "calc.py").read_text() == BROKEN
    assert not (workspace / "here").exists()


@pytest.mark.parametrize(("tool", "arguments", "shown"), ASKING.values(), ids=ASKING)
def test_a_call_that_needs_an_answer_shows_the_request_and_exits_with_4(
    steer, workspace, tool, arguments, shown
):
    code, words = called(steer, tool, arguments)

    assert code == 4
    assert "? You want to " in words
    assert shown in words
    assert (
        f"“{tool.removeprefix('workspace_').replace('_', ' ')}” needs an answer, but there is no"
        in words
    )
    assert "--yes or --approvals never" in words
    assert (workspace / "calc.py").read_text() == BROKEN
    assert not (workspace / "here").exists()


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "exit_code"),
    [
        ("workspace_status", {}, "done", 0),
        ("workspace_read_file", {"path": "missing"}, "failed", 1),
        ("workspace_read_file", {"path": 3}, "failed", 2),
        ("workspace_read_file", {"path": ".."}, "denied", 3),
        ("workspace_run_command", {"command": "true"}, "done", 0),
        ("workspace_run_command", {"command": "true", "outside_sandbox": True}, "needs_answer", 4),
    ],
)
def test_the_log_of_a_call_ends_with_its_exit_code(steer, tool, arguments, status, exit_code):
    code, _ = called(steer, tool, arguments)
    (thread,) = decoded(steer("threads", "list", "--all", "--json").stdout)
    messages = decoded(steer("replay", thread["id"]).stdout)

    assert thread["origin"] == "call"
    assert [m["kind"] for m in messages if m["kind"] in ("tool_call", "tool_result")] == [
        "tool_call",
        "tool_result",
    ]
    assert messages[-1]["kind"] == "session_end"
    assert (messages[-1]["body"]["status"], messages[-1]["body"]["exit"]) == (status, exit_code)
    assert code == exit_code
    assert steer("ledger", "verify").returncode == 0
