"""Many threads, and a very long one."""

from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import STEER, Figure, cost, script, world
from steersman.records.action import Read, Verdict
from steersman.records.message import (
    Assistant,
    Policy,
    SessionEnd,
    SessionStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageReport,
    User,
    encode_body,
)
from steersman.records.thread import Thread
from steersman.store.chain import GENESIS, link_row
from steersman.store.contract import Row, stamp
from steersman.store.sqlite import SqliteStore

THREADS, MESSAGES = 1000, 100_000


def figures() -> list[Figure]:
    """Wall time of listing and resuming."""
    with world() as (folder, environ):
        work = folder / "work"
        _fill(Path(environ["STEERSMAN_HOME"]), str(work))
        model = script(folder, [{"text": "Done."}])
        listing = cost([STEER, "threads", "list"], environ, work, 7)
        go_on = [STEER, "resume", "long", "go on", "--json", "--model", model]
        resume = cost(go_on, environ, work, 7)
        verify = cost([STEER, "ledger", "verify", "long"], environ, work, 1)
    return [
        Figure(f"`threads list` of {THREADS:,} threads, wall", listing.wall, 0.5, "s"),
        Figure(f"`resume` of {MESSAGES:,} messages and a turn, wall", resume.wall, 0.5, "s"),
        Figure(f"`ledger verify` of {MESSAGES:,} messages, wall", verify.wall, 5, "s"),
    ]


def _fill(home: Path, work: str) -> None:
    store = SqliteStore(home)
    time = datetime.now(UTC)
    for number in range(THREADS - 1):
        store.create_thread(Thread(f"t{number:04d}", f"task {number}", work, "run", time, time))
    store.create_thread(Thread("long", "a long one", work, "run", time, time))
    rows, previous = [], GENESIS
    for seq, (kind, path, corr, body) in enumerate(_plausible(work), 1):
        bare = Row(seq, stamp(time), 1, kind, path, corr, body, b"")
        previous = link_row(previous, bare)
        rows.append(Row(*(getattr(bare, n) for n in bare.__struct_fields__[:-1]), previous))
    store.append("long", rows, sync=True)
    store.close()


def _plausible(work: str) -> list[tuple[str, str, str | None, bytes]]:
    """A thread as a real one looks: five messages a step."""
    root = "steersman"
    read = f"{root}/operations/workspace_read_file"
    verdict = Verdict("allow", "paths.inside", "looking inside the workspace")
    bodies = [
        (SessionStart("0.1.0", work, "scripted:x", "code", "sandboxed", "never"), root, None),
        (TurnStart(), f"{root}/coordination", None),
        (User("Do a great deal of work."), f"{root}/coordination", None),
    ]
    content = "\n".join(f"{n}\tdef function_{n}(a, b): return a + b" for n in range(1, 9))
    step = 0
    while len(bodies) < MESSAGES - 2:
        step += 1
        corr = f"call_{step}"
        output = {"file_size": 400, "total_lines": 8, "lines_read": 8, "content": content}
        bodies += [
            (Assistant(f"Step {step}.", calls=(corr,)), f"{root}/intelligence", None),
            (UsageReport("scripted:x", input=step, output=9), f"{root}/intelligence", None),
            (ToolCall("workspace_read_file", {"path": "calc.py"}), read, corr),
            (Policy(Read(f"{work}/calc.py"), verdict), read, corr),
            (ToolResult("workspace_read_file", "ok", output), read, corr),
        ]
    bodies += [
        (TurnEnd("done", step), f"{root}/coordination", None),
        (SessionEnd("done", 0), root, None),
    ]
    return [(b.kind, path, corr, encode_body(b)) for b, path, corr in bodies]
