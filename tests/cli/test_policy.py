"""Permissions from the command line: explained, remembered, forgotten, written as rules."""

import json
from pathlib import Path

import pytest

from tests.cli.kit import BROKEN, DONE, FIX, FIXED, READ, decoded, outside, shell
from tests.cli.terminal import Terminal
from tests.world import call

ASK = "or say what to do instead: "


def bodies(messages, kind):
    return [message["body"] for message in messages if message["kind"] == kind]


def newest(steer):
    thread = decoded(steer("threads", "list", "--json", "--limit", "1").stdout)[0]["id"]
    return decoded(steer("replay", thread).stdout)


def user_rules(steer, text):
    path = Path(steer.environ["XDG_CONFIG_HOME"]) / "steersman" / "rules.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# Explaining


@pytest.mark.parametrize(
    ("action", "code", "word"),
    [
        ({"action": "read", "path": "calc.py"}, 0, "paths.inside"),
        ({"action": "write", "path": "calc.py"}, 4, "approvals.on-request"),
        ({"action": "write", "path": ".git/hooks/pre-commit"}, 4, "paths.protected"),
        ({"action": "write", "path": "/etc/passwd"}, 3, "breaker.paths"),
        ({"action": "read", "path": ".env"}, 3, "secrets.hidden"),
        ({"action": "execute", "command": "ls"}, 0, "sandbox.contains"),
        ({"action": "execute", "command": "git push"}, 4, "pushes to"),
        ({"action": "execute", "command": "ls", "outside": True}, 4, "sandbox.leave"),
        ({"action": "execute", "command": "rm -rf /usr"}, 3, "→ circuit breaker"),
        ({"action": "network", "host": "example.org", "port": 443}, 4, "network.unknown"),
        ({"action": "mcp_call", "server": "x", "tool": "y"}, 4, "mcp.writes"),
    ],
)
def test_a_decision_is_explained_step_by_step(steer, action, code, word):
    done = steer("policy", "explain", json.dumps(action))
    assert done.returncode == code, done.stdout + done.stderr
    assert word in done.stdout
    assert "circuit breaker" in done.stdout


@pytest.mark.parametrize(
    ("flags", "action", "code", "rule"),
    [
        (["--mode", "ask"], {"action": "write", "path": "a"}, 3, "mode.ask"),
        (["--mode", "plan"], {"action": "execute", "command": "ls"}, 0, "sandbox.contains"),
        (["--mode", "spec"], {"action": "execute", "command": "ls"}, 3, "mode.spec"),
        (["--mode", "debug"], {"action": "write", "path": "a"}, 4, "mode.debug"),
        (["--trust", "restricted"], {"action": "execute", "command": "ls"}, 3, "trust.restricted"),
        (["--trust", "untrusted"], {"action": "execute", "command": "ls"}, 4, "trust.untrusted"),
        (["--trust", "untrusted"], {"action": "read", "path": "/etc/hosts"}, 0, "paths.inside"),
        (["--approvals", "never"], {"action": "write", "path": "a"}, 0, "approvals.never"),
        (["--approvals", "never"], {"action": "execute", "command": "git push"}, 3, "git."),
        (["--approvals", "on-failure"], {"action": "write", "path": "a"}, 0, "approvals.on-f"),
        (
            ["--domain", "*.example.org"],
            {"action": "network", "host": "files.example.org", "port": 443},
            0,
            "domain:*.example.org",
        ),
    ],
)
def test_an_explanation_heeds_mode_trust_approvals_and_domains(steer, flags, action, code, rule):
    done = steer("policy", "explain", json.dumps(action), "--json", *flags)
    last = decoded(done.stdout)[-1]
    assert (done.returncode, last["decides"]) == (code, True)
    assert last["verdict"]["rule"].startswith(rule)
    assert last["verdict"]["reason"]


