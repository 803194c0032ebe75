"""`--json` names what orchestrators wait for: changes that are made, and what failed for good."""

from tests.cli.kit import DONE, FIX, READ, WRITE, decoded, shell
from tests.world import call

HAND = "steersman/operations/"


def events(work):
    """What follows from the messages of a run, without where it is said again."""
    return [(e["kind"], e["body"]) for e in work.events]


def test_the_files_that_a_call_changed_are_one_event(steer, script, workspace):
    (workspace / "old.txt").write_text("same\n" * 9)
    moved = shell("mv old.txt new-name.txt; printf '1\\n2\\n' > two.txt; mkdir empty")
    model = script({"tool_calls": [FIX]}, {"tool_calls": [moved]}, {"tool_calls": [READ]}, DONE)

    work = steer.work("run", "--yes", "--model", model, "fix add")

    fixed = {"path": "calc.py", "what": "changed", "added": 1, "removed": 1}
    renamed = {"path": "new-name.txt", "what": "renamed", "moved_from": "old.txt"}
    created = {"path": "two.txt", "what": "created", "added": 2}
    assert events(work) == [
        (
            "diff_commit",
            {
                "actor": HAND + "workspace_edit_files",
                "summary": "1 file changed, +1 -1",
                "files": [fixed],
                "count": 1,
                "added": 1,
                "removed": 1,
            },
        ),
        (
            "diff_commit",
            {
                "actor": HAND + "workspace_run_command",
                "summary": "2 files changed, +2 -0",
                "files": [renamed, created],
                "count": 2,
                "added": 2,
            },
        ),
    ]


def test_an_event_comes_right_after_what_it_follows_from_and_is_not_stored(steer, script):
    model = script({"tool_calls": [WRITE]}, DONE)
    lines = decoded(steer("run", "--json", "--yes", "--model", model, "write").stdout)

    (at,) = (place for place, line in enumerate(lines) if line["kind"] == "diff_commit")
    event, result = lines[at], lines[at - 1]
    assert result["kind"] == "tool_result"
    same = ("thread", "time", "turn", "path", "corr")
    assert [event[name] for name in same] == [result[name] for name in same]
    assert event["seq"] == 0
    assert decoded(steer("replay", event["thread"]).stdout) == [m for m in lines if m["seq"]]


def test_a_commit_does_not_count_the_files_of_git_itself(steer, script, workspace, git):
    git("init", "-q")
    save = shell("git add -A && git -c user.name=n -c user.email=e@example.org commit -qm one")
    work = steer.work("run", "--yes", "--model", script({"tool_calls": [save]}, DONE), "commit")
    assert [m["body"]["status"] for m in work.messages if m["kind"] == "tool_result"] == ["ok"]
    assert events(work) == []


def test_a_tool_and_a_command_that_fail_are_failures(steer, script):
    missing = call("workspace_read_file", path="nowhere.txt")
    model = script({"tool_calls": [missing, shell("exit 3"), shell("true")]}, DONE)

    work = steer.work("run", "--yes", "--model", model, "try")

    assert work.code == 0
    tool, command = (body for kind, body in events(work) if kind == "failure")
    assert tool["actor"] == HAND + "workspace_read_file"
    assert tool["what"] == "tool"
    assert tool["summary"].startswith("workspace_read_file: nowhere.txt does not exist. List")
    assert command == {
        "actor": HAND + "workspace_run_command",
        "summary": "exit 3: exit 3",
        "what": "command",
    }


def test_a_job_that_fails_in_the_background_is_a_failure(steer, script):
    begin = call("workspace_run_command", command="exit 4", background=True)
    end = call("workspace_read_command_output", process_id="p1", wait_timeout=60)
    model = script({"tool_calls": [begin]}, {"tool_calls": [end]}, DONE)

    work = steer.work("run", "--yes", "--model", model, "begin")

    ((kind, body),) = events(work)
    assert (kind, body["what"], body["summary"]) == ("failure", "command", "exit 4: exit 4")


def test_what_was_denied_did_not_fail(steer, script):
    work = steer.work("run", "--model", script({"tool_calls": [WRITE]}, DONE), "write")
    assert events(work) == []


def test_a_turn_that_fails_is_one_failure_that_says_why(steer, script):
    model = script({"error": {"status": 400, "message": "no such model"}})
    work = steer.work("run", "--model", model, "work")

    ((kind, body),) = events(work)
    assert (kind, body["what"], body["actor"]) == ("failure", "turn", "steersman/coordination")
    (error,) = (m["body"] for m in work.messages if m["kind"] == "error")
    assert body["summary"] == " ".join(filter(None, (error["what"], error.get("why"))))


def test_work_that_cannot_begin_is_a_failure_too(steer):
    work = steer.work("run", "--model", "scripted:missing.json", "work")
    ((kind, body),) = events(work)
    assert (kind, body["what"]) == ("failure", "thread")
    assert "missing.json" in body["summary"]
