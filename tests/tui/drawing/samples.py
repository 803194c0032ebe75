"""One call of every kind of tool, as the log has it, in any state."""

from typing import Any

from steersman.records.action import Execute, Write
from steersman.records.change import ABSENT, Change
from steersman.records.change import FileState as Was
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Audit,
    Body,
    Checkpoint,
    Compaction,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    GuardBlock,
    Question,
    ToolCall,
    ToolResult,
    TurnEnd,
)
from steersman.views.blocks import (
    Agent,
    Asked,
    Block,
    Person,
    Receipt,
    Remark,
    Request,
    State,
    Words,
    Work,
)
from tests.views.story.threads import DIFF, PROSE

STATES: tuple[State, ...] = ("running", "waiting", "done", "error", "denied", "cancelled")
LINES = "".join(f"{n}\tdef number_{n}(): return {n}  # {'long ' * n}\n" for n in range(1, 13))
HIT = {"file": "src/steersman/ports/tui/story/talk.py", "line": 41, "column": 5,
       "text": "        one = Words(shelf.fresh(), 0, message.turn, lane)"}  # fmt: skip
SYMBOL = {"name": "Client", "name_path": "Client", "kind": "class", "path": "net/client.py",
          "line": 7, "end_line": 90, "signature": "class Client(Base)", "children": [
              {"name": "send", "name_path": "Client/send", "kind": "method",
               "path": "net/client.py", "line": 21, "end_line": 40}]}  # fmt: skip
OUTPUT = "".join(f"tests/test_{n}.py ........ [{n}%]\n" for n in range(30)) + "30 passed\n"

