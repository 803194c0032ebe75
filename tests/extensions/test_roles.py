"""A Markdown file with front matter is a role: read, checked and listed."""

from pathlib import Path

import pytest

from tests.cli.kit import decoded

REVIEWER = """\
---
name: reviewer
description: Reviews changes. Use it after edits.
tools: Read, Grep, mcp__docs__find
model: inherit
---

You review changes.
"""


def put(folder, text=REVIEWER, name="reviewer.md"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("place", [".steersman/agents", ".claude/agents"])
def test_a_role_of_a_trusted_folder(steer, workspace, place):
    path = put(workspace / place)
    assert "This folder has roles that are not used: it is not trusted." in steer("agents").stdout
    assert steer("policy", "trust", "--yes").returncode == 0
    (role,) = decoded(steer("agents", "--json").stdout)
    assert role == {
        "name": "reviewer",
        "description": "Reviews changes. Use it after edits.",
        "prompt": "You review changes.",
        "source": str(path),
        "tools": ["workspace_read_file", "workspace_search_pattern", "workspace_search_files",
                  "docs__find"],
        "model": "",
    }  # fmt: skip


def test_the_users_own_roles_and_which_of_a_name_counts(steer, environ):
    home = Path(environ["HOME"])
    first = put(Path(environ["XDG_CONFIG_HOME"], "steersman", "agents"))
    second = put(home / ".claude" / "agents")
    out = steer("agents").stdout
    assert "reviewer  Reviews changes. Use it after edits.\n    tools workspace_read_file" in out
    assert f"! {second} is hidden by {first}." in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("You review.\n", "It has no front matter"),
        ("---\nname: a\n---\nText.\n", "It has no `description`"),
        ("---\nname: A b\ndescription: d\n---\nText.\n", "“A b” is no name"),
        ("---\nname: a\ndescription: d\n---\n", "It has no text below its front matter"),
        ("x" * 70_000, "It is longer than 64,000 bytes."),
        (REVIEWER.replace("Grep", "Grab"), "“Grab” cannot be in a list of tools"),
    ],
)
def test_what_is_wrong_is_said(steer, environ, text, told):
    path = put(Path(environ["XDG_CONFIG_HOME"], "steersman", "agents"), text, "reviewer.md")
    out = steer("agents").stdout
    assert f"! {path}: {told}" in out
