"""`steer -p`: prints and ends, with the flags and the shapes that scripts for Claude Code have."""

import json
import subprocess

import pytest

from steersman.ports.cli.speaking import LONGEST
from steersman.records.action import Execute, Write
from steersman.records.message import ConfirmRequest, ConfirmResponse, Lasting, ToolCall
from steersman.views.claude.control import answer_of, may_use
from tests.cli.kit import DONE, FIX, FIXED, READ, WRITE, shell
from tests.world import STEER, call


@pytest.fixture
def printed(steer):
    """Run in print mode and read what it printed."""

    def run(*words, stdin=""):
        done = steer("-p", *words, stdin=stdin)
        lines = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
        return done, lines

    return run


def test_the_answer_is_printed_and_what_is_piped_is_part_of_the_task(steer, script, printed):
    model = script(DONE, {"text": "Done again."})
    done, _ = printed("look at this", "--model", model, stdin="a line that was piped\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "")
    thread = json.loads(steer("threads", "list", "--json").stdout)["id"]
    said = [json.loads(line) for line in steer("replay", thread).stdout.splitlines()]
    (words,) = [one["body"]["text"] for one in said if one["kind"] == "user"]
    assert words == "look at this\n\na line that was piped"


@pytest.mark.parametrize("piped", ["hi\n", ""])
@pytest.mark.parametrize("words", [(), ("fix the bug",), ("-c",)])
def test_without_a_terminal_steer_says_which_command_needs_none(steer, piped, words):
    done = steer(*words, stdin=piped)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: There is no terminal to chat in.\n"
        "  `steer -p TASK` prints the answer to a task, `steer run TASK` shows the work as well.\n"
    )


def test_a_task_of_several_words_opens_the_chat_and_a_task_alone_is_needed(steer):
    assert "There is no terminal" in steer("fix the bug").stderr
    assert "There is no terminal" in steer("fix", "the", "bug").stderr
    assert "There is no task" in steer("-p", stdin="").stderr


def test_every_step_is_a_line_in_claude_codes_shape(workspace, script, printed):
    model = script({"text": "Looking.", "tool_calls": [READ, FIX]}, DONE)
    how = ("--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits")
    done, lines = printed("fix it", "--model", model, *how)
    assert done.returncode == 0
    assert [(one["type"], one.get("subtype")) for one in lines] == [
        ("system", "init"), ("assistant", None), ("assistant", None), ("assistant", None),
        ("user", None), ("user", None), ("assistant", None), ("result", "success"),
    ]  # fmt: skip
    init, text, read, edit, *_, last, result = lines
    assert text["message"]["id"] == read["message"]["id"] == edit["message"]["id"]
    assert last["message"]["id"] != text["message"]["id"]
    assert (init["cwd"], init["permissionMode"]) == (str(workspace), "acceptEdits")
    assert {"Bash", "Read", "Write", "Grep"} <= set(init["tools"])
    assert text["message"]["content"] == [{"type": "text", "text": "Looking."}]
    (used,), (changed,) = read["message"]["content"], edit["message"]["content"]
    assert (used["name"], used["input"]) == ("Read", {"file_path": f"{workspace}/calc.py"})
    assert changed["input"]["old_string"] == "a - b"
    assert {one["session_id"] for one in lines} == {result["session_id"]}
    assert len({one["uuid"] for one in lines}) == len(lines)
    assert (result["result"], result["num_turns"], result["is_error"]) == ("Done.", 2, False)
    assert (workspace / "calc.py").read_text() == FIXED


def test_every_line_of_an_answer_has_what_it_used_and_the_result_has_the_sum(script, printed):
    usage = {"input": 90, "cached": 60, "output": 7}
    model = script({"text": "Looking.", "tool_calls": [READ], "usage": usage}, DONE)
    _, lines = printed("look", "--model", model, "--output-format", "stream-json", "--verbose")
    said, used, last = (one["message"]["usage"] for one in lines if one["type"] == "assistant")
    assert said == used == {
        "input_tokens": 30, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 60,
        "output_tokens": 7,
    }  # fmt: skip
    assert last["output_tokens"] > 0
    total = lines[-1]["usage"]
    assert total == {name: said[name] + last[name] for name in total}
    (of_model,) = lines[-1]["modelUsage"].values()
    assert (of_model["inputTokens"], of_model["outputTokens"], of_model["costUSD"]) == (
        total["input_tokens"], total["output_tokens"], lines[-1]["total_cost_usd"],
    )  # fmt: skip