TOOLS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "read": (
        "workspace_read_file",
        {"path": "numbers.py"},
        {"file_size": 999, "total_lines": 40, "lines_read": 12, "content": LINES.rstrip("\n")},
    ),
    "search": (
        "workspace_search_files",
        {"query": "Words("},
        {"results": [HIT] * 9, "total": 20, "files": 3, "more": "11 more; narrow it"},
    ),
    "count": (
        "workspace_search_pattern",
        {"pattern": "def \\w+"},
        {"counts": [{"file": "a.py", "count": 3}, {"file": "b.py"}], "total": 4, "files": 2},
    ),
    "nothing": (
        "workspace_search_files",
        {"query": "zebra"},
        {"results": [], "total": 0, "files": 0},
    ),
    "list": (
        "workspace_list_files",
        {"path": "src"},
        {
            "files": ["a.py\t120", "b/", *(f"b/{n}.py\t{n}" for n in range(9))],
            "total_files": 11,
            "left_out": ["node_modules/ has 900 files"],
        },
    ),
    "command": (
        "workspace_run_command",
        {"command": "pytest -q"},
        {
            "wall_ms": 61_500,
            "output": OUTPUT,
            "exit_code": 0,
            "changes": ["created x.pyc"],
            "refused": ["pypi.example:443"],
            "note": "the sandbox has no network",
        },
    ),
    "failed": (
        "workspace_run_command",
        {"command": "cd src &&\nmake all"},
        {"wall_ms": 20, "output": "make: *** no rule\n", "exit_code": 2},
    ),
    "background": (
        "workspace_run_command",
        {"command": "npm run dev", "background": True},
        {"wall_ms": 500, "output": "listening on 8080\n", "background_process_id": "p1"},
    ),
    "output": (
        "workspace_read_command_output",
        {"process_id": "p1"},
        {
            "process_id": "p1",
            "state": "running",
            "output": "GET /\n",
            "offset": 0,
            "next_offset": 6,
            "size": 6,
        },
    ),
    "processes": (
        "workspace_list_processes",
        {},
        {
            "processes": [
                {"process_id": "p1", "command": "npm run dev", "state": "running", "seconds": 9.0}
            ]
        },
    ),
    "edit": (
        "workspace_edit_files",
        {"files": [{"path": "calc.py"}]},
        {"files": [{"path": "calc.py", "replacements": 1, "remarks": ["spaces were mended"]}]},
    ),
    "write": (
        "workspace_write_file",
        {"path": "new.py", "content": "x"},
        {"path": "new.py", "bytes": 1200, "created": True},
    ),
    "refactor": (
        "workspace_propose_refactoring",
        {"name_path": "add", "operation": "rename"},
        {
            "backend": "serena",
            "symbol": "add",
            "files": [{"path": "a.py"}, {"path": "b.py"}],
            "left_over": [{"path": "README.md", "line": 3, "column": 1, "text": "add()"}],
        },
    ),
    "check": (
        "workspace_get_diagnostics",
        {"paths": ["src"]},
        {
            "backend": "ty",
            "total": 2,
            "diagnostics": [
                {
                    "path": "a.py",
                    "line": 3,
                    "column": 1,
                    "severity": "error",
                    "message": "Name `x` is not defined",
                    "code": "unresolved",
                },
                {
                    "path": "b.py",
                    "line": 9,
                    "column": 1,
                    "severity": "warning",
                    "message": "unused",
                },
            ],
        },
    ),
    "clean": (
        "workspace_get_diagnostics",
        {"paths": ["a.py"]},
        {"backend": "ty", "total": 0, "diagnostics": []},
    ),
    "symbols": (
        "workspace_find_symbol",
        {"name": "Client"},
        {"backend": "trees", "symbols": [SYMBOL], "total": 1},
    ),
    "outline": (
        "workspace_get_symbols_overview",
        {"path": "net/client.py"},
        {"backend": "trees", "path": "net/client.py", "symbols": [SYMBOL] * 5, "total": 5},
    ),
    "uses": (
        "workspace_find_references",
        {"name": "add"},
        {
            "backend": "lsp",
            "symbol": "add",
            "references": [HIT | {"path": "a.py"}] * 2,
            "total": 2,
            "files": 1,
            "agreement": "differs",
            "text_only": [{"path": "doc.md", "line": 1, "column": 1, "text": "add"}],
        },
    ),
    "context": (
        "workspace_ranked_context",
        {"question": "where are words drawn?"},
        {
            "backend": "index",
            "tokens": 1800,
            "files": ["c.py"],
            "excerpts": [
                {
                    "path": "a.py",
                    "line": 1,
                    "end_line": 20,
                    "text": "…",
                    "score": 0.9,
                    "why": "defines draw_words",
                }
            ],
        },
    ),
    "mcp": (
        "mcp_call_tool",
        {"server": "github", "tool": "list_issues"},
        {"source": "github list_issues", "content": [{"number": 7, "title": "The terminal"}]},
    ),
    "remote": (
        "github__get_issue",
        {"number": 7},
        {"source": "github get_issue", "content": "The terminal\n", "cut": "3 of 9 KB"},
    ),
    "mcp-tools": (
        "mcp_list_tools",
        {"words": "issues"},
        {"tools": {"github__list_issues": "List issues."}, "note": "Call them by name."},
    ),
    "todo": (
        "workspace_update_todo",
        {"items": []},
        {
            "items": [
                {"text": "look", "state": "done"},
                {"text": "change", "state": "doing"},
                {"text": "test", "state": "pending"},
                {"text": "ask", "state": "dropped"},
            ]
        },
    ),
    "skill": ("read_skill", {"name": "release"}, "# How to release\n\n1. Tag it.\n2. Push it.\n"),
    "status": (
        "workspace_status",
        {},
        {"workspace": "/work", "entries": ["a.py"], "branch": "main"},
    ),
    "unknown": ("hologram", {"path": "x"}, {"depth": [1, 2], "colour": None}),
}


def work(name: str, state: State) -> Work:
    """A call in a state."""
    tool, arguments, output = TOOLS[name]
    block = Work(name, 1, 1, "steersman", ToolCall(tool, arguments))
    block.state = state
    match state:
        case "running":
            block.progress = OUTPUT if tool == "workspace_run_command" else ""
        case "done":
            block.result = ToolResult(tool, "ok", output, ms=12)
            if name in ("edit", "refactor"):
                block.diffs = [DiffReady("calc.py", DIFF, 2, 1)] * (1 if name == "edit" else 2)
        case "error":
            message = (
                "That cannot be done.\nThere is no such file.\nLook with workspace_list_files."
            )
            block.result = ToolResult(tool, "error", message=message)
        case "denied":
            block.result = ToolResult(tool, "denied", message="Denied: it leaves the workspace.")
        case "cancelled":
            block.result = ToolResult(tool, "cancelled", message="stopped while it ran")
    return block


def person(text: str, receipt: Receipt = "") -> Person:
    """Words of the person."""
    block = Person("p", 1, 1, "steersman", text)
    block.receipt = receipt
    return block


