"""`steer run`: one task, from the prompt to the exit code."""

import re

import pytest

from tests.cli.kit import (
    BROKEN,
    DONE,
    FIX,
    FIXED,
    READ,
    WRITE,
    decoded,
    outside,
    shell,
    threads_in,
)
from tests.world import call


def test_a_scripted_task_reads_edits_runs_and_ends(steer, script, workspace):
    model = script(
        {"text": "Looking.", "tool_calls": [READ]},
        {"expect": "return a - b", "text": "Found it.", "tool_calls": [FIX]},
        {"tool_calls": [shell("cat calc.py")]},
        {"expect": "return a + b", "text": "Done."},
    )

    work = steer.work("run", "--model", model, "--approvals", "never", "fix add")

    assert [m["seq"] for m in work.messages] == list(range(1, len(work.messages) + 1))
    assert work.bodies("session_end") == [{"status": "done", "exit": 0}]
    assert work.bodies("turn_end") == [{"ending": "done", "steps": 4}]
    stat = {"path": "calc.py", "what": "changed", "added": 1, "removed": 1}
    assert work.bodies("summary") == [
        {
            "files": [stat],
            "count": 1,
            "added": 1,
            "removed": 1,
            "log": f"steer replay {work.thread}",
        }
    ]
    assert work.kinds()[-3:] == ["summary", "turn_end", "session_end"]
    assert work.bodies("diff_ready") == [
        {
            "file": "calc.py",
            "diff": "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n"
            "-    return a - b\n+    return a + b\n",
            "added": 1,
            "removed": 1,
        }
    ]
    read, edited, run = work.bodies("tool_result")
    assert read == {
        "tool": "workspace_read_file",
        "status": "ok",
        "output": {
            "success": True,
            "file_size": 32,
            "total_lines": 2,
            "lines_read": 2,
            "content": "1\tdef add(a, b):\n2\t    return a - b",
        },
    }
    assert (edited["tool"], edited["status"]) == ("workspace_edit_files", "ok")
    assert (run["tool"], run["status"]) == ("workspace_run_command", "ok")
    assert (run["output"]["exit_code"], run["output"]["output"]) == (0, FIXED)
    assert (workspace / "calc.py").read_text() == FIXED


def test_every_call_of_an_answer_gets_its_own_result_in_order(steer, script):
    model = script(
        {"tool_calls": [READ, call("workspace_status"), FIX, shell("cat calc.py"), READ]},
        {"expect": "a + b", "text": "Done."},
    )

    work = steer.work("run", "--model", model, "--approvals", "never", "do it all at once")

    (asking, _) = work.bodies("assistant")
    calls = [m["corr"] for m in work.messages if m["kind"] == "tool_call"]
    results = [m["corr"] for m in work.messages if m["kind"] == "tool_result"]
    assert asking["calls"] == calls
    assert sorted(results) == sorted(calls)
    outputs = {m["corr"]: m["body"]["output"] for m in work.messages if m["kind"] == "tool_result"}
    assert "a - b" in outputs[calls[0]]["content"]
    assert outputs[calls[3]]["output"] == FIXED
    assert "a + b" in outputs[calls[4]]["content"]


