"""The programs at their defaults with a person beside them: how each is started, how it asks.

Each speaks JSON lines over standard input and output. A player says how to begin, understands one
line at a time, and knows how its program's tools are called where a step needs more than the
abstract ones of a script. `playing.py` does the rest.
"""

import json
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from benchmarks.fatigue.tasks import Step
from benchmarks.fatigue.world import World
from benchmarks.measure import PYTHON
from benchmarks.programs import CLAUDE, CODEX, Setting, Start, claude, codex, steer_environ

ATTENDED, BOARD = (str(Path(__file__).with_name(name)) for name in ("attended.py", "board.py"))
Line = dict[str, Any]


class Ask(Struct, frozen=True):
    """The program asks; `reply` makes the lines that answer it."""

    kind: str
    text: str
    reply: Callable[[bool], Line]


class Send(Struct, frozen=True):
    """The program wants to hear this before it goes on."""

    line: Line


class End(Struct, frozen=True):
    """The turn is over; a problem says that it did not end by itself."""

    problem: str = ""


Heard = Ask | Send | End | None


class Player(Protocol):
    """One run of one program."""

    def start(self, setting: Setting, world: World) -> Start:
        """The command line and what is special in its environment."""
        ...

    def begin(self, world: World) -> list[Line]:
        """What it is told first."""
        ...

    def hear(self, line: Line) -> Heard:
        """What a line of its output means."""
        ...

    def turns(self, step: Step, *, outside: bool) -> list[Line]:
        """A step as turns of the script; `outside` asks to leave the sandbox with it."""
        ...


class Program(Struct, frozen=True):
    """A program that takes part."""

    name: str
    packages: Sequence[str]
    player: Callable[[], Player]
    leaves: bool  # a model can ask to leave its sandbox


def abstract(step: Step) -> Line:
    """A step as a script has it."""
    match step.do:
        case "shell":
            return {"do": "shell", "command": step.command}
        case "read":
            return {"do": "read", "path": step.path}
        case "write":
            return {"do": "write", "path": step.path, "content": step.content}
    return {"do": "edit", "path": step.path, "search": step.search, "replace": step.replace}