def words(text: str, state: State = "done", *, thought: bool = False) -> Words:
    """Words of a model."""
    block = Words("w", 1, 1, "steersman", thought=thought, state=state)
    block.pieces = [text]
    return block


def request(answer: ConfirmResponse | None, state: State) -> Request:
    """A permission that is asked for."""
    actions = (
        Write("/ws/calc.py", "a", "b", DIFF),
        Execute("make install &&\nmake clean", "/work", outside=True),
    )
    facts = ({"words": ["make", "install"], "writes": ["/usr"], "unknown_code": True},)
    body = ConfirmRequest("c", "t", actions, "It changes calc.py and leaves the sandbox.", facts)
    block = Request("r", 1, 1, "steersman", "corr", body)
    block.response, block.state = answer, state
    return block


def asked(answer: Answer | None, state: State) -> Asked:
    """A question."""
    body = Question("The same calls gave the same results 5 times in a row. Go on?", ("yes", "no"))
    block = Asked("q", 1, 1, "steersman", "corr", body)
    block.answer, block.state = answer, state
    return block


def agent(state: State, done: AgentDone | None = None) -> Agent:
    """An agent."""
    spawn = AgentSpawn("researcher", "steersman/operations/researcher", "Look for users of add")
    block = Agent("a", 1, 1, "steersman", spawn)
    block.state, block.done, block.calls = state, done, 3
    block.now = "" if done else "search_files add"
    return block


def remark(body: Body, state: State = "done", seconds: float = 0.0) -> Remark:
    """A remark."""
    block = Remark("m", 1, 1, "steersman", body, state)
    block.seconds = seconds
    return block


TALK: dict[str, Block] = {
    "prompt": person("Fix add,\nand tell me what was wrong with it."),
    "prompt, long": person("\n".join(f"line {n}" for n in range(30))),
    "steering, pending": person("also add a test", "pending"),
    "steering, delivered": person("also add a test", "delivered"),
    "steering, queued": person("also add a test", "queued"),
    "steering, withdrawn": person("also add a test", "withdrawn"),
    "words": words(PROSE),
    "words, running": words("Half a **sent", "running"),
    "words, stopped": words("Half a sentence", "cancelled"),
    "thought, running": words(
        "First this.\nThen that.\nThen the other.\nAnd then?", "running", thought=True
    ),
    "thought": words("First this.\nThen that.", thought=True),
    "request, waiting": request(None, "waiting"),
    "request, allowed": request(ConfirmResponse("allow", scope="here"), "done"),
    "request, changed": request(ConfirmResponse("allow", arguments={"command": "make"}), "done"),
    "request, refused": request(ConfirmResponse("deny", "use a virtual environment"), "denied"),
    "request, left": request(None, "cancelled"),
    "question, waiting": asked(None, "waiting"),
    "question, answered": asked(Answer("yes"), "done"),
    "question, by default": asked(Answer("no", by="default"), "done"),
    "agent, running": agent("running"),
    "agent, done": agent("done", AgentDone("researcher", "x", "done", "There are\nnone.")),
    "agent, failed": agent("error", AgentDone("researcher", "x", "failed")),
    "error": remark(Error("The key is wrong.", "It answered 401.", "Set STEERSMAN_KEY."), "error"),
    "error, again": remark(Error("It is busy.", retry_in=2.0), "error"),
    "audit": remark(Audit("network", "example.com was refused.", "No rule allows it.", "Add one.")),
    "blocked": remark(GuardBlock("t", "rm -rf ~", "files.home", "it deletes your home"), "denied"),
    "compaction": remark(
        Compaction(40, 3, "The person\nwants it.", tokens_before=90_000, tokens_after=9_000)
    ),
    "turn, done": remark(TurnEnd("done", 4), seconds=75.0),
    "turn, stopped": remark(TurnEnd("cancelled", 1), "cancelled"),
    "turn, failed": remark(TurnEnd("failed", 0, "The key is wrong."), "error"),
    "undo": remark(Checkpoint("undo", (Change("calc.py", Was("file"), ABSENT),), undoes=(9,))),
    "redo": remark(Checkpoint("redo", (), 12)),
    "changed by nobody": remark(DiffReady("calc.py", DIFF, 2, 1)),
}
