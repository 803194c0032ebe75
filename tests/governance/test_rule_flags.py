"""Rules that a run is started with, in the spelling people know from Claude Code."""

import pytest

from steersman.governance.guard.judge import judge
from steersman.governance.rule import RuleProblem
from steersman.governance.rule_flags import rules_of
from steersman.governance.rules import RuleSet
from steersman.records.action import Execute, Write
from steersman.records.judgement import CommandPlace


def made(*texts):
    """What each rule is about, without what all have."""
    same = ("id", "decision", "reason", "source")
    return [
        {name: value for name in rule.__struct_fields__
         if name not in same and (value := getattr(rule, name))}
        for rule in rules_of(texts, "allow")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Read", [{"tool": "workspace_read_file"}]),
        ("Edit", [{"tool": "workspace_edit_files"}, {"tool": "workspace_apply_patch"}]),
        ("workspace_status", [{"tool": "workspace_status"}]),
        ("Bash(npm test:*)", [{"command": ("npm", "test")}]),
        ("Bash(npm test *)", [{"command": ("npm", "test")}]),
        ("Bash(git status)", [{"command": ("git", "status"), "whole": True}]),
        ("Edit(src/**)", [{"path": "src/**", "on": ("write", "delete")}]),
        ("Edit(/src/**)", [{"path": "src/**", "on": ("write", "delete")}]),
        ("Read(.env)", [{"path": ".env", "on": ("read",)}]),
        ("Read(./.env)", [{"path": ".env", "on": ("read",)}]),
        ("Read(//etc/hosts)", [{"path": "/etc/hosts", "on": ("read",)}]),
        ("WebFetch(domain:*.example.org)", [{"domain": "*.example.org"}]),
        ("workspace_search_*", [{"tool": "workspace_search_*"}]),
        ("Task", []),
        ("mcp__gh", [{"mcp": "gh"}]),
        ("mcp__gh__list(*)", [{"mcp": "gh/list"}]),
        ("mcp__gh__list", [{"mcp": "gh/list"}]),
        (
            "Read,Bash(git log *) Grep(*)",
            [
                {"tool": "workspace_read_file"},
                {"command": ("git", "log")},
                {"tool": "workspace_search_pattern"},
                {"tool": "workspace_search_files"},
            ],
        ),
    ],
)
def test_a_rule_names_tools_commands_paths_hosts_or_servers(text, rules):
    assert made(text) == rules


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Bash()*", "It is a tool's name"),
        ("Bash()", "The command is empty"),
        ("Read()", "nothing in the brackets"),
        ("Bash(npm * test)", "A star is only for the end"),
        ("Bash(A=b make)", "begins with its program"),
        ("Raed", "did you mean Read?"),
        ("bash", "did you mean Bash?"),
        ("bash(ls)", "did you mean Bash?"),
        ("workspace_raed_file", "did you mean workspace_read_file?"),
        ("worksapce_*", "No tool has this name"),
        ("quux", "No tool has this name"),
        ("mcp__gh__list(x)", "nothing in brackets"),
        ("mcp__gh(x)", "nothing in brackets"),
        ("mcp__gh__list()", "nothing in the brackets"),
        ("Grep(x)", "Grep has nothing in brackets"),
        ("WebFetch(domain:ex ample)", "."),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(text, why):
    with pytest.raises(RuleProblem) as problem:
        made(text)
    assert why in problem.value.why


def decided(line, *, allow=(), deny=()):
    """What the rules of a run say of a command line, as the guard reads it."""
    rules = RuleSet([*rules_of(allow, "allow"), *rules_of(deny, "deny")], home="/h")
    read = judge(line, CommandPlace("/w", "/h", "/w"))
    word = rules.verdict(Execute(line, "/w"), "workspace_run_command", read, "/w")
    return word.decision if word else None


REMOVES = [
    "rm x",
    "\\rm x",
    "'r'm x",
    "/bin/rm x",
    "r=rm; $r x",
    "env -i A=b rm x",
    "timeout 5 rm x",
    "sh -c 'rm x'",
    'eval "rm x"',
    "ls | xargs rm",
    "ls | xargs -I{} sh -c 'rm {}'",
    "ls | parallel rm",
    "find . -exec rm {} \\;",
    "find . -execdir rm -f {} +",
    "find . -ok rm {} \\;",
    "find . -okdir /bin/rm {} \\;",
    "find . -exec echo {} \\; -exec rm {} \\;",
    "find . -exec env rm {} \\;",
    "find . -exec rm x \\;",
    "sudo find . -exec rm {} +",
    "fd -x rm",
    "fd -X rm -f {}",
    "true && (rm x)",
    "echo $(rm x)",
    "python -c 'import os; os.system(\"rm x\")'",
]


@pytest.mark.parametrize("line", REMOVES)
def test_a_denied_program_is_denied_wherever_a_line_starts_it(line):
    assert decided(line, deny=["Bash(rm *)"]) == "deny"
    assert decided(line, allow=["Bash"], deny=["Bash(rm:*)"]) == "deny"


@pytest.mark.parametrize(
    "line", ["git rm x", "echo rm x", "grep rm f", "find . -name rm", "rmdir x"]
)
def test_a_word_that_is_no_program_is_not_denied(line):
    assert decided(line, deny=["Bash(rm *)"]) is None


@pytest.mark.parametrize("line", REMOVES[7:])
def test_what_is_allowed_is_a_whole_line_and_not_what_it_starts_or_is_started_by(line):
    program = line.split()[0].removesuffix(";")
    for rule in ("Bash(rm *)", f"Bash({program} *)"):
        assert decided(line, allow=[rule]) is None


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".steersman/config.toml", "src/x"])
def test_a_protected_file_is_not_allowed_by_a_rule_of_a_run_that_names_it(path):
    rules = RuleSet(rules_of([f"Edit({path})", f"Write({path})", "Edit", "Write"], "allow"))
    word = rules.verdict(Write(f"/w/{path}"), "workspace_write_file", None, "/w")
    assert (word is not None) is (path == "src/x")
    said = decided(f"echo x > {path}", allow=["Bash(echo *)", f"Edit({path})"])
    assert (said == "allow") is (path == "src/x")