def test_an_action_that_is_none_is_told_so(steer):
    for wrong in ("{", "[]", '{"action": "fly"}', '{"action": "read"}'):
        done = steer("policy", "explain", wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "The action cannot be read." in done.stderr


# Rules


def test_rules_decide_and_name_their_place(steer, script):
    path = user_rules(
        steer,
        '[[rule]]\nid = "no-make"\ndecision = "deny"\ncommand = "make"\nreason = "use just"\n'
        'match = ["make test"]\nnot_match = ["cmake ."]\n\n'
        '[[rule]]\nid = "docs"\ndecision = "allow"\npath = "docs/"\n',
    )
    listed = steer("policy", "list")
    assert "no-make" in listed.stdout
    assert f"{path}:1" in listed.stdout
    write = call("workspace_write_file", path="docs/a.md", content="x")
    model = script({"tool_calls": [shell("echo hi && make test"), write]}, DONE)
    messages = steer.messages("run", "x", "--model", model)
    denied, written = bodies(messages, "tool_result")
    assert denied["status"] == "denied"
    assert "use just" in denied["message"]
    assert written["status"] == "ok"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[rule]\n", "rules.toml:1"),
        ('[[rule]]\nid = "a"\ndecision = "maybe"\ncommand = "x"\n', "rules.toml:3"),
        ('[[rule]]\nid = "a"\ndecision = "deny"\n', "rules.toml:1"),
        ('\n[[rule]]\nid = "a"\ndecision = "deny"\ncommand = "x"\nnot_match = ["x y"]\n',
         "rules.toml:6"),
        ('[[rule]]\nid = "a"\ndecision = "deny"\ncommand = "x"\nmatch = ["y"]\n', "rules.toml:5"),
        ('[[rule]]\nid = "a"\ndecision = "deny"\ncommand = "x"\n'
         '[[rule]]\nid = "b"\ndecision = "allow"\ncommand = "x"\n', "rules.toml:7"),
    ],
    ids=["toml", "decision", "subject", "not_match", "match", "contradiction"],
)  # fmt: skip
def test_a_broken_rule_file_is_an_error_with_file_and_line_and_nothing_starts(
    steer, script, workspace, text, told
):
    user_rules(steer, text)
    done = steer("run", "fix", "--yes", "--model", script({"tool_calls": [FIX]}, DONE))
    assert done.returncode == 2
    assert told in done.stderr
    assert (workspace / "calc.py").read_text() == BROKEN
    assert decoded(steer("threads", "list", "--json").stdout) == []


# Folder trust


def test_what_a_folder_brings_is_used_only_after_the_person_agreed(steer, script, workspace):
    rules = workspace / ".steersman" / "rules.toml"
    rules.parent.mkdir()
    rules.write_text('[[rule]]\nid = "no-ls"\ndecision = "deny"\ncommand = "ls"\n')
    model = script({"tool_calls": [shell("ls")]}, DONE)

    def status():
        return bodies(steer.messages("run", "x", "--model", model), "tool_result")[0]["status"]

    alone = steer.messages("run", "x", "--model", model)
    assert bodies(alone, "tool_result")[0]["status"] == "ok"
    assert "comes with rules" in bodies(alone, "audit")[0]["what"]
    assert steer("policy", "trust", "--yes").returncode == 0
    assert status() == "denied"
    rules.write_text(rules.read_text().replace("no-ls", "not-ls"))
    assert status() == "ok"  # it changed: it has to be agreed to again
    steer("policy", "trust", "--yes")
    assert status() == "denied"
    steer("policy", "untrust")
    assert status() == "ok"


