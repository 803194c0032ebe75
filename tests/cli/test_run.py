"""`steer run`: one task, from the prompt to the exit code."""

from tests.world import call


def test_a_scripted_task_reads_edits_runs_and_ends(steer, script, workspace):
    model = script(
        {"text": "Looking.", "tool_calls": [call("workspace_read_file", path="calc.py")]},
        {
            "expect": "return a - b",
            "text": "Found it.",
            "tool_calls": [
                call(
                    "workspace_edit_files",
                    files=[
                        {"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}
                    ],
                )
            ],
        },
        {"tool_calls": [call("workspace_run_command", command="cat calc.py")]},
        {"expect": "return a + b", "text": "Done."},
    )

    messages = steer.messages("run", "--model", model, "--approvals", "never", "fix add")

    assert [m["seq"] for m in messages] == list(range(1, len(messages) + 1))
    assert messages[-1]["kind"] == "session_end"
    assert messages[-1]["body"] == {"status": "done", "exit": 0}
    assert (workspace / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
