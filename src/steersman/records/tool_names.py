"""The names and arguments that Claude Code has for what our tools do, both ways.

Scripts, hooks and rules that were written for it name its tools; whoever shows or reads those uses
this table. A tool that it does not have keeps its own name and arguments.
"""

import fnmatch
import os
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from steersman.records.errors import UsageProblem

JSON = Any
MCP_CALL = "mcp_call_tool"
MCP_TOOLS = ("mcp_list_tools", MCP_CALL)  # the ways to all tools of MCP servers
SERVER = "mcp:"  # in a list of tools: those of the server whose name follows, and of no other
MCP = "mcp__"
FILE = "tool:"  # before the name of a tool that a file is (docs/extensions.md)
ASK_USER = "ask_user"

# Its name, ours, and its arguments by ours; the rest is called the same.
_TOOLS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("Bash", "workspace_run_command", {"background": "run_in_background"}),
    ("BashOutput", "workspace_read_command_output", {"process_id": "bash_id"}),
    ("KillShell", "workspace_signal_process", {"process_id": "shell_id"}),
    ("Read", "workspace_read_file", {"path": "file_path"}),
    ("Write", "workspace_write_file", {"path": "file_path"}),
    ("Grep", "workspace_search_pattern", {"output": "output_mode"}),
    ("Glob", "workspace_list_files", {"glob": "pattern"}),
    ("WebFetch", "web_fetch", {}),
    ("WebSearch", "web_search", {}),
    ("AskUserQuestion", ASK_USER, {}),
)
_OURS = {ours: (theirs, renamed) for theirs, ours, renamed in _TOOLS}
_EDIT = "workspace_edit_files"
_EDITS = {"search": "old_string", "replace": "new_string"}
# What a name of theirs means where only the tool counts: in rules.
MEANT: Mapping[str, tuple[str, ...]] = {
    **{theirs: (ours,) for theirs, ours, _ in _TOOLS},
    "Grep": ("workspace_search_pattern", "workspace_search_files"),
    "Edit": (_EDIT, "workspace_apply_patch"),
    "MultiEdit": (_EDIT, "workspace_apply_patch"),
    "LS": ("workspace_list_files",),
    "TodoWrite": ("workspace_update_todo",),
    "Skill": ("read_skill",),
    # There is nothing like these here, so that a rule about them is about nothing.
    **dict.fromkeys(("Task", "NotebookEdit", "ExitPlanMode"), ()),
}
# What the application does for whoever uses it; the agent of a thread is not offered these.
HOST = frozenset({
    "open_file", "read_bytes", "show_diff", "get_vcs_status", "change_setting", "open_terminal",
})  # fmt: skip
# Our tools, but those that MCP servers bring.
OURS = frozenset({
    "workspace_status", "workspace_list_files", "workspace_read_file", "workspace_search_files",
    "workspace_search_pattern", "workspace_edit_files", "workspace_apply_patch",
    "workspace_write_file", "workspace_run_command", "workspace_read_command_output",
    "workspace_list_processes", "workspace_signal_process", "workspace_update_todo",
    "workspace_get_symbols_overview", "workspace_find_symbol", "workspace_find_declaration",
    "workspace_find_references", "workspace_get_diagnostics", "workspace_ranked_context",
    "workspace_propose_refactoring", "read_earlier", "read_skill", *MCP_TOOLS,
    "web_fetch", "web_search", ASK_USER, *HOST,
})  # fmt: skip
# What the application calls some of them, for whoever uses it rather than works in a thread.
ALSO: Mapping[str, str] = {
    "get_workspace_state": "workspace_status",
    "search_workspace": "workspace_search_files",
    "run_terminal": "workspace_run_command",
}


def plainly(tool: str) -> str:
    """A tool's name as people read it: ours in words, another's as it is."""
    return tool.removeprefix("workspace_").replace("_", " ") if tool in OURS else tool


def named(name: str) -> tuple[str, ...]:
    """Our tools that a name means, ours or theirs; a star in ours stands for anything.

    One with `__` is of an MCP server, one after `tool:` of a file, and taken as it is. Raises
    ValueError with a sentence.
    """
    if name.startswith(FILE):
        return (name.removeprefix(FILE),)
    if name in MEANT:
        return MEANT[name]
    if name in ALSO:
        return (ALSO[name],)
    if "__" in name or fnmatch.filter(OURS, name):
        return (name,)
    from difflib import get_close_matches

    every = {known.lower(): known for known in (*OURS, *MEANT)}
    near = get_close_matches(name.lower(), every, 1)
    raise ValueError(f"no tool has this name{f'; did you mean {every[near[0]]}?' if near else ''}")