def test_at_a_terminal_the_person_is_asked_once_about_a_folder(steer, script, workspace):
    config = workspace / ".steersman" / "config.toml"
    config.parent.mkdir()
    config.write_text("max_steps = 1\n")
    model = script({"tool_calls": [shell("ls")]}, DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("Use it from now on? [y]es, [n]o: ")
        terminal.press("y\n")
        terminal.until("go on / stop [stop]: ")  # one step was all it may take
        terminal.press("stop\n")
        assert terminal.end() == 5
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("go on / stop [stop]: ")
        assert "Use it from now on" not in terminal.text
        terminal.press("stop\n")
        terminal.end()


def test_whoever_asks_about_a_folder_marks_what_changed_since(steer, script, workspace):
    config = workspace / ".steersman" / "config.toml"
    config.parent.mkdir()
    config.write_text("max_steps = 1\n")
    steer("policy", "trust", "--yes")
    config.write_text("max_steps = 2\n")
    for words in (["policy", "trust"], ["run", "--model", script(DONE), "go"]):
        with Terminal(steer, *words) as terminal:
            terminal.until("Use it from now on? [y]es, [n]o: ")
            assert "config.toml: settings (changed)" in terminal.text


def test_a_folder_may_not_raise_its_own_trust(steer, script, workspace):
    config = workspace / ".steersman" / "config.toml"
    config.parent.mkdir()
    config.write_text('trust = "untrusted"\n')
    steer("policy", "trust", "--yes")
    done = steer("run", "x", "--model", script(DONE))
    assert done.returncode == 2
    assert "must not set “trust”" in done.stderr


# Remembered answers


def test_an_answer_for_the_thread_holds_there_and_can_be_forgotten(steer, script, workspace):
    swapped = {"path": "calc.py", "edits": [{"search": "a + b", "replace": "b + a"}]}
    again = call("workspace_edit_files", files=[swapped])
    model = script({"tool_calls": [FIX]}, {"tool_calls": [again]}, {"text": "Twice."})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("t would allow changes of ./calc.py")
        terminal.until("[t] in this thread")
        terminal.press("t\n")
        terminal.until("Twice.")
        assert terminal.end() == 0
    assert "return b + a" in (workspace / "calc.py").read_text()
    messages = newest(steer)
    assert len(bodies(messages, "confirm_request")) == 1
    listed = decoded(steer("policy", "list", "--json").stdout)
    assert [(rule["decision"], rule["source"]) for rule in listed] == [("allow", "thread")]
    assert steer("policy", "forget", listed[0]["id"]).returncode == 0
    assert decoded(steer("policy", "list", "--json").stdout) == []
    assert steer("policy", "forget", "nonsense").returncode == 2


def test_answers_for_two_commands_cover_both_together_and_nothing_more(steer, script):
    commands = ["git push origin topic", "git push origin other"]
    both, more = " && ".join(commands), f"{commands[0]} --force"
    calls = [shell(command) for command in (*commands, both, more)]
    model = script(*({"tool_calls": [made]} for made in calls), DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        for command in commands:
            terminal.until(f"would allow the command `{command}`")
            terminal.until(ASK)
            terminal.press("t\n")
        terminal.until(f"$ {more}")  # the line of both was not asked about
        terminal.until(ASK)
        terminal.press("n\n")
        terminal.until("Done.")
        assert terminal.end() == 0
    asked = [body["actions"][0]["command"] for body in bodies(newest(steer), "confirm_request")]
    assert asked == [*commands, more]


def test_an_always_holds_in_every_thread_here_until_it_is_forgotten(
    steer, script, workspace, tmp_path
):
    model = script({"tool_calls": [FIX]}, DONE)

    def unattended(folder):
        (folder / "calc.py").write_text(BROKEN)
        return steer("run", "again", "--workspace", str(folder), "--model", model).returncode

    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until(ASK)
        terminal.press("W\n")
        terminal.until("Done.")
        assert terminal.end() == 0
    assert "changes of any file in the workspace" in steer("policy", "list").stdout
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert (unattended(workspace), unattended(elsewhere)) == (0, 4)
    assert steer("policy", "forget", "--all").returncode == 0
    assert unattended(workspace) == 4


@pytest.mark.parametrize(
    "command", ["python3 x.py", "bash -c ls", "env A=1 ls", "git -c a.b=c log", "sudo ls", "ls $X"]
)
def test_what_runs_anything_can_only_be_answered_once(steer, script, command):
    model = script({"tool_calls": [outside(command)]}, DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("the approval cannot be remembered: ")
        terminal.until(ASK)
        assert "[y]es, [n]o, [e]dit" in terminal.text
        terminal.press("n\n")
        terminal.until("Done.")
        terminal.end()


def test_a_copy_of_a_thread_does_not_inherit_its_answers(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, DONE, {"tool_calls": [FIX]}, DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until(ASK)
        terminal.press("t\n")
        terminal.until("Done.")
        terminal.end()
    thread = newest(steer)[0]["thread"]
    copy = steer("fork", thread).stdout.strip()
    (workspace / "calc.py").write_text(BROKEN)
    assert steer("resume", copy, "again").returncode == 4
    assert steer("resume", thread, "again").returncode == 0


def test_a_thread_that_is_resumed_is_trusted_no_further_than_the_run_says(steer, script):
    flags = ["--trust", "untrusted", "--sandbox", "none"]
    thread = steer.work("run", "--model", script(DONE, DONE), *flags, "go").thread
    assert steer.work("resume", thread, "go on").bodies("session_start")[0]["trust"] == "sandboxed"


def test_a_changed_call_is_judged_like_any_other_and_carried_out(steer, script, workspace):
    model = script({"tool_calls": [shell("git push origin x")]}, {"expect": "hello", "text": "Ok."})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("[e]dit")
        terminal.press("e\n")
        terminal.until("  instead: ")
        terminal.press("echo hello\n")
        terminal.until("Ok.")
        assert terminal.end() == 0


def test_a_changed_call_cannot_pass_the_circuit_breaker(steer, script):
    model = script({"tool_calls": [shell("git push origin x")]}, {"text": "Ok."})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("[e]dit")
        terminal.press("e\n")
        terminal.until("  instead: ")
        terminal.press("rm -rf /usr\n")
        terminal.until("blocked")
        terminal.until("Ok.")
        terminal.end()


# Blocks and budgets


def test_a_blocked_command_is_an_incident_and_stops_work_that_nobody_watches(steer, script):
    model = script({"tool_calls": [shell("rm -rf /usr")]}, {"text": "never said"})
    done = steer("run", "x", "--approvals", "never", "--model", model, "--json")
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 3
    (block,) = bodies(messages, "guard_block")
    assert (block["command"], block["breaker"]) == ("rm -rf /usr", True)
    assert bodies(messages, "turn_end")[0]["ending"] == "blocked"
    assert messages[-1]["body"]["status"] == "denied"


def test_where_a_person_watches_a_block_is_told_and_work_goes_on(steer, script):
    model = script({"tool_calls": [shell("rm -rf /usr")]}, {"expect": "Denied", "text": "Sorry."})
    messages = steer.messages("run", "x", "--yes", "--model", model)
    assert len(bodies(messages, "guard_block")) == 1
    assert messages[-1]["body"]["exit"] == 0


@pytest.mark.parametrize(
    "flags",
    [["--max-calls", "1"], ["--max-tokens", "150"], ["--max-seconds", "0.000001"]],
    ids=lambda flags: flags[0],
)
def test_a_spent_budget_ends_the_turn_with_exit_5_and_the_thread_goes_on(
    steer, script, workspace, flags
):
    turn = {"tool_calls": [shell("echo one")], "usage": {"input": 100, "output": 10}}
    model = script(turn, turn, turn, DONE)
    done = steer("run", "x", "--yes", "--model", model, "--json", *flags)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 5
    assert "budget" in bodies(messages, "turn_end")[0]["reason"]
    calls = [m["corr"] for m in messages if m["kind"] == "tool_call"]
    results = [m["corr"] for m in messages if m["kind"] == "tool_result"]
    assert calls == results
    again = steer("resume", messages[0]["thread"], "go on", "--model", script(turn, DONE), "--yes")
    assert again.returncode == 0, again.stderr


def test_the_budget_of_a_thread_counts_all_its_runs(steer, script):
    config = Path(steer.environ["XDG_CONFIG_HOME"]) / "steersman" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[budget.thread]\ncalls = 2\n")
    model = script(*[{"tool_calls": [READ]}, DONE] * 3)
    first = steer.work("run", "--model", model, "one")
    assert first.code == 0
    assert steer.work("resume", first.thread, "two").code == 0
    third = steer.work("resume", first.thread, "three")
    assert third.code == 5
    assert "2 tool calls for this thread" in third.bodies("turn_end")[0]["reason"]
    assert third.bodies("session_end")[0]["status"] == "budget"
    assert steer.work("run", "--model", model, "another thread").code == 0


def test_with_approvals_on_failure_work_goes_on_without_asking(steer, script, workspace):
    model = script({"tool_calls": [FIX]}, {"tool_calls": [shell("cat calc.py")]}, DONE)
    messages = steer.messages("run", "x", "--approvals", "on-failure", "--model", model)
    assert bodies(messages, "confirm_request") == []
    assert (workspace / "calc.py").read_text() == FIXED


WIPE = 'rm -rf "$NOWHERE"/*'


def test_a_safer_form_is_offered(steer, script):
    model = script({"tool_calls": [shell(WIPE)]}, DONE)
    worked = steer.work("run", "go", "--model", model, "--approvals", "on-failure")
    (result,) = worked.bodies("tool_result")
    assert result["status"] == "denied"
    assert "Write `${NAME:?}` for the variable" in json.dumps(result)


def test_a_safer_form_is_used_where_the_person_wants_that(steer, script):
    model = script({"tool_calls": [shell(WIPE)]}, DONE)
    worked = steer.having(STEERSMAN_SAFER="apply").work("run", "go", "--model", model)
    safer = 'rm -rf "${NOWHERE:?}"/*'
    audits = [body for body in worked.bodies("audit") if body["about"] == "guard"]
    assert [(one["what"], one["why"]) for one in audits] == [
        (f"A safer form is used: {safer}", f"Instead of: {WIPE}")
    ]
    assert {body["action"].get("command") for body in worked.bodies("policy")} == {safer}
    (result,) = worked.bodies("tool_result")
    assert result["note"] == f"ran a safer form of the command: {safer}"
    assert "NOWHERE: parameter null or not set" in json.dumps(result)


def test_a_strict_guard_refuses_what_it_would_ask_about_whatever_is_allowed(steer, script):
    model = script({"tool_calls": [shell("git push --force")]}, DONE)
    strict = ("--profile", "ci", "--allow", "Bash", "--yes")
    (result,) = steer.work("run", "go", "--model", model, *strict).bodies("tool_result")
    assert result["status"] == "denied"
    assert "the setting `guard` refuses what the guard would ask about" in json.dumps(result)