def test_a_call_is_logged_before_its_verdict_and_that_before_its_result(steer, script):
    model = script({"tool_calls": [FIX]}, DONE)

    work = steer.work("run", "--model", model, "--approvals", "never", "fix add")

    told = ("session_start", "turn_start", "user", "assistant", "tool_call", "policy",
            "diff_ready", "tool_result", "turn_end", "session_end")  # fmt: skip
    assert [kind for kind in work.kinds() if kind in told] == [
        "session_start", "turn_start", "user",
        "assistant", "tool_call",
        "policy", "policy", "diff_ready", "tool_result",
        "assistant",
        "turn_end", "session_end",
    ]  # fmt: skip
    look, change = work.bodies("policy")
    assert (look["action"]["action"], look["verdict"]["decision"]) == ("read", "allow")
    assert (change["action"]["action"], change["verdict"]["rule"]) == ("write", "approvals.never")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["run", "fix the sum"], ""),
        (["run", "fix", "the", "sum"], ""),
        (["run", "-e", "fix the sum"], ""),
        (["run", "-e", "fix", "the", "sum"], ""),
        (["-e", "fix the sum"], ""),
        (["-e", "fix", "the", "sum"], ""),
        (["run", "-"], "fix the sum\n"),
        (["-e", "-"], "fix the sum\n"),
        (["run", "--", "fix the sum"], ""),
    ],
)
def test_a_task_can_be_given_as_words_as_one_argument_or_on_standard_input(
    steer, script, words, stdin
):
    work = steer.having(STEERSMAN_MODEL=script(DONE)).work(*words, stdin=stdin)

    assert work.bodies("user") == [{"text": "fix the sum"}]


@pytest.mark.parametrize("words", [["run", "-e"], ["-e"]])
def test_a_task_given_as_one_argument_may_begin_with_a_dash(steer, script, words):
    work = steer.work(*words, "-v is not known", "--model", script(DONE))

    assert work.bodies("user") == [{"text": "-v is not known"}]


SUITE = "pytest() { echo 1 failed, 2 passed; return 3; }"


def test_plain_output_tells_the_conversation_the_diff_and_the_end(steer, script):
    model = script(
        {"text": "I will mend it.", "tool_calls": [FIX]},
        {"tool_calls": [shell(f"{SUITE}; pytest -q")]},
        {"tool_calls": [outside("date")]},
        {"text": "Mended."},
    )

    done = steer("run", "--model", model, "--approvals", "never", "fix add")

    thread = done.stdout.rsplit(" ", 1)[-1].strip()
    assert done.returncode == 0
    assert re.sub(r"after \d.\d s", "after a while", done.stdout).splitlines() == [
        "I will mend it.",
        "● edit_files calc.py",
        "  --- a/calc.py",
        "  +++ b/calc.py",
        "  @@ -1,2 +1,2 @@",
        "   def add(a, b):",
        "  -    return a - b",
        "  +    return a + b",
        "  └ 1 file",
        f"● run_command {SUITE}; pytest -q",
        "  └ exit 3 after a while",
        "    1 failed, 2 passed",
        "● run_command date",
        "  └ denied: a command outside the sandbox needs approval, and this run cannot ask: "
        "nothing was refused …",
        "Mended.",
        "1 file changed, +1 −1",
        "  calc.py +1 −1",
        f"tests: {SUITE}; pytest -q failed with exit code 3: 1 failed, 2 passed",
        "1 call denied",
        f"log: steer replay {thread}",
        f"✓ done · 4 steps · thread {thread}",
    ]
    assert done.stderr == ""


def test_quiet_prints_the_final_answer_and_nothing_else(steer, script):
    model = script({"text": "Looking.", "tool_calls": [READ]}, {"text": "It subtracts."})

    done = steer("run", "--model", model, "--quiet", "what does add do?")

    assert (done.returncode, done.stdout, done.stderr) == (0, "It subtracts.\n", "")


def test_quiet_still_says_what_needs_an_answer(steer, script):
    model = script({"text": "Mending.", "tool_calls": [FIX]}, DONE)

    done = steer("run", "--model", model, "--quiet", "fix add")

    assert done.returncode == 4
    assert "“edit files” needs an answer, but there is no one to ask." in done.stderr
    assert "+    return a + b" in done.stderr


def test_quiet_still_says_why_it_failed(steer, script):
    model = script({"error": {"status": 400, "message": "no such model"}})

    done = steer("run", "--model", model, "--quiet", "fix add")

    assert done.returncode == 1
    assert "The model answered with status 400." in done.stderr