ALL = "default"


def offers(tools: Container[str], name: str) -> bool:
    """Whether a tool is among those that a model is offered."""
    return ALL in tools or name in tools


def servers_in(tools: Iterable[str]) -> tuple[str, ...]:
    """The MCP servers that a list of tools names; with none, it has nothing to say about them."""
    return tuple(name.removeprefix(SERVER) for name in tools if name.startswith(SERVER))


def chosen(texts: Iterable[str]) -> tuple[str, ...]:
    """The tools of a list, by our names; `default` stands for all, `mcp:NAME` for a server's.

    Several may be in a text, with commas or blanks between.
    """
    found: list[str] = []
    for word in (word for text in texts for word in re.split(r"[,\s]+", text) if word):
        if word.startswith(SERVER):
            found += [*MCP_TOOLS, word]
            continue
        if "__" in word:
            raise UsageProblem(
                f"“{word}” cannot be in a list of tools.",
                "What MCP servers offer is found by mcp_list_tools and called by mcp_call_tool.",
                f"{SERVER}{word.partition('__')[0]} offers the tools of that server.",
            )
        try:
            names = (ALL,) if word == ALL else named(word)
        except ValueError as error:
            raise UsageProblem(f"“{word}” cannot be in a list of tools: {error}.") from error
        found += [one for name in names for one in fnmatch.filter(OURS, name) or [name]]
    return tuple(dict.fromkeys(found))


def outward(tool: str, arguments: Mapping[str, JSON], root: str) -> tuple[str, dict[str, JSON]]:
    """A call as Claude Code would make it: files by their whole paths, below `root`."""
    match tool, arguments:
        case "mcp_call_tool", {"server": str(server), "tool": str(name), **rest}:
            given = rest.get("arguments")
            return f"{MCP}{server}__{name}", dict(given) if isinstance(given, dict) else {}
        case "workspace_edit_files", {
            "files": [{"path": str(path), "edits": [dict(edit)], **more}],
            **rest,
        } if not more and not rest:
            return "Edit", {"file_path": os.path.join(root, path), **_renamed(edit, _EDITS)}
    if tool not in _OURS:  # a selected tool of an MCP server is called `server__tool`
        return f"{MCP}{tool}" if "__" in tool else tool, dict(arguments)
    theirs, names = _OURS[tool]
    made = _renamed(arguments, names)
    if isinstance(made.get("file_path"), str):
        made["file_path"] = os.path.join(root, made["file_path"])
    if tool == ASK_USER and isinstance(made.get("questions"), list):
        made["questions"] = [
            {"multiSelect": False, **_renamed(one, {"multiple": "multiSelect"})}
            for one in made["questions"]
            if isinstance(one, dict)
        ]
    if tool == "workspace_run_command" and isinstance(made.get("wait_timeout"), int | float):
        made["timeout"] = int(made.pop("wait_timeout") * 1000)
    return theirs, made


def inward(
    tool: str, arguments: Mapping[str, JSON], given: Mapping[str, JSON], root: str
) -> dict[str, JSON] | None:
    """Our call's arguments with what someone changed in theirs; None when that is nothing."""
    name, shown = outward(tool, arguments, root)
    if dict(given) == shown:
        return None
    if tool == MCP_CALL:
        return {**arguments, "arguments": dict(given)}
    if name == "Edit":
        edit = {key: value for key, value in given.items() if key != "file_path"}
        path = _below(given.get("file_path"), root)
        return {"files": [{"path": path, "edits": [_renamed(edit, _back(_EDITS))]}]}
    if tool not in _OURS:
        return dict(given)
    made = _renamed(given, _back(_OURS[tool][1]))
    if "file_path" in shown:
        made["path"] = _below(made.get("path"), root)
    if tool == "workspace_run_command":
        if isinstance(most := made.pop("timeout", None), int | float):
            made["wait_timeout"] = most / 1000
        made.pop("description", None)
    return made


def _renamed(values: Mapping[str, JSON], names: Mapping[str, str]) -> dict[str, JSON]:
    return {names.get(name, name): value for name, value in values.items()}


def _back(names: Mapping[str, str]) -> dict[str, str]:
    return {theirs: ours for ours, theirs in names.items()}


def _below(path: JSON, root: str) -> JSON:
    """A path as our tools name it: from the workspace where it lies in it."""
    if not isinstance(path, str) or not os.path.isabs(path):
        return path
    inside = os.path.relpath(path, root)
    return path if inside == ".." or inside.startswith("../") else inside
