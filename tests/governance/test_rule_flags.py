"""Rules that a run is started with, in the spelling people know from Claude Code."""

import pytest

from steersman.governance.rule import RuleProblem
from steersman.governance.rule_flags import rules_of


def made(*texts):
    """What each rule is about, without what all have."""
    same = ("id", "decision", "reason")
    return [
        {name: value for name in rule.__struct_fields__
         if name not in same and (value := getattr(rule, name)) and value != "user"}
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
        ("mcp__gh", [{"mcp": "gh"}]),
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
        ("Grep(x)", "Grep has nothing in brackets"),
        ("WebFetch(domain:ex ample)", "."),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(text, why):
    with pytest.raises(RuleProblem) as problem:
        made(text)
    assert why in problem.value.why