def test_deltas_are_printed_on_demand_and_are_not_counted(steer, script):
    model = script({"text": "One two three.", "reasoning": "Let me count.", "chunk": 4})

    work = steer.work("run", "--model", model, "--deltas", "count")

    pieces = [m for m in work.messages if m["kind"].endswith("_delta")]
    assert {m["seq"] for m in pieces} == {0}
    # The end of a piece waits for the next one while it may begin a secret.
    assert "|".join(b["text"] for b in work.bodies("reasoning_delta")) == "Let |me |count|."
    assert "|".join(b["text"] for b in work.bodies("assistant_delta")) == "One |two |thre|e."
    assert [(b["text"], b["reasoning"]) for b in work.bodies("assistant")] == [
        ("One two three.", "Let me count.")
    ]
    stored = [m["seq"] for m in work.messages if m["seq"]]
    assert stored == list(range(1, len(stored) + 1))


def test_without_deltas_only_stored_messages_are_printed(steer, script):
    model = script({"text": "One two three.", "chunk": 4, "tool_calls": [shell("echo hi")]}, DONE)

    work = steer.work("run", "--model", model, "--yes", "count")

    assert all(m["seq"] for m in work.messages)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--mode", "ask"], "Denied: ask mode only reads."),
        (["--trust", "restricted"], "nothing may be written, run or fetched"),
    ],
    ids=["ask mode", "restricted trust"],
)
def test_what_mode_or_trust_forbids_is_refused_and_the_model_is_told(
    steer, script, workspace, flags, told
):
    model = script(
        {"tool_calls": [READ, FIX]},
        {"expect": told, "tool_calls": [WRITE]},
        {"expect": told, "tool_calls": [shell("touch new.txt")]},
        {"expect": told, "text": "I may not."},
    )

    work = steer.work("run", "--model", model, "--yes", "--approvals", "never", *flags, "fix add")

    assert work.bodies("session_end") == [{"status": "done", "exit": 0}]
    assert [body["status"] for body in work.bodies("tool_result")] == ["ok", *["denied"] * 3]
    assert (workspace / "calc.py").read_text() == BROKEN
    assert not (workspace / "new.txt").exists()


OUTSIDE = [
    call("workspace_read_file", path="../secret.txt"),
    call("workspace_read_file", path="/etc/hostname"),
    call("workspace_list_files", path=".."),
    call("workspace_write_file", path="../secret.txt", content="mine\n"),
    call("workspace_run_command", command="touch seen", cwd=".."),
]


@pytest.mark.parametrize("begun", [False, True], ids=["run", "resume"])
def test_only_the_tools_of_a_list_are_offered(steer, script, workspace, begun):
    calls = script({"tool_calls": [READ, WRITE]}, DONE, name="calls.json")
    words = ["run"]
    if begun:
        started = steer.messages("run", "--model", script(DONE), "begin")
        words = ["resume", started[0]["thread"]]
    messages = steer.messages(*words, "--model", calls, "--tools", "Read", "--yes", "go on")
    results = [m["body"]["status"] for m in messages if m["kind"] == "tool_result"]
    assert sorted(results) == ["malformed", "ok"]
    assert not (workspace / "new.txt").exists()


def test_what_lies_outside_the_workspace_is_out_of_reach(steer, script, workspace):
    secret = workspace.parent / "secret.txt"
    secret.write_text("not yours\n")
    model = script(
        {"tool_calls": OUTSIDE}, {"expect": "is outside the workspace", "text": "I may not."}
    )

    work = steer.work("run", "--model", model, "--yes", "--approvals", "never", "look around")

    assert [body["status"] for body in work.bodies("tool_result")] == ["denied"] * len(OUTSIDE)
    assert secret.read_text() == "not yours\n"
    assert not (workspace.parent / "seen").exists()


