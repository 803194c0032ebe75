"""Abstract steps of a script (`do: shell|read|write|edit`) as calls of whatever tools there are.

A client may name its tools and arguments as it likes; the mapping goes by what it advertises.
"""

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from steersman.intelligence.scripted.script import ScriptedCall, ScriptedTurn
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import ScriptProblem

TOOLS = {
    "shell": (
        "workspace_run_command", "exec_command", "run_shell_command", "bash", "shell",
        "local_shell", "shell_command", "run_terminal", "terminal", "execute_command",
    ),
    "read": ("workspace_read_file", "read_file", "read", "view", "open_file"),
    "write": ("workspace_write_file", "write_file", "write", "create_file"),
    "edit": ("workspace_edit_files", "edit", "replace", "edit_file", "str_replace"),
}  # fmt: skip
COMMAND = ("command", "cmd", "script")
PATH = ("path", "file_path", "filePath", "absolute_path", "filename")
CONTENT = ("content", "contents", "file_text", "text")
SEARCH = ("old_string", "oldString", "oldText", "old_str", "search")
REPLACE = ("new_string", "newString", "newText", "new_str", "replace")


def concrete(turn: ScriptedTurn, tools: Sequence[ToolSpec]) -> ScriptedCall:
    """The call of an advertised tool that does what the step says; through the shell if need be."""
    step = turn.do or ""
    tool = _advertised(step, tools)
    if tool is not None:
        return ScriptedCall(tool.name, _arguments(turn, tool))
    shell = _advertised("shell", tools)
    if shell is None:
        names = ", ".join(tool.name for tool in tools) or "none"
        raise ScriptProblem(
            f"No advertised tool can do the step “{step}”.",
            f"The client offers: {names}.",
            "Use exact `tool_calls` for this client.",
        )
    return ScriptedCall(shell.name, _shell_arguments(shell, as_shell(turn)))


def as_shell(turn: ScriptedTurn) -> str:
    """The step as one shell command."""
    match turn.do:
        case "read":
            return f"cat {shlex.quote(turn.path)}"
        case "write":
            return f"printf %s {shlex.quote(turn.content)} > {shlex.quote(turn.path)}"
        case "edit":
            code = (
                "import os, sys; p, a, b = map(os.fsencode, sys.argv[1:]); "
                "s = open(p, 'rb').read(); assert s.count(a) == 1; "
                "open(p, 'wb').write(s.replace(a, b))"
            )
            words = ("python3", "-c", code, turn.path, turn.search, turn.replace)
            return " ".join(map(shlex.quote, words))
        case _:
            return turn.command


def _advertised(step: str, tools: Iterable[ToolSpec]) -> ToolSpec | None:
    by_name = {tool.name.lower(): tool for tool in tools}
    return next((by_name[name] for name in TOOLS[step] if name in by_name), None)


def _arguments(turn: ScriptedTurn, tool: ToolSpec) -> dict[str, Any]:
    match turn.do:
        case "read":
            return {_field(tool, PATH): turn.path}
        case "write":
            return {_field(tool, PATH): turn.path, _field(tool, CONTENT): turn.content}
        case "edit":
            return _edit_arguments(turn, tool)
        case _:
            return _shell_arguments(tool, turn.command)


def _shell_arguments(tool: ToolSpec, command: str) -> dict[str, Any]:
    name = _field(tool, COMMAND)
    schema = _properties(tool.parameters).get(name, {})
    if schema.get("type") == "array":
        return {name: ["bash", "-c", command]} | _required(tool, {name})
    return {name: command} | _required(tool, {name})


def _required(tool: ToolSpec, given: set[str]) -> dict[str, Any]:
    """Words for required text fields a step does not name, such as a description."""
    fields = _properties(tool.parameters)
    missing = [n for n in tool.parameters.get("required", ()) if n not in given]
    return {n: "scripted step" for n in missing if fields.get(n, {}).get("type") == "string"}


def _edit_arguments(turn: ScriptedTurn, tool: ToolSpec) -> dict[str, Any]:
    fields = _properties(tool.parameters)
    if "files" in fields:
        edits = [{"search": turn.search, "replace": turn.replace}]
        return {"files": [{"path": turn.path, "edits": edits}]}
    if "edits" in fields:
        item = _properties(fields["edits"].get("items", {}))
        old = next((n for n in SEARCH if n in item), "oldText")
        new = next((n for n in REPLACE if n in item), "newText")
        return {_field(tool, PATH): turn.path, "edits": [{old: turn.search, new: turn.replace}]}
    given = {
        _field(tool, PATH): turn.path,
        _field(tool, SEARCH): turn.search,
        _field(tool, REPLACE): turn.replace,
    }
    return given | _required(tool, set(given))


def _field(tool: ToolSpec, names: Sequence[str]) -> str:
    fields = _properties(tool.parameters)
    return next((name for name in names if name in fields), names[0])


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    found = schema.get("properties", {})
    return found if isinstance(found, dict) else {}