def test_what_needs_approval_is_denied_and_listed_and_a_rule_allows_it(workspace, script, printed):
    model = script({"tool_calls": [WRITE]}, DONE)
    how = ("--model", model, "--output-format", "json")
    done, (result,) = printed("write it", *how)
    assert done.returncode == 0
    (denied,) = result["permission_denials"]
    assert (denied["tool_name"], denied["tool_input"]["content"]) == ("Write", "new\n")
    assert not (workspace / "new.txt").exists()
    _, (result,) = printed("write it", *how, "--allowedTools", "Write", "Bash(ls *)")
    assert result["permission_denials"] == []
    assert (workspace / "new.txt").exists()


def test_a_host_that_was_refused_to_a_command_is_listed_once(script, printed):
    fetch = "curl -sS -m 20 http://unknown.example.org/ -o /dev/null"
    model = script({"tool_calls": [shell(f"{fetch}; {fetch}; true")]}, DONE)
    done, (result,) = printed("fetch it", "--model", model, "--output-format", "json")
    assert done.returncode == 0
    (denied,) = result["permission_denials"]
    assert denied["tool_name"] == "Bash"
    assert "unknown.example.org" in denied["tool_input"]["command"]


def test_each_denial_is_a_line_on_standard_error(script, printed):
    done, _ = printed("write it", "--model", script({"tool_calls": [WRITE]}, DONE))
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert done.stderr == "denied: write_file new.txt (needs approval; --allow Write allows it)\n"


def test_a_denied_host_is_a_line_on_standard_error_too_and_a_flag_allows_it(script, printed):
    fetch = "curl -sS -m 20 http://unknown.invalid/ -o /dev/null"
    model = script({"tool_calls": [shell(f"{fetch}; {fetch}; false")]}, DONE)
    done, _ = printed("fetch it", "--model", model)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    flag = "--domain unknown.invalid:80"
    told = f"a connection to unknown.invalid:80 (needs approval; {flag} allows it)"
    assert done.stderr == f"denied: {told}\n"
    done, _ = printed("fetch it", "--model", model, *flag.split())
    assert (done.stdout, done.stderr) == ("Done.\n", "")


def test_where_nobody_can_approve_a_host_the_model_is_not_sent_out_of_the_sandbox(script, printed):
    model = script(
        {"tool_calls": [shell("curl -sS -m 20 https://unknown.invalid/")]},
        {"expect": "Nobody is there to approve this", "text": "Done."},
    )
    how = ("--output-format", "stream-json", "--verbose")
    done, lines = printed("fetch it", "--model", model, *how)
    assert done.returncode == 0
    assert "try again with outside_sandbox" not in str(lines)


def test_a_denied_tool_stays_denied_whatever_else_is_allowed(workspace, script, printed):
    model = script({"tool_calls": [shell("touch made")]}, DONE)
    how = ("--model", model, "--output-format", "json", "--yes")
    _, (result,) = printed("do it", *how, "--disallowedTools", "Bash(touch *)", "--allow", "Bash")
    assert [one["tool_name"] for one in result["permission_denials"]] == ["Bash"]
    assert not (workspace / "made").exists()


def test_a_thread_is_continued_resumed_and_copied(steer, script, printed):
    how = ("--output-format", "json", "--model", script(DONE, DONE, DONE, DONE))
    _, (first,) = printed("one", *how)
    for words, same in (("-c", True), (f"--resume={first['session_id']}", True)):
        _, (again,) = printed("more", *how, words)
        assert (again["session_id"] == first["session_id"]) is same
    _, (copy,) = printed("other", *how, "--resume", first["session_id"], "--fork-session")
    assert copy["session_id"] != first["session_id"]
    kinds = [
        json.loads(one)["kind"] for one in steer("replay", copy["session_id"]).stdout.splitlines()
    ]
    assert kinds.count("user") == 4


