"""The names Claude Code has for what our tools do: there, and back with what someone changed."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from steersman.operations import tools
from steersman.operations.tool import Tool
from steersman.records.tool_names import MEANT, OURS, chosen, inward, outward

ROOT = "/home/dev/project"
ONE_EDIT = {"files": [{"path": "a.py", "edits": [{"search": "x", "replace": "y"}]}]}
TWO_FILES = {"files": [*ONE_EDIT["files"], {"path": "b.py", "edits": []}]}
TABLE = [
    ("workspace_run_command", {"command": "ls", "wait_timeout": 5, "background": True},
     "Bash", {"command": "ls", "timeout": 5000, "run_in_background": True}),
    ("workspace_read_file", {"path": "a.py", "offset": 3},
     "Read", {"file_path": f"{ROOT}/a.py", "offset": 3}),
    ("workspace_write_file", {"path": "/tmp/x", "content": "c"},
     "Write", {"file_path": "/tmp/x", "content": "c"}),
    ("workspace_edit_files", ONE_EDIT,
     "Edit", {"file_path": f"{ROOT}/a.py", "old_string": "x", "new_string": "y"}),
    ("workspace_edit_files", TWO_FILES, "workspace_edit_files", TWO_FILES),
    ("workspace_search_pattern", {"pattern": "x"}, "Grep", {"pattern": "x"}),
    ("mcp_call_tool", {"server": "gh", "tool": "list", "arguments": {"n": 1}},
     "mcp__gh__list", {"n": 1}),
    ("gh__list", {"n": 1}, "mcp__gh__list", {"n": 1}),
    ("workspace_status", {}, "workspace_status", {}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "name", "shown"), TABLE)
def test_a_call_is_shown_as_theirs_and_comes_back_as_ours(tool, given, name, shown):
    assert outward(tool, given, ROOT) == (name, shown)
    assert inward(tool, given, shown, ROOT) is None
    for key in shown:
        back = inward(tool, given, {**shown, key: shown[key] if key == "timeout" else "new"}, ROOT)
        assert back is None or outward(tool, back, ROOT)[0] == name


def test_what_someone_changed_is_in_our_arguments():
    edit = {"file_path": f"{ROOT}/b.py", "old_string": "x", "new_string": "z"}
    assert inward("workspace_edit_files", ONE_EDIT, edit, ROOT) == {
        "files": [{"path": "b.py", "edits": [{"search": "x", "replace": "z"}]}]
    }
    run = {"command": "ls -l", "timeout": 2000, "description": "list"}
    assert inward("workspace_run_command", {"command": "ls"}, run, ROOT) == {
        "command": "ls -l", "wait_timeout": 2.0,
    }  # fmt: skip
    assert inward("mcp_call_tool", TABLE[6][1], {"n": 2}, ROOT) == {
        "server": "gh", "tool": "list", "arguments": {"n": 2},
    }  # fmt: skip


def test_every_tool_is_among_the_names_that_rules_may_have():
    found = set()
    for module in iter_modules(tools.__path__):
        inside = vars(import_module(f"{tools.__name__}.{module.name}")).values()
        classes = [one for one in inside if isinstance(one, type) and issubclass(one, Tool)]
        found |= {name for one in classes if isinstance(name := vars(one).get("name"), str)}
    assert found == OURS
    assert {one for names in MEANT.values() for one in names} <= {*OURS, "web_fetch", "web_search"}


def test_a_tool_of_a_file_is_named_with_its_kind():
    assert chosen(["Read,tool:count_words"]) == ("workspace_read_file", "count_words")