def test_with_nobody_to_answer_the_run_ends_with_the_request(steer, script, workspace):
    model = script({"tool_calls": [READ, FIX]}, DONE)

    work = steer.work("run", "--model", model, "fix add")

    (request,) = work.bodies("confirm_request")
    (_, call_id) = [m["corr"] for m in work.messages if m["kind"] == "tool_call"]
    assert request["call"] == call_id
    assert request["tool"] == "workspace_edit_files"
    assert request["reason"] == "a change of a file needs your approval"
    assert [action["path"] for action in request["actions"]] == [str(workspace / "calc.py")]
    assert "+    return a + b" in request["actions"][0]["diff"]
    assert work.code == 4
    reason = "“edit files” needs an answer, but there is no one to ask."
    assert [end["ending"] for end in work.bodies("turn_end")] == ["needs_answer"]
    assert work.bodies("session_end") == [{"status": "needs_answer", "exit": 4, "reason": reason}]
    assert (workspace / "calc.py").read_text() == BROKEN


def test_plain_output_shows_the_request_nobody_could_answer(steer, script, workspace):
    model = script({"tool_calls": [FIX, shell("touch new.txt")]}, DONE)

    done = steer("run", "--model", model, "fix add")

    assert done.returncode == 4
    assert "? The agent wants to change `calc.py`" in done.stdout
    assert "  -    return a - b\n  +    return a + b\n" in done.stdout
    assert "--yes or --approvals never" in done.stdout + done.stderr
    assert (workspace / "calc.py").read_text() == BROKEN
    assert not (workspace / "new.txt").exists()


def test_yes_answers_every_request_and_the_log_says_who_did(steer, script, workspace):
    model = script({"tool_calls": [FIX, outside("cat calc.py")]}, {"expect": "a + b", **DONE})

    work = steer.work("run", "--model", model, "--yes", "fix add")

    assert work.code == 0
    assert len(work.bodies("confirm_request")) == 2
    assert work.bodies("confirm_response") == [{"decision": "allow", "by": "yes-flag"}] * 2
    assert (workspace / "calc.py").read_text() == FIXED


def test_yes_prints_no_question_but_a_line_for_each_that_it_answered(steer, script, workspace):
    model = script({"tool_calls": [FIX, outside("cat calc.py")]}, DONE)

    done = steer("run", "--model", model, "--yes", "fix add")

    assert done.returncode == 0
    assert "? The agent wants" not in done.stdout
    assert "needs your approval" not in done.stdout
    allowed = [line for line in done.stdout.splitlines() if "allowed by --yes" in line]
    assert allowed[0] == "  allowed by --yes: The agent wants to change `calc.py`"
    assert len(allowed) == 2


def test_an_expectation_that_is_not_met_fails_the_run_and_says_so(steer, script):
    model = script({"tool_calls": [READ]}, {"expect": "return a * b", "text": "Found it."})

    work = steer.work("run", "--model", model, "fix add")
    plain = steer("run", "--model", model, "fix add")

    (error,) = work.bodies("error")
    what = "Turn 2 of the script expected 'return a * b' in the latest tool results."
    assert error["what"] == what
    assert "return a - b" in error["why"]
    assert work.bodies("session_end") == [{"status": "failed", "exit": 1, "reason": what}]
    assert plain.returncode == 1
    assert f"✗ {what}" in plain.stdout


MALFORMED = {
    "an unknown tool": (
        call("workspace_fly", height=3),
        "There is no tool “workspace_fly”.",
    ),
    "arguments that are not JSON": (
        {"name": "workspace_read_file", "arguments": '{"path": "calc.py"'},
        "The arguments of workspace_read_file are not a JSON object.",
    ),
    "arguments that are a list": (
        {"name": "workspace_read_file", "arguments": '["calc.py"]'},
        "The arguments of workspace_read_file are not a JSON object.",
    ),
    "a wrong type": (
        call("workspace_read_file", path="calc.py", offset="first"),
        "`offset` must be a whole number, not text",
    ),
    "a value out of range": (
        call("workspace_read_file", path="calc.py", limit=0),
        "`limit` must be at least 1",
    ),
    "an unknown field": (
        call("workspace_read_file", path="calc.py", colour="red"),
        "there is no `colour`",
    ),
    "a missing field": (
        call("workspace_read_file"),
        "`path` is missing",
    ),
}