def call(name: str, **arguments: Any) -> Line:
    """An exact call."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


class Steer:
    """Steersman as its terminal application runs it, through `attended.py`."""

    def start(self, setting: Setting, world: World) -> Start:
        servers = {
            "board": {"command": PYTHON, "args": [BOARD, str(world.board)], "sandbox": False}
        }
        setting.write("mcp.json", {"mcpServers": servers})
        files = {"STEERSMAN_MCP_CONFIG_FILES": str(setting.home / "mcp.json")}
        return [PYTHON, "-P", ATTENDED], steer_environ(setting) | files

    def begin(self, world: World) -> list[Line]:
        return []

    def hear(self, line: Line) -> Heard:
        if "asked" in line:
            return Ask(line["asked"], line["text"], lambda yes: {"yes": yes})
        ended = line.get("ended")
        return End("" if ended == "done" else f"{ended}: {line.get('reason')}") if ended else None

    def turns(self, step: Step, *, outside: bool) -> list[Line]:
        if step.do == "mcp":
            named = {"server": "board", "tool": step.tool}
            called = call("mcp_call_tool", **named, arguments=step.arguments)
            return [call("mcp_list_tools", server="board"), called]
        if step.background or outside:
            how = {"background": True} if step.background else {}
            how |= {"outside_sandbox": True} if outside else {}
            return [call("workspace_run_command", command=step.command, **how)]
        return [abstract(step)]


class Codex:
    """Codex in a folder that is under version control: asks on request, may write the workspace."""

    def __init__(self) -> None:
        self._work = ""
        self._changes: dict[str, str] = {}

    def start(self, setting: Setting, world: World) -> Start:
        board = f'[mcp_servers.board]\ncommand = "{PYTHON}"\nargs = ["{BOARD}", "{world.board}"]\n'
        line, environ = codex(setting, "on-request", board)
        return [*line, "app-server"], environ

    def begin(self, world: World) -> list[Line]:
        self._work = str(world.work)
        who = {"name": "benchmark", "title": "benchmark", "version": "1"}
        return [{"id": 1, "method": "initialize", "params": {"clientInfo": who}}]

    def hear(self, line: Line) -> Heard:
        params = line.get("params") or {}
        match line:
            case {"error": error, "id": 1 | 2 | 3}:
                return End(str(error))
            case {"id": 1, "result": _}:
                how = {"approvalPolicy": "on-request", "sandbox": "workspace-write"}
                told = {"cwd": self._work} | how
                return Send({"id": 2, "method": "thread/start", "params": told})
            case {"id": 2, "result": result}:
                said = [{"type": "text", "text": "go"}]
                told = {"threadId": result["thread"]["id"], "input": said}
                return Send({"id": 3, "method": "turn/start", "params": told})
            case {"method": "item/started"}:
                item = params.get("item", {})
                self._changes[item.get("id", "")] = json.dumps(item.get("changes", ""))
            case {"method": "turn/completed"}:
                turn = params.get("turn", {})
                return End("" if turn.get("status") == "completed" else str(turn.get("error")))
            case {"method": str(method), "id": number}:
                return self._asked(method, number, params)
        return None

    def _asked(self, method: str, number: Any, params: Line) -> Ask:
        def decide(yes: bool) -> Line:
            return {"id": number, "result": {"decision": "accept" if yes else "decline"}}

        def elicited(yes: bool) -> Line:
            done = {"action": "accept", "content": {}} if yes else {"action": "decline"}
            return {"id": number, "result": done}

        shown = [str(params.get(name) or "") for name in ("reason", "command", "message")]
        if "fileChange" in method:
            return Ask("edit", self._changes.get(params.get("itemId", ""), ""), decide)
        if "elicitation" in method:
            return Ask("mcp", " ".join([*shown, json.dumps(params)]), elicited)
        network = params.get("networkApprovalContext")
        kind = "network" if network else "outside" if "commandExecution" in method else "other"
        return Ask(kind, " ".join([*shown, json.dumps(network or "")]), decide)

    def turns(self, step: Step, *, outside: bool) -> list[Line]:
        if step.do == "mcp":
            return [call(step.tool, **step.arguments)]
        if step.do == "write":  # it has no tool for that, and a shell makes no folders
            folder = shlex.quote(os.path.dirname(step.path))
            written = f"printf %s {shlex.quote(step.content)} > {shlex.quote(step.path)}"
            return [call("exec_command", cmd=f"mkdir -p {folder} && {written}")]
        if outside:
            why = {"sandbox_permissions": "require_escalated", "justification": "May I run this?"}
            return [call("exec_command", cmd=step.command, **why)]
        if step.background:
            return [call("exec_command", cmd=step.command, yield_time_ms=1500)]
        return [abstract(step)]


class Claude:
    """Claude Code in its default mode."""

    def start(self, setting: Setting, world: World) -> Start:
        server = {"command": PYTHON, "args": [BOARD, str(world.board)]}
        setting.write("mcp.json", {"mcpServers": {"board": server}})
        line, environ = claude(setting)
        line += ["-p", "--input-format", "stream-json", "--output-format", "stream-json"]
        line += ["--verbose", "--permission-prompt-tool", "stdio"]
        return [*line, "--mcp-config", str(setting.home / "mcp.json")], environ

    def begin(self, world: World) -> list[Line]:
        said = {"role": "user", "content": "go"}
        prompt = {"type": "user", "message": said, "parent_tool_use_id": None}
        first = {"subtype": "initialize", "hooks": None}
        return [
            {"type": "control_request", "request_id": "first", "request": first},
            prompt | {"session_id": "default"},
        ]

    def hear(self, line: Line) -> Heard:
        match line:
            case {"type": "result"}:
                return End(str(line.get("result")) if line.get("is_error") else "")
            case {"type": "control_request", "request": {"subtype": "can_use_tool"} as request}:
                return self._asked(line["request_id"], request)
        return None

    def _asked(self, number: str, request: Line) -> Ask:
        def reply(yes: bool) -> Line:
            allowed = {"behavior": "allow", "updatedInput": request["input"]}
            said = allowed if yes else {"behavior": "deny", "message": "no", "interrupt": False}
            body = {"subtype": "success", "request_id": number, "response": said}
            return {"type": "control_response", "response": body}

        tool = request["tool_name"]
        kinds = {"Bash": "command", "Edit": "edit", "Write": "edit"}
        kind = "mcp" if tool.startswith("mcp__") else kinds.get(tool, "other")
        return Ask(kind, f"{tool} {json.dumps(request['input'])}", reply)

    def turns(self, step: Step, *, outside: bool) -> list[Line]:
        if step.do == "mcp":
            return [call(f"mcp__board__{step.tool}", **step.arguments)]
        if step.background:
            how = {"description": "start it", "run_in_background": True}
            return [call("Bash", command=step.command, **how)]
        return [abstract(step)]


PROGRAMS = (
    Program("steer", (), Steer, leaves=True),
    Program("codex", CODEX, Codex, leaves=True),
    Program("claude", CLAUDE, Claude, leaves=False),
)
