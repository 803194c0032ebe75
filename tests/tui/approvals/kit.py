"""An application with nothing but what asks, and things to ask."""

import hashlib
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widgets import Input

from steersman.operations.matching import unified_diff
from steersman.ports.tui.approvals import Approvals
from steersman.ports.tui.themes import NAMES, NO_COLOURS
from steersman.ports.tui.themes import theme as made
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    McpCall,
    Network,
    Write,
)
from steersman.records.message import (
    Answer,
    ConfirmRequest,
    ConfirmResponse,
    Lasting,
    Question,
    ToolCall,
)
from steersman.views.blocks import Asked, Request, Work

OLD = "".join(f"line {number}\n" for number in range(1, 31))
NEW = OLD.replace("line 4\n", "line four\n").replace("line 25\n", "line 25\nline 25 and a half\n")
SAME = Lasting("same", ("changes of calc.py",), ("thread",))
EDITS = Lasting(
    "edits",
    ("changes of any file in the workspace, but not of protected ones",),
    ("turn", "thread", "here"),
)


class Stand(App[None]):
    """Approvals above a field, as in the application."""

    CSS = (
        "Screen { layout: vertical; } #rest { height: 1fr; } #composer { height: 1; border: none; }"
    )

    def __init__(self, *, theme: str = "dark", **options: Any) -> None:
        super().__init__(ansi_color=True if theme == NO_COLOURS else None)
        for name in NAMES:
            self.register_theme(made(name))
        self.theme = theme
        self._options = {"patience": 0, **options}
        self.answers: list[tuple[str, ConfirmResponse | Answer]] = []
        self.emptied = 0
        self.picture = self.typed = ""

    def compose(self) -> ComposeResult:
        yield Container(id="rest")
        yield Approvals(**self._options)
        yield Input(id="composer", select_on_focus=False)

    def on_mount(self) -> None:
        for field in self.query("Input, TextArea"):
            field.cursor_blink = False

    @property
    def approvals(self) -> Approvals:
        return self.query_one(Approvals)

    @property
    def answer(self) -> ConfirmResponse | Answer:
        """The only answer there was."""
        ((_, answer),) = self.answers
        return answer

    def on_approvals_answered(self, event: Approvals.Answered) -> None:
        self.answers.append((event.corr, event.answer))

    def on_letters_prose(self, event: Approvals.Prose) -> None:
        field = self.query_one("#composer", Input)
        field.focus()
        field.value += event.text
        field.cursor_position = len(field.value)

    def on_approvals_emptied(self) -> None:
        self.emptied += 1
        self.query_one("#composer").focus()


def written(name: str, old: str | None, new: str | None, **more: Any) -> Action:
    """A change of a file by a tool."""
    before, after = (None if text is None else text.encode() for text in (old, new))
    diff = unified_diff(name, before, after)
    sums = ["" if x is None else hashlib.sha256(x).hexdigest() for x in (before, after)]
    if after is None:
        return Delete(f"/w/{name}", sums[0], diff, **more)
    return Write(f"/w/{name}", sums[0], sums[1], diff, **more)


def asked(
    tool: str, *actions: Action, corr: str = "ask_1", lane: str = "steersman", **more: Any
) -> Request:
    """A request that waits."""
    reason = more.pop("reason", "edits are asked about")
    body = ConfirmRequest(f"call_{corr}", tool, actions, reason, **more)
    return Request(corr, 1, 1, lane, corr, body)


def question(
    text: str, *options: str, default: str = "", corr: str = "ask_1", lane: str = "steersman"
) -> Asked:
    """A question that waits."""
    return Asked(corr, 1, 1, lane, corr, Question(text, options, default))


def working(request: Request, **arguments: Any) -> Work:
    """The call that a request is about."""
    call = request.request
    work = Work(call.call, 1, 1, request.lane, ToolCall(call.tool, arguments))
    work.corr = call.call
    return work


def edit_request(**more: Any) -> tuple[Request, Work]:
    """A file with two hunks, by the tool that writes a file."""
    more = {"lasting": (SAME, EDITS)} | more
    request = asked("workspace_write_file", written("calc.py", OLD, NEW), **more)
    return request, working(request, path="calc.py", content=NEW)


def many_files() -> tuple[Request, Work]:
    """Three files: one changed in two places, one new, one deleted."""
    actions = [
        written("src/calc.py", OLD, NEW),
        written("src/new_module.py", None, "def new():\n    return 'new'\n"),
        written("docs/old.md", "# Old\n\nGone.\n", None),
    ]
    request = asked("workspace_apply_patch", *actions, lasting=(EDITS,))
    patch = "".join(action.diff for action in actions if isinstance(action, Write | Delete))
    return request, working(request, patch=patch)


def command_request(**more: Any) -> tuple[Request, Work]:
    """A command with facts."""
    facts = (
        {"words": ["npm", "install", "left-pad"], "network": ["*"], "writes": ["/w/node_modules"]},
        {"words": ["rm", "-rf", "build"], "via": ["sudo"], "deletes": ["/w/build"]},
    )
    command = "npm install left-pad && sudo rm -rf build"
    request = asked(
        "workspace_run_command",
        Execute(command, "/w"),
        **{
            "reason": "it reaches the network",
            "facts": facts,
            "lasting": (Lasting("same", ("`npm install …`", "`rm …`"), ("thread", "here")),),
            **more,
        },
    )
    return request, working(request, command=command)


def network_request(**more: Any) -> Request:
    """A host that a command wants to reach."""
    why = "it only holds for this host"
    action = Network("registry.example", 443)
    more = {"command": "curl -sS https://registry.example/left-pad"} | more
    return asked("workspace_run_command", action, reason="not allowed yet", only_once=why, **more)


def mcp_request() -> tuple[Request, Work]:
    """A call of an MCP server's tool."""
    arguments = {"title": "Fix it", "labels": ["bug", "now"]}
    request = asked(
        "mcp_call_tool",
        McpCall("tracker", "create_issue", arguments),
        reason="it writes",
        lasting=(Lasting("same", ("tracker/create_issue",), ("thread", "here")),),
    )
    return request, working(request, server="tracker", tool="create_issue", arguments=arguments)


def many_request() -> Request:
    """A command's change of very many files."""
    return asked(
        "workspace_run_command",
        ChangeMany(
            "/w", 3, 1200, 40, lost=12, lost_bytes=34_000, discarded=2,
            examples=("src/a.py", "notes.txt"), origin="command",
        ),
        reason="it changes very many files",
        only_once="you are asked each time a command changes this many files",
    )  # fmt: skip