def test_a_malformed_call_goes_back_to_the_model_and_the_run_goes_on(steer, script):
    made, told = zip(*MALFORMED.values(), strict=True)
    turns = [
        {"expect": text, "tool_calls": [made]} for text, made in zip(told, made[1:], strict=False)
    ]
    model = script(
        {"tool_calls": [made[0]]}, *turns, {"expect": told[-1], "tool_calls": [READ]}, DONE
    )

    work = steer.work("run", "--model", model, "read it")

    *results, read = (body["status"] for body in work.bodies("tool_result"))
    assert dict(zip(MALFORMED, results, strict=True)) == dict.fromkeys(MALFORMED, "malformed")
    assert (read, work.code) == ("ok", 0)


def test_the_limit_of_steps_ends_the_run_as_a_spent_budget(steer, script):
    model = script(*[{"tool_calls": [READ]}] * 5, DONE)

    work = steer.work("run", "--model", model, "--max-steps", "3", "read and read")

    reason = "the limit of 3 steps was reached"
    assert len(work.bodies("tool_result")) == 3
    assert work.bodies("turn_end") == [{"ending": "limit", "steps": 3, "reason": reason}]
    assert work.bodies("session_end") == [{"status": "budget", "exit": 5, "reason": reason}]


def test_a_busy_provider_is_asked_again(steer, script):
    model = script({"error": {"status": 429, "retry_after": 0, "times": 2}, "text": "At last."})

    work = steer.work("run", "--model", model, "try")

    assert [error["retry_in"] for error in work.bodies("error")] == [0.0, 0.0]
    assert [answer["text"] for answer in work.bodies("assistant")] == ["At last."]
    assert work.code == 0


@pytest.mark.parametrize(
    ("status", "times", "tries"), [(400, 1, 1), (401, 1, 1), (429, 9, 4), (500, 9, 4)]
)
def test_an_error_that_stays_fails_the_run(steer, script, status, times, tries):
    fault = {"status": status, "message": "it says no", "retry_after": 0, "times": times}
    model = script({"error": fault, "text": "At last."})

    work = steer.work("run", "--model", model, "try")

    what = f"The model answered with status {status}."
    assert [(e["what"], e["why"]) for e in work.bodies("error")] == [(what, "it says no")] * tries
    assert work.bodies("session_end") == [{"status": "failed", "exit": 1, "reason": what}]


def test_a_script_that_ends_too_early_fails_the_run(steer, script):
    model = script({"tool_calls": [READ]})

    work = steer.work("run", "--model", model, "read it")

    assert work.code == 1
    assert work.bodies("error")[0]["what"].startswith("The script has no turn")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--model", "scripted:missing.json", "fix"], 1),
        (["--model", "clever:one", "fix"], 2),
        (["fix"], 2),
        (["--model", "scripted:missing.json", "--workspace", "nowhere", "fix"], 2),
        (["--model", "scripted:missing.json"], 2),
        (["--model", "scripted:missing.json", "  "], 2),
        (["--model", "scripted:missing.json", "-"], 2),
    ],
)
def test_a_run_that_cannot_begin_still_ends_with_a_last_line(steer, home, arguments, code):
    work = steer.work("run", *arguments)

    assert work.code == code
    assert work.kinds() == ["error", "session_end"]
    assert work.bodies("session_end")[0]["reason"] == work.bodies("error")[0]["what"]
    assert threads_in(home) == []


def test_nobody_reading_the_output_ends_the_run_quietly(steer, script, gate):
    model = script({"tool_calls": [gate.wait]}, {"tool_calls": [READ]}, DONE)
    running = steer.start("run", "--json", "--yes", "--model", model, "go on")
    gate.waiting()
    running.stdout.close()
    gate.open()

    with running:
        assert running.stderr.read() == ""
    (thread,) = decoded(steer("threads", "list", "--json").stdout)
    last = decoded(steer("replay", thread["id"]).stdout)[-1]
    assert last["body"]["status"] == "interrupted"
    assert running.returncode == last["body"]["exit"] == 130
    assert steer("ledger", "verify").returncode == 0
