"""The contract of hooks, as data: what settings say, whom a matcher means, what an answer means."""

import pytest

from steersman.identity.settings import load_settings
from steersman.intelligence.context import Context
from steersman.operations.tools.apply_patch import patched
from steersman.records.dialogue import AssistantItem, Call, ResultItem, UserItem
from steersman.records.errors import UsageProblem
from steersman.records.hooks import (
    Answer,
    Hook,
    chosen,
    names_of,
    read,
    response_of,
    seen_as,
    through,
    understood,
    unseen,
)
from steersman.records.message import Assistant, HookRun, ToolCall, ToolResult
from tests.hooks.kit import specific

ROOT = "/home/me/project"
EDIT = {"search": "a", "replace": "b"}


def of(name, **arguments):
    return Call("c1", name, arguments)


def seen(call):
    return seen_as(call, ROOT, patched)


RUN = of("workspace_run_command", command="ls")
ONE = of("workspace_edit_files", files=[{"path": "a.py", "edits": [EDIT]}])
REMOTE = of("mcp_call_tool", server="github", tool="create_issue", arguments={"title": "x"})


@pytest.mark.parametrize(
    ("matcher", "call", "fits"),
    [
        ("", RUN, True),
        ("*", RUN, True),
        ("Bash", RUN, True),
        ("workspace_run_command", RUN, True),
        ("workspace_.*", RUN, True),
        ("Bas", RUN, False),
        ("bash", RUN, False),
        ("Edit|Write", RUN, False),
        ("Edit|Write", ONE, True),
        ("MultiEdit", ONE, True),
        ("Read", of("workspace_read_file", path="a"), True),
        ("Glob", of("workspace_list_files"), True),
        ("Grep", of("workspace_search_files", query="x"), True),
        ("WebFetch", of("web_fetch", url="https://x.example"), True),
        ("mcp__github__.*", REMOTE, True),
        ("mcp__.*__create_issue", REMOTE, True),
        ("mcp__gitlab__.*", REMOTE, False),
        ("mcp__github__search", of("github__search"), True),
        ("^(?:Bash|Write)$", RUN, True),
        ("(Edit|Write)", RUN, False),
        ("[A-Z][a-z]+?", RUN, True),
        (r"B\w?sh+", RUN, True),
        ("x|", of(""), True),
        ("Bash", of("x" * 1000), True),  # too long to be compared: better once too often
    ],
)
def test_matchers_know_their_tool_names_and_ours(matcher, call, fits):
    hook = Hook("PreToolUse", "true", "here", matcher)
    assert bool(chosen([hook], "PreToolUse", names_of(call, seen(call)))) is fits


@pytest.mark.parametrize(
    "hostile", [r"(\w|\w|\w)+!", "(a+)+!", "a?" * 90 + "!", "(a|a)" * 39, ".*" * 99]
)
def test_no_matcher_takes_long(hostile):
    """Each of these keeps Python's own expressions busy for years."""
    assert Hook("Stop", "true", "here", hostile).fits(["a" * 150]) is (hostile == ".*" * 99)


def test_calls_are_seen_with_the_names_that_claude_code_has():
    assert seen(RUN) == [("Bash", {"command": "ls"})]
    assert seen(of("workspace_write_file", path="x/../a", content="c")) == [
        ("Write", {"file_path": f"{ROOT}/a", "content": "c"})
    ]
    theirs = {"old_string": "a", "new_string": "b"}
    assert seen(ONE) == [("Edit", {"file_path": f"{ROOT}/a.py", **theirs})]
    two = [{"path": "a", "edits": [EDIT, EDIT]}, {"path": "b", "edits": [EDIT]}]
    assert seen(of("workspace_edit_files", files=two)) == [
        ("MultiEdit", {"file_path": f"{ROOT}/a", "edits": [theirs, theirs]}),
        ("Edit", {"file_path": f"{ROOT}/b", **theirs}),
    ]
    assert seen(REMOTE) == [("mcp__github__create_issue", {"title": "x"})]