def test_no_letter_of_an_answer_ends_a_line(steer, script, printed):
    odd = "one\x85two\u2028three\u2029four"
    model = script({"text": odd}, {"text": odd})
    done, lines = printed("go", "--model", model, "--output-format", "stream-json")
    assert len(done.stdout.splitlines()) == len(lines)
    assert lines[-1]["result"] == odd
    said = steer("run", "--json", "--model", model, "again").stdout
    assert len(said.splitlines()) == said.count("\n")


def test_a_model_that_fails_is_an_error_with_its_sentence(script, printed):
    model = script({"tool_calls": [READ]})  # and then nothing more
    done, (result,) = printed("go", "--model", model, "--output-format", "json")
    assert done.returncode == 1
    assert (result["is_error"], result["terminal_reason"]) == (True, "api_error")
    assert result["errors"] == [result["result"]]
    assert "script" in result["result"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--input-format", "stream-json"), "needs --output-format stream-json"),
        (("--permission-prompt-tool", "mcp__x__y"), "only for `stdio`"),
        (("--permission-mode", "odd"), "There is no permission mode “odd”"),
        (("--fork-session",), "needs --resume or --continue"),
        (("--allow", "Raed"), "did you mean Read?"),
        (("--tools", "Read,Gerp"), "did you mean Grep?"),
        (("--tools", "workspace_raed_file"), "did you mean workspace_read_file?"),
        (("--tools", "mcp__gh__list"), "found by mcp_list_tools"),
    ],
)
def test_flags_that_cannot_work_are_refused_with_a_sentence(script, printed, words, told):
    done, _ = printed("go", "--model", script(DONE), *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_list_of_tools_ends_at_the_next_flag_also_at_one_that_means_nothing_here(
    workspace, script, printed
):
    model = script({"tool_calls": [WRITE]}, DONE)
    done, _ = printed("--model", model, "--allowedTools", "Write", "--verbose", "write notes")
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert (workspace / "new.txt").exists()


def test_what_a_run_was_denied_stays_denied_in_the_background(steer, workspace, script):
    model = script({"tool_calls": [WRITE]}, DONE)
    how = ("--detach", "--yes", "--deny", "Write", "--model", model)
    thread = steer("run", *how, "write it").stdout.strip()
    steer("wait", thread)
    assert not (workspace / "new.txt").exists()


STREAMED = ("--input-format", "stream-json", "--output-format", "stream-json")


def said(text):
    """A prompt, as a line of the input."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def asked(subtype, **more):
    """A request of the program that drives, as a line of the input."""
    request = {"subtype": subtype, **more}
    return {"type": "control_request", "request_id": subtype, "request": request}


def test_a_mode_that_allowed_everything_can_be_left(workspace, script, printed):
    """And what needs approval when nobody answers any more is denied."""
    model = script({"tool_calls": [WRITE]}, DONE)
    for more, made in ((), True), ((asked("set_permission_mode", mode="default"),), False):
        (workspace / "new.txt").unlink(missing_ok=True)
        lines = "".join(json.dumps(one) + "\n" for one in (*more, said("write it")))
        how = ("--model", model, "--permission-mode", "bypassPermissions")
        done, shown = printed(*STREAMED, *how, "--permission-prompt-tool", "stdio", stdin=lines)
        assert done.returncode == 0, done.stderr
        init = next(one for one in shown if one.get("subtype") == "init")
        assert init["permissionMode"] == ("bypassPermissions" if made else "default")
        assert (workspace / "new.txt").exists() is made


def test_no_input_and_bad_input_end_it_with_a_sentence(steer, script, printed):
    model = script(DONE)
    done, _ = printed(*STREAMED, "--model", model, stdin="")
    assert (done.returncode, done.stdout) == (0, "")
    for line, told in (
        (b"no json", "not a JSON object"),
        (b"[1]", "not a JSON object"),
        (b'{"a":"\xff"}', "not text in UTF-8"),
        (b"\xff\xfe", "not a JSON object"),
        (b'{"a":' * 100_000, "levels deep"),
        (b'{"a":' * 101 + b"1" + b"}" * 101, "levels deep"),
        (b'{"a":"' + b"x" * LONGEST + b'"}', "too long"),
    ):
        done = subprocess.run(
            [*STEER, "-p", *STREAMED, "--model", model], input=line + b"\n",
            cwd=steer.folder, env=steer.environ, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert done.stderr.decode().count(told) == 1
        assert b"bug" not in done.stderr


def test_a_command_that_wants_to_leave_the_sandbox_is_asked_about_by_another_name():
    call = ToolCall("workspace_run_command", {"command": "make"})
    run = Execute("make", "/w", writes=("/opt/x",), refused=("it",), again=True)
    request = ConfirmRequest("c", call.tool, (run,), "why")
    line = may_use("r", request, call, "/w")["request"]
    assert (line["tool_name"], line["input"]["writes"]) == ("LeaveSandbox", ["/opt/x"])
    same = {"behavior": "allow", "updatedInput": line["input"]}
    assert answer_of(same, request, call, "/w") == ConfirmResponse("allow")
    other = {"behavior": "allow", "updatedInput": {"command": "rm x"}}
    assert answer_of(other, request, call, "/w").decision == "deny"


def test_an_answer_holds_as_long_as_the_rule_that_was_suggested_and_no_other():
    call = ToolCall("workspace_write_file", {"path": "a", "content": "x"})
    offers = (Lasting("same", ("s",), ("turn", "thread", "here")),)
    request = ConfirmRequest("c", call.tool, (Write("/w/a"),), "why", lasting=offers)
    given = may_use("r", request, call, "/w")["request"]
    session, _ = given["permission_suggestions"]

    for updates, held in (
        ([session], "thread"),
        ([{**session, "rules": [{"toolName": "Read", "ruleContent": "README.md"}]}], "once"),
        ([{**session, "rules": [{"toolName": "Write", "ruleContent": "b"}]}], "once"),
        ([{**session, "destination": ["session"]}], "once"),
        (["odd"], "once"),
    ):
        said = {"behavior": "allow", "updatedInput": given["input"], "updatedPermissions": updates}
        assert answer_of(said, request, call, "/w").scope == held


@pytest.fixture
def conversed(steer):
    """Run with lines both ways; `answers` are given to the questions, one after the other.

    What was asked comes back: the tool and its input.
    """

    def run(model, *answers, more=()):
        how = (*STREAMED, "--permission-prompt-tool", "stdio", "--model", model, *more)
        process = subprocess.Popen(
            [*STEER, "-p", *how], cwd=steer.folder, env=steer.environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        questions, given = [], iter(answers)

        def put(line):
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()

        put(said("do it"))
        for text in process.stdout:
            line = json.loads(text)
            if line["type"] == "control_request":
                request = line["request"]
                questions.append((request["tool_name"], request["input"]))
                response = {"request_id": line["request_id"], "response": next(given)}
                put({"type": "control_response", "response": response})
            if line["type"] == "result":
                break
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
        return questions

    return run


def allowed(**given):
    """An answer that changes the input."""
    return {"behavior": "allow", "updatedInput": given}


def test_an_answer_that_changes_the_path_is_asked_about_again(conversed, workspace, script):
    model = script({"tool_calls": [WRITE]}, DONE)
    other = {"file_path": f"{workspace}/.git/hooks/pre-commit", "content": "new\n"}
    same = {"file_path": f"{workspace}/new.txt", "content": "other\n"}
    asked = conversed(model, allowed(**other), {"behavior": "deny"})
    assert [name for name, _ in asked] == ["Write", "Write"]
    assert asked[1][1] == other
    assert not (workspace / ".git/hooks/pre-commit").exists()
    assert not (workspace / "new.txt").exists()

    assert len(conversed(model, allowed(**same))) == 1
    assert (workspace / "new.txt").read_text() == "other\n"


def test_an_answer_that_adds_leaving_the_sandbox_is_asked_about_again(conversed, tmp_path, script):
    made = tmp_path / "made"
    model = script({"tool_calls": [shell("git push origin main")]}, DONE)
    changed = {"command": f"touch {made}", "outside_sandbox": True}
    asked = conversed(model, allowed(**changed), {"behavior": "deny"})
    assert [name for name, _ in asked] == ["Bash", "LeaveSandbox"]
    assert asked[1][1] == {**changed, "outside": True}
    assert not made.exists()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("Read,Grep",), ["Read", "workspace_search_files", "Grep"]),
        (("Read", "workspace_status"), ["workspace_status", "Read"]),
        (("workspace_list_*",), ["Glob", "workspace_list_processes"]),
        (("",), []),
    ],
)
def test_only_the_tools_of_a_list_are_offered_and_work(workspace, script, printed, words, offered):
    model = script({"tool_calls": [WRITE, shell("touch made")]}, DONE)
    how = ("--output-format", "stream-json", "--model", model, "--yes")
    done, lines = printed(*how, "--tools", *words, "--verbose", "write it")
    assert done.returncode == 0, done.stderr
    assert lines[0]["tools"] == offered
    results = [line["message"]["content"][0] for line in lines if line["type"] == "user"]
    assert [one.get("is_error") for one in results] == [True, True]
    assert "There is no tool" in results[0]["content"]
    assert not (workspace / "new.txt").exists()
    assert not (workspace / "made").exists()


def test_a_tool_of_the_list_works_and_default_is_all(script, printed):
    seen = {}
    for words in ("Read", "default"):
        model = script({"tool_calls": [READ]}, DONE)
        done, lines = printed(
            "--output-format", "stream-json", "--model", model, "--tools", words, "--", "look"
        )
        assert done.returncode == 0, done.stderr
        seen[words] = lines[0]["tools"]
        results = [one["message"]["content"][0] for one in lines if one["type"] == "user"]
        assert not results[0].get("is_error")
    assert seen["Read"] == ["Read"]
    assert {"Bash", "Read", "Write"} < set(seen["default"])


TWO = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
STORE = {"question": "Which store?", "header": "Store", "options": TWO}
TESTS = {"question": "Which tests?", "header": "Tests", "options": TWO, "multiple": True}
ASK = {"tool_calls": [call("ask_user", questions=[STORE, TESTS])]}


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            allowed(answers={"Which store?": "SQLite", "Which tests?": ["Postgres", "SQLite"]}),
            "Postgres, SQLite",
        ),
        (allowed(answers={"Which store?": "SQLite"}), "declined"),
        ({"behavior": "deny", "message": "not now"}, "not now"),
        (allowed(), "declined"),
    ],
)
def test_what_the_model_asks_goes_to_the_program_as_claude_code_has_it(
    conversed, script, response, expected
):
    model = script(ASK, {"expect": expected, "text": "Done."})
    asked = conversed(model, response, more=("--permission-mode", "bypassPermissions"))
    shown = [{**STORE, "multiSelect": False}, {**STORE, **TESTS, "multiSelect": True}]
    del shown[1]["multiple"]
    assert asked == [("AskUserQuestion", {"questions": shown})]


def test_with_nobody_there_the_model_learns_that_and_goes_on(printed, script):
    model = script(ASK, {"expect": "nobody is there to answer", "text": "I took SQLite."})
    done, _ = printed("which store?", "--model", model)
    assert (done.returncode, done.stdout.strip()) == (0, "I took SQLite.")
    lines = json.dumps(said("which store?")) + "\n"
    done, shown = printed(*STREAMED, "--model", model, stdin=lines)
    assert (done.returncode, shown[-1]["result"]) == (0, "I took SQLite.")
