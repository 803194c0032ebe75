"""Threads for tests of what is shown: messages as a host would write them, made by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from steersman.records.action import Execute, Read, Verdict, Write
from steersman.records.change import ABSENT, Change
from steersman.records.change import FileState as Was
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Answer,
    Assistant,
    AssistantDelta,
    Audit,
    Body,
    Checkpoint,
    Compaction,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    GuardBlock,
    Message,
    Policy,
    Question,
    ReasoningDelta,
    SessionStart,
    Steer,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageReport,
    User,
)

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DIFF = "\n".join([
    "--- a/calc.py", "+++ b/calc.py", "@@ -1,4 +1,5 @@", " def add(a, b):", "-    return a - b",
    "+    return a + b", " ", "+", " def sub(a, b):", "",
])  # fmt: skip
PROSE = """\
# Two things

I looked at **calc.py** and `add` is *wrong*: see [the manual](https://example.com/add).

- it subtracts
- it has no test
  1. for numbers
  2. for words

```python
def add(a: int, b: int) -> int:
    \"\"\"Add.\"\"\"
    return a + b  # right
```

| what | before | after |
|---|---|---|
| `add(1, 2)` | -1 | 3 |
"""


class Thread:
    """Messages of one thread, numbered as they are written."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.turn = 0
        self.seq = 0
        self._calls = 0

    def write(
        self, body: Body, path: str = "steersman/intelligence", corr: str | None = None
    ) -> None:
        """Write a message, or broadcast it when its kind is not stored."""
        if body.stored:
            self.seq += 1
        seq = self.seq if body.stored else 0
        time = BEGAN + timedelta(seconds=len(self.messages))
        self.messages.append(Message("t", seq, time, self.turn, body.kind, path, corr, body))

    def begin(self, text: str) -> None:
        """A turn begins with a prompt."""
        self.turn += 1
        self.write(TurnStart(), "steersman/coordination")
        self.write(User(text), "steersman/coordination")

    def end(self, ending: Any = "done", reason: str = "") -> None:
        """The turn ends."""
        self.write(TurnEnd(ending, 3, reason), "steersman/coordination")

    def says(self, text: str, thought: str = "", *, lane: str = "steersman") -> None:
        """The model answers; its words come in pieces before."""
        path = f"{lane}/intelligence"
        for at in range(0, len(thought), 9):
            self.write(ReasoningDelta(thought[at : at + 9]), path)
        for at in range(0, len(text), 7):
            self.write(AssistantDelta(text[at : at + 7]), path)
        self.write(Assistant(text, thought), path)
        self.write(UsageReport("m", 1000, 200, 50, 5, 0.01), path)

    def calls(self, tool: str, lane: str = "steersman", **arguments: Any) -> str:
        """A tool is asked for."""
        self._calls += 1
        corr = f"call_{self._calls}"
        self.write(ToolCall(tool, arguments), f"{lane}/operations/{tool}", corr)
        return corr

    def did(self, tool: str, output: Any, lane: str = "steersman", **arguments: Any) -> None:
        """A tool was asked for, and did it."""
        corr = self.calls(tool, lane, **arguments)
        path = f"{lane}/operations/{tool}"
        self.write(ToolResult(tool, "ok", output, ms=12), path, corr)


def everything() -> list[Message]:
    """A thread in which everything happens that is shown."""
    t = Thread()
    t.write(SessionStart("0.1.0", "/work", "m", "code", "sandboxed", "ask"), "steersman")
    t.begin("Fix add, and tell me what was wrong.")
    t.says("I'll look first.", "The person wants add fixed.\nWhere is it?")
    t.did("workspace_read_file", {"file_size": 32, "total_lines": 2, "lines_read": 2,
          "content": "1\tdef add(a, b):\n2\t    return a - b"}, path="calc.py")  # fmt: skip
    t.did("workspace_search_files", {"results": [
        {"file": "calc.py", "line": 1, "column": 5, "text": "def add(a, b):"},
        {"file": "test_calc.py", "line": 9, "column": 1, "text": "    add(1, 2)"}],
        "total": 2, "files": 2}, query="add")  # fmt: skip
    path, corr = (
        "steersman/operations/workspace_edit_files",
        t.calls("workspace_edit_files", files=[{"path": "calc.py"}]),
    )
    write = Write("/ws/calc.py", "aa", "bb", DIFF)
    t.write(
        Policy(Read("/ws/calc.py"), Verdict("allow", "paths.inside", "may be read")), path, corr
    )
    t.write(
        ConfirmRequest(corr, "workspace_edit_files", (write,), "calc.py would be changed"),
        path,
        "req_1",
    )
    t.write(Steer("waiting", "steer", "also add a test"), "steersman/coordination", "in_1")
    t.write(ConfirmResponse("allow", scope="thread"), path, "req_1")
    t.write(DiffReady("calc.py", DIFF, 2, 1), path, corr)
    t.write(
        ToolResult(
            "workspace_edit_files", "ok", {"files": [{"path": "calc.py", "replacements": 1}]}
        ),
        path,
        corr,
    )
    t.write(Steer("delivered", "steer"), "steersman/coordination", "in_1")
    t.write(User("also add a test", via="steer"), "steersman/coordination", "in_1")
    run, corr = (
        "steersman/operations/workspace_run_command",
        t.calls("workspace_run_command", command="pytest -q\necho $?"),
    )
    t.write(
        Policy(Execute("pytest -q", "/work"), Verdict("allow", "sandbox.contains", "contained")),
        run,
        corr,
    )
    for number in range(12):
        t.write(ToolProgress(f"test {number} passed\n"), run, corr)
    printed = "".join(f"test {number} passed\n" for number in range(12))
    output = {"wall_ms": 2300, "exit_code": 1, "output": printed}
    t.write(ToolResult("workspace_run_command", "ok", output), run, corr)
    corr = t.calls("workspace_run_command", command="rm -rf ~")
    t.write(
        GuardBlock("workspace_run_command", "rm -rf ~", "files.home", "it deletes your home"),
        run,
        corr,
    )
    t.write(
        ToolResult("workspace_run_command", "denied", message="Denied: it deletes your home."),
        run,
        corr,
    )
    agent = "steersman/operations/researcher"
    corr = t.calls("researcher", task="Look for other users of add")
    t.write(AgentSpawn("researcher", agent, "Look for other users of add"), agent, corr)
    t.write(User("Look for other users of add"), f"{agent}/coordination", corr)
    t.says("Looking.", lane=agent)
    t.did("workspace_list_files", {"files": ["a.py\t3", "b/"], "total_files": 2}, agent, path=".")
    t.says("There are none.", lane=agent)
    t.write(AgentDone("researcher", agent, "done", "There are none."), agent, corr)
    t.write(ToolResult("researcher", "ok", "There are none.", ms=4000), agent, corr)
    t.write(Error("The model is busy.", "It answered 529.", retry_in=2.0))
    t.did("workspace_update_todo", {"items": [
        {"text": "fix add", "state": "done"}, {"text": "test it", "state": "doing"},
        {"text": "tell the person", "state": "pending"}], "counts": {}}, items=[])  # fmt: skip
    t.write(Question("This turn has taken 50 steps. Go on?", ("go on", "stop"), "stop"), corr="q_1")
    t.write(Answer("go on"), corr="q_1")
    t.write(Audit("network", "example.com was refused.", "No rule allows it."), "steersman")
    t.write(
        Compaction(40, 3, "what was said", cause="window", tokens_before=90000, tokens_after=9000)
    )
    t.says(PROSE)
    t.end()
    change = Change("calc.py", Was("file", digest="bb"), ABSENT)
    t.write(Checkpoint("undo", (change,), undoes=(9,)), "steersman")
    t.write(Steer("queued", "queue", "and then push"), "steersman/coordination", "in_2")
    return t.messages