def test_a_call_through_a_link_is_also_seen_with_the_name_of_the_file(tmp_path):
    """As the tool will use it: a hook that refuses either name refuses the call."""
    root = str(tmp_path.resolve())
    (tmp_path / "vendor" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("vendor/deep")

    def paths(call, key="file_path"):
        return [given[key] for _, given in through(call, root, patched)]

    for path in ("link/a.py", "link/../a.py", "./link/./a.py", f"{root}/link/a.py"):
        real = f"{root}/vendor/a.py" if ".." in path else f"{root}/vendor/deep/a.py"
        edit = of("workspace_edit_files", files=[{"path": path, "edits": [EDIT]}])
        assert paths(of("workspace_write_file", path=path, content="c")) == [real]
        assert paths(edit) == [real]
    patch = "*** Begin Patch\n*** Delete File: link/a.py\n*** Delete File: b.py\n*** End Patch\n"
    assert paths(of("workspace_apply_patch", patch=patch)) == [f"{root}/vendor/deep/a.py"]
    search = of("workspace_search_pattern", pattern="x", path="link")
    assert paths(search, "path") == [f"{root}/vendor/deep"]
    checks = of("workspace_get_diagnostics", paths=["link/a.py", "b.py"])
    assert paths(checks, "paths") == [[f"{root}/vendor/deep/a.py", f"{root}/b.py"]]
    for plain in (of("workspace_write_file", path="a/../b.py", content=""), RUN, REMOTE):
        assert through(plain, root, patched) == []


@pytest.mark.parametrize(
    "patch",
    [
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch\n",
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
        "--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+y\n",
        "*** Begin Patch\n *** Delete File: a.py\n\t*** Delete File: b.py\n*** End Patch\n",
        '--- "a/a.py"\n+++ "b/a.py"\n@@ -1 +1 @@\n-x\n+y\n'
        '--- "a/\\142.py"\n+++ "b/\\142.py"\n@@ -1 +1 @@\n-x\n+y\n',
        "diff --git a/a.py b/a.py\ndeleted file mode 100644\n"
        "diff --git a/b.py b/b.py\ndeleted file mode 100644\n",
        "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n",
    ],
)
def test_a_patch_is_seen_as_an_edit_of_each_of_its_files(patch):
    """Read as the parser reads it that applies it, so that no file escapes a hook."""
    found = seen(of("workspace_apply_patch", patch=patch))
    assert [(name, given["file_path"]) for name, given in found] == [
        ("Edit", f"{ROOT}/a.py"),
        ("Edit", f"{ROOT}/b.py"),
    ]


def test_what_came_of_a_call_has_their_names_beside_ours():
    ran = ToolResult("workspace_run_command", "ok", {"exit_code": 1, "output": "no\n"})
    assert response_of(ran, {})["stdout"] == "no\n"
    wrote = ToolResult("workspace_write_file", "ok", {"lines": 1})
    assert response_of(wrote, {"file_path": "/a"}) == {
        "lines": 1,
        "filePath": "/a",
        "success": True,
    }


NO_REASON = "the hook gives no reason"


@pytest.mark.parametrize(
    ("event", "code", "printed", "errors", "answer"),
    [
        ("PreToolUse", 0, "", "", Answer()),
        ("PreToolUse", 0, "formatted 3 files", "", Answer()),
        ("PreToolUse", 2, "ignored", "not here\n", Answer("deny", "not here")),
        ("PreToolUse", 2, "", "", Answer("deny", NO_REASON)),
        ("PreToolUse", 1, "{}", "no jq\nmore", Answer(problem="exit code 1: no jq")),
        ("PreToolUse", 0, {"decision": "block", "reason": "old"}, "", Answer("deny", "old")),
        ("PreToolUse", 0, {"decision": "approve"}, "", Answer("allow")),
        ("PreToolUse", 0, {"continue": False, "stopReason": "late"}, "", Answer("stop", "late")),
        ("PreToolUse", 0, {"systemMessage": "hello"}, "", Answer(message="hello")),
        (
            "PreToolUse", 0,
            specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"), "",
            Answer("ask", "sure?"),
        ),
        (
            "PreToolUse", 0,
            specific("PreToolUse", updatedInput={"command": "ls"}, additionalContext="so"), "",
            Answer(context="so", arguments={"command": "ls"}),
        ),
        ("PreToolUse", 0, specific("Stop"), "", Answer(problem="it answers for Stop")),
        ("PreToolUse", 0, '{"decision": ', "",
         Answer(problem="what it printed begins like JSON and is none")),
        ("PreToolUse", 0, "{" * 100_000, "",
         Answer(problem="what it printed begins like JSON and is none")),
        ("PreToolUse", 0, '\ufeff{"decision": "block", "reason": "r"}', "", Answer("deny", "r")),
        ("PreToolUse", 0, {"decision": "Deny ", "reason": "r"}, "", Answer("deny", "r")),
        ("PreToolUse", 0, {"Decision": "BLOCK", "Reason": "r"}, "", Answer("deny", "r")),
        ("PreToolUse", 0, {"permissionDecision": "deny"}, "", Answer("deny", NO_REASON)),
        ("PreToolUse", 0, {"hookSpecificOutput": {"permission_decision": "Deny"}}, "",
         Answer("deny", NO_REASON)),
        ("PreToolUse", 0, {"hookSpecificOutput": {"permissionDecision": "block"}}, "",
         Answer("deny", NO_REASON)),
        ("PreToolUse", 0, specific("pretooluse", permissionDecision="ask"), "",
         Answer("ask", NO_REASON)),
        ("PreToolUse", 0, {"decision": None}, "", Answer()),
        ("UserPromptSubmit", 0, '\ufeffIt is Monday.', "", Answer(context="It is Monday.")),
        ("PostToolUse", 2, "", "tests fail", Answer("block", "tests fail")),
        ("PostToolUse", 0, {"decision": "block", "reason": "r"}, "", Answer("block", "r")),
        ("PostToolUse", 0, specific("PostToolUse", updatedInput={"a": 1}), "", Answer()),
        ("UserPromptSubmit", 0, "It is Monday.", "", Answer(context="It is Monday.")),
        ("UserPromptSubmit", 2, "", "no", Answer("block", "no")),
        ("SessionStart", 0, "x" * 20_000, "", Answer(context="x" * 10_000)),
        ("SessionStart", 2, "", "no", Answer(problem="no")),
        ("Stop", 0, {"decision": "block"}, "", Answer("block", NO_REASON)),
        ("Stop", 0, "bye", "", Answer()),
        ("PreCompact", 2, "", "not now", Answer("block", "not now")),
        ("Notification", 2, "", "no bell", Answer(problem="no bell")),
        ("Notification", 0, {"decision": "block", "reason": "x"}, "", Answer("", "x")),
    ],
)  # fmt: skip
def test_what_exit_codes_and_answers_mean(event, code, printed, errors, answer):
    import json

    text = printed if isinstance(printed, str) else json.dumps(printed)
    assert understood(event, code, text, errors) == answer


@pytest.mark.parametrize(
    "answer",
    [
        {"continue": "no"},
        {"decision": 7},
        {"decision": "perhaps"},
        {"hookSpecificOutput": []},
        specific("PreToolUse", permissionDecision="always"),
        specific("PreToolUse", updatedInput="rm -rf"),
        specific("PreToolUse", additionalContext={"role": "system"}),
    ],
    ids=str,
)
def test_an_answer_of_another_shape_decides_nothing_and_is_told(answer):
    import json

    made = understood("PreToolUse", 0, json.dumps(answer), "")
    assert made == Answer(problem=made.problem)
    assert made.problem.startswith("its answer is not valid: ")


def entry(**fields):
    return {"Stop": [{"hooks": [{"type": "command", "command": "true", **fields}]}]}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ([], "“hooks” must be a table of events"),
        ({"OnSave": []}, "There is no event “OnSave” for hooks"),
        ({"Stop": {}}, "`hooks` is missing"),
        ({"Stop": 3}, "must be an object"),
        ({"Stop": [{"matcher": "(", "hooks": []}]}, "“(” is not a regular expression"),
        ({"Stop": [{"matcher": "a)", "hooks": []}]}, "“a)” is not a regular expression"),
        ({"Stop": [{"matcher": "a{9}", "hooks": []}]}, "“a{9}” is not a regular expression"),
        ({"Stop": [{"matcher": "(?!a)", "hooks": []}]}, "“(?!a)” is not a regular expression"),
        ({"Stop": [{"matcher": "[z-a]", "hooks": []}]}, "“[z-a]” is not a regular expression"),
        ({"Stop": [{"matcher": "(" * 9, "hooks": []}]}, "is not a regular expression"),
        ({"Stop": [{"matcher": "a" * 201, "hooks": []}]}, "more than 200 characters"),
        (entry(type="prompt"), "hooks of type “prompt” are not supported, only “command”"),
        (entry(command=" "), "a hook has no command"),
        (entry(timeout=0), "must be more than 0"),
        (entry(timeout=10_000), "must be at most 600"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_is_wrong_with_hooks_is_told_in_a_sentence(said, problem):
    hooks, (told,) = read(said, "settings.json")
    assert hooks == []
    assert problem in told
    assert told.endswith(".")


def test_what_is_wrong_with_one_hook_drops_no_other():
    wrong = {"matcher": "(?!x)Bash", "hooks": []}
    hooks, (told,) = read({"Stop": [wrong, *entry()["Stop"]]}, "settings.json")
    assert [hook.event for hook in hooks] == ["Stop"]
    assert told.startswith("A hook for Stop in settings.json is not used: the matcher")

    hooks, told = read({"Stop": entry()["Stop"] * 51}, "settings.json")
    assert len(hooks) == 50
    assert told == ["Of the hooks for Stop in settings.json only 50 are used."]


def test_a_command_that_is_named_twice_is_run_once():
    twice = read({"Stop": [*entry()["Stop"], *entry(timeout=5)["Stop"]]}, "here")[0]
    assert len(twice) == 2
    assert chosen(twice, "Stop", None) == twice[:1]


def test_the_users_own_hooks_are_checked_like_every_setting(environ, tmp_path):
    file = tmp_path / "home/.config/steersman/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        '[[hooks.PreToolUse]]\nmatcher = "Bash"\n'
        '[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "true"\n'
    )
    assert list(load_settings(environ, {}).hooks) == ["PreToolUse"]
    file.write_text('[[hooks.PreToolUse]]\nmatcher = "("\nhooks = []\n')
    with pytest.raises(UsageProblem, match="is not a regular expression"):
        load_settings(environ, {})


def test_what_a_hook_says_never_comes_between_calls_and_their_results():
    from datetime import UTC, datetime

    from steersman.records.message import Message

    def message(seq, body, path="steersman/intelligence", corr=None):
        return Message("t", seq, datetime.now(UTC), 1, body.kind, path, corr, body)

    said = HookRun("UserPromptSubmit", "true", "here", context="It is Monday.")
    context = Context("steersman")
    context.observe([
        message(1, Assistant("Looking.", calls=("c1",))),
        message(2, ToolCall("workspace_status", {}), "steersman/operations/x", "c1"),
        message(3, said, "steersman/operations/hook"),
        message(4, ToolResult("workspace_status", "ok"), "steersman/operations/x", "c1"),
    ])  # fmt: skip
    assert [type(item) for item in context.items] == [AssistantItem, ResultItem, UserItem]
    assert context.seqs == [1, 4, 3]


STRICT = {
    "two-spellings": '{"Decision": "block", "decision": "approve"}',
    "two-spellings-turned": '{"decision": "approve", "DECISION": "block"}',
    "repeated": '{"decision": "block", "decision": "approve"}',
    "both-ways": '{"decision": "block", "permissionDecision": "allow"}',
    "inside": '{"decision": "block", "hookSpecificOutput": {"permissionDecision": "allow"}}',
    "repeated-inside": '{"hookSpecificOutput": {"permissionDecision": "deny"},'
    ' "hookSpecificOutput": {"permissionDecision": "allow"}}',
}


@pytest.mark.parametrize("printed", STRICT.values(), ids=STRICT)
def test_of_one_answer_the_strictest_counts(printed):
    assert understood("PreToolUse", 0, printed, "").decision == "deny"


def test_of_one_answer_stopping_counts_also_when_it_is_said_first():
    assert understood("Stop", 0, '{"continue": false, "continue": true}', "").decision == "stop"


UNHEARD = {
    "text-before": 'checked 3 rules\n{"decision": "block"}',
    "an-array": '[{"decision": "block"}]',
    "an-array-of-words": '["block"]',
    "utf-16": '{"decision": "block"}'.encode("utf-16").decode(errors="replace"),
    "text-after": '{"decision": "block"}\ndone',
}


@pytest.mark.parametrize("printed", UNHEARD.values(), ids=UNHEARD)
def test_an_answer_that_cannot_be_read_is_a_problem_and_no_plain_text(printed):
    assert understood("PreToolUse", 0, printed, "").problem


@pytest.mark.parametrize("printed", ["", "checked 3 rules", "[INFO] all is well", "a } b {"])
def test_plain_text_stays_plain_text(printed):
    assert understood("PreToolUse", 0, printed, "") == Answer()


def test_a_file_with_several_names_is_seen_with_each_of_them(tmp_path, monkeypatch):
    """A hard link is no way around a hook that refuses the other name."""
    root = str(tmp_path.resolve())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "secret.py").write_text("x\n")
    (tmp_path / "other.py").hardlink_to(tmp_path / "deep" / "secret.py")
    write = of("workspace_write_file", path="other.py", content="c")
    seen = [given["file_path"] for _, given in through(write, root, patched)]
    assert seen == [f"{root}/deep/secret.py"]
    assert not unseen(write, root, patched)
    monkeypatch.setattr("steersman.records.hooks.MOST_LOOKED_AT", 0)
    assert unseen(write, root, patched)
